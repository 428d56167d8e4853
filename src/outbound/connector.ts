/** Makes connections, to addresses that were checked and to no others; names are not looked up a second time here. */
import { connect as connectTcp, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import { plainAddress } from "./address.ts";
import { codeOf } from "./failure.ts";
import type { Address } from "./guard.ts";
import { type NamedProxy, secured, tunnelled } from "./proxy.ts";
import { timeLimit } from "./time-limit.ts";

export interface ConnectorParts {
  clock: Clock;
  /** Throws when an address must not be spoken to. */
  checkAddress(address: string, host: string): void;
  /** A certificate to trust in the place of the usual ones. */
  ca?: string;
  proxy?: NamedProxy;
}

export interface Connecting {
  /** All of them checked, for the call that wants the connection. */
  addresses: readonly Address[];
  through_proxy: boolean;
  connect_ms: number;
  /** Nobody wants it any more. */
  signal: AbortSignal;
}

/**
 * A function from what was checked to what undici calls when it wants a connection. TCP first; whom it reached is compared with what
 * was checked before a byte is sent, TLS included. Handing `lookup` the addresses would be enough today; this holds even if a later
 * Node, or a network that redirects, finds another way to pick one.
 */
export function makeConnector(parts: ConnectorParts): (wanted: Connecting) => buildConnector.connector {
  const secure = buildConnector({ timeout: 0, allowH2: false, ...(parts.ca === undefined ? {} : { ca: parts.ca }) });
  return (wanted) => (options, callback) => {
    const { addresses, connect_ms, signal } = wanted;
    const proxy = wanted.through_proxy ? parts.proxy : undefined;
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const port = Number(options.port || (options.protocol === "https:" ? 443 : 80));
    const socket = connectTcp({
      ...(proxy ? { host: proxy.host, port: proxy.port } : { host, port, lookup: lookupAmong(addresses) }),
      autoSelectFamily: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    const called = proxy ? `The proxy on the way to ${host}` : host;
    const giveUp = (what: string) => () => end(new TidemarkError("UpstreamDown", `${called} ${what}.`), null);
    const unwanted = giveUp("is no longer called");
    const lift = timeLimit(parts.clock, connect_ms, giveUp(`did not accept a connection within ${connect_ms} ms`));
    let over = false;
    const end: buildConnector.Callback = (...result) => {
      if (over) return;
      over = true;
      lift();
      signal.removeEventListener("abort", unwanted);
      if (result[0]) socket.destroy();
      callback(...result);
    };
    signal.addEventListener("abort", unwanted, { once: true });
    socket.on("error", (error) => end(proxy ? proxyDown(host, error) : error, null));
    socket.once("connect", async () => {
      try {
        const reached = proxy ? await throughProxy(socket, proxy, host, port) : socket;
        if (!proxy) checkReached(parts, socket, host, addresses);
        if (options.protocol !== "https:") return end(null, reached);
        secure({ ...options, httpSocket: reached }, end);
      } catch (error) {
        end(error as Error, null);
      }
    });
  };

  async function throughProxy(socket: Socket, proxy: NamedProxy, host: string, port: number): Promise<Socket> {
    const way = await secured(socket, proxy, parts.ca);
    await tunnelled(way, proxy, host, port);
    return way;
  }
}

function proxyDown(host: string, cause: Error): TidemarkError {
  return new TidemarkError("UpstreamDown", `The proxy on the way to ${host} could not be reached (${codeOf(cause)}).`, {
    cause,
  });
}

function checkReached(parts: ConnectorParts, socket: Socket, host: string, addresses: readonly Address[]): void {
  const reached = plainAddress(socket.remoteAddress ?? "");
  if (reached === null) throw new TidemarkError("UpstreamDown", `${host} closed the connection at once.`);
  parts.checkAddress(reached, host);
  if (!isAmong(reached, addresses))
    throw new TidemarkError("OutboundForbidden", `${host} was reached at ${reached}, which had not been checked.`);
}

export function isAmong(address: string, addresses: readonly Address[]): boolean {
  const plain = plainAddress(address);
  return plain !== null && addresses.some((one) => plainAddress(one.address) === plain);
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
