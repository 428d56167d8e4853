/** Makes connections, to addresses that were checked and to no others; names are not looked up a second time here. */
import { connect as connectTcp, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import { plainAddress } from "./address.ts";
import type { Address } from "./guard.ts";
import { timeLimit } from "./time-limit.ts";

export interface Checked {
  addresses: readonly Address[];
  /** How long a connection to them may take. */
  connect_ms: number;
}

/** What was checked for each host that is being called; forgotten with the last call. */
export class CheckedHosts {
  readonly #hosts = new Map<string, { checked: Checked; calls: number }>();

  /** Keeps it until the function that it returns is called. The newest check stands for all calls to a host. */
  hold(host: string, checked: Checked): () => void {
    const held = this.#hosts.get(host) ?? { checked, calls: 0 };
    held.checked = checked;
    held.calls += 1;
    this.#hosts.set(host, held);
    return () => {
      held.calls -= 1;
      if (held.calls === 0) this.#hosts.delete(host);
    };
  }

  of(host: string): Checked | null {
    return this.#hosts.get(host)?.checked ?? null;
  }

  get size(): number {
    return this.#hosts.size;
  }
}

export interface ConnectorParts {
  clock: Clock;
  hosts: CheckedHosts;
  /** Throws when an address must not be spoken to. */
  checkAddress(address: string, host: string): void;
  /** Certificates to trust besides the usual ones. */
  ca?: string;
}

/**
 * TCP first; whom it reached is compared with what was checked before a byte is sent, TLS included. Trusting `lookup` alone
 * would be enough today; this holds even if a later Node or a proxying network finds another way to pick the address.
 */
export function makeConnector(parts: ConnectorParts): buildConnector.connector {
  const secure = buildConnector({ timeout: 0, allowH2: false, ...(parts.ca === undefined ? {} : { ca: parts.ca }) });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const checked = parts.hosts.of(host);
    // Whoever wanted it has given up meanwhile.
    if (!checked) return callback(new TidemarkError("UpstreamDown", `${host} is no longer called.`), null);
    const { addresses, connect_ms } = checked;
    const socket = connectTcp({
      host,
      port: Number(options.port || (options.protocol === "https:" ? 443 : 80)),
      lookup: lookupAmong(addresses),
      autoSelectFamily: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    const lift = timeLimit(parts.clock, connect_ms, () =>
      end(new TidemarkError("UpstreamDown", `${host} did not accept a connection within ${connect_ms} ms.`), null),
    );
    let over = false;
    const end: buildConnector.Callback = (...result) => {
      if (over) return;
      over = true;
      lift();
      if (result[0]) socket.destroy();
      callback(...result);
    };
    socket.on("error", (error) => end(error, null));
    socket.once("connect", () => {
      try {
        checkReached(parts, socket, host, addresses);
      } catch (error) {
        return end(error as Error, null);
      }
      if (options.protocol !== "https:") return end(null, socket);
      secure({ ...options, httpSocket: socket }, end);
    });
  };
}

function checkReached(parts: ConnectorParts, socket: Socket, host: string, addresses: readonly Address[]): void {
  const reached = plainAddress(socket.remoteAddress ?? "");
  if (reached === null) throw new TidemarkError("UpstreamDown", `${host} closed the connection at once.`);
  parts.checkAddress(reached, host);
  if (!addresses.some(({ address }) => plainAddress(address) === reached))
    throw new TidemarkError("OutboundForbidden", `${host} was reached at ${reached}, which had not been checked.`);
}

/** In the place of a resolver: answers with what was checked. */
function lookupAmong(addresses: readonly Address[]): LookupFunction {
  return (name, options, answer) => {
    const wanted = options.family === 4 || options.family === 6 ? options.family : null;
    const fitting = addresses.filter(({ family }) => wanted === null || family === wanted);
    if (fitting.length === 0) {
      const error = Object.assign(new Error(`no checked address for ${name}`), { code: "ENOTFOUND" });
      return answer(error, "", 4);
    }
    if (options.all) return answer(null, [...fitting]);
    answer(null, fitting[0]!.address, fitting[0]!.family);
  };
}
