/** The connections to each host: one call at a time on each, kept for a while for the next, and never more than allowed. */
import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { type buildConnector, Client } from "undici";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import { type Connecting, isAmong } from "./connector.ts";
import { hostOf } from "./target.ts";

/** The head of an answer may be as long as this. */
const HEAD_BYTES_MAX = 64 * 1024;
/** A connection without a call is kept this long; at most this long when its server says how long it would keep it. */
const IDLE_MS = 4_000;
const IDLE_MS_MAX = 60_000;

/** Told of each connection that is being made, and when it stands or failed, for those who watch. */
const OPENING = "tidemark:connection:opening";
const OPENED = "tidemark:connection:opened";

type Connector = (wanted: Connecting) => buildConnector.connector;
type Checked = Omit<Connecting, "signal">;

/** One connection, or the wish for one. */
export class Line {
  readonly origin: string;
  readonly host: string;
  readonly client: Client;
  socket: Socket | null = null;
  /** Calls that it has carried, so that a call knows whether it is the first. */
  calls = 0;
  busy = true;
  /** What was checked for the call that has it. */
  checked: Checked;
  readonly #url: URL;
  readonly #connector: Connector;
  readonly #stop = new AbortController();
  /** Opened, and not yet undici's. */
  #fresh: Socket | null = null;

  constructor(url: URL, checked: Checked, connector: Connector) {
    this.origin = url.origin;
    this.host = url.hostname;
    this.checked = checked;
    this.#url = url;
    this.#connector = connector;
    this.client = new Client(url.origin, {
      connect: (where, callback) => {
        const fresh = this.#fresh;
        this.#fresh = null;
        // Not at once: undici ignores what it is told while it asks.
        if (fresh && !fresh.destroyed) queueMicrotask(() => callback(null, fresh));
        else this.#connect(where, callback);
      },
      pipelining: 1,
      allowH2: false,
      // Times are kept by our own clock; undici's goes in steps of half a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      maxHeaderSize: HEAD_BYTES_MAX,
    });
  }

  get alive(): boolean {
    return this.socket !== null && !this.socket.destroyed;
  }

  #connect(where: buildConnector.Options, callback: buildConnector.Callback): void {
    this.#connector({ ...this.checked, signal: this.#stop.signal })(where, (...result) => {
      this.socket = result[1];
      this.calls = 0;
      callback(...result);
    });
  }

  /** Resolves when it stands, at once where it does already: undici alone would connect only when there is something to send. */
  async open(signal: AbortSignal): Promise<void> {
    if (this.alive) return;
    const { host, protocol, port } = this.#url;
    diagnostics.channel(OPENING).publish({ line: this });
    try {
      await new Promise<void>((resolve, reject) => {
        const hurry = () => reject(asTidemarkError(signal.reason));
        signal.addEventListener("abort", hurry, { once: true });
        this.#connect({ host, hostname: hostOf(this.#url), protocol, port }, (error, socket) => {
          signal.removeEventListener("abort", hurry);
          this.#fresh = socket;
          if (error) reject(error);
          else resolve();
        });
        if (signal.aborted) hurry();
      });
    } finally {
      diagnostics.channel(OPENED).publish({ line: this });
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#fresh?.destroy();
    await this.client.destroy();
  }
}

/**
 * Not undici's pool: that forgets who waits in it when the connection that they wait for fails, connects once more for a call that
 * was cancelled, and does not say which connection a call got, or whether it was a new one.
 */
export class Lines {
  readonly #connector: Connector;
  readonly #most: number;
  readonly #hosts = new Map<string, Set<Line>>();
  #closed = false;

  constructor(connector: Connector, most: number) {
    this.#connector = connector;
    this.#most = most;
  }

  /** A kept connection to one of the addresses that were checked, or a new one. Who calls has a slot of the host already. */
  take(url: URL, checked: Checked, fresh: boolean): Line {
    if (this.#closed)
      throw new TidemarkError("UpstreamDown", `The call to ${url.host} was not made, because no more calls are made.`);
    const lines = this.#hosts.get(url.hostname) ?? new Set();
    const idle = [...lines].filter((line) => !line.busy);
    const kept = idle.findLast((line) => line.origin === url.origin && line.alive && isChecked(line, checked));
    if (kept && !fresh) {
      kept.busy = true;
      kept.checked = checked;
      return kept;
    }
    if (lines.size >= this.#most && idle[0]) this.drop(idle[0]);
    const line = new Line(url, checked, this.#connector);
    line.client.on("disconnect", () => {
      if (!line.busy) this.drop(line);
    });
    this.#hosts.set(url.hostname, lines.add(line));
    return line;
  }

  /** Connections there are, with and without a call. */
  get size(): number {
    return [...this.#hosts.values()].reduce((sum, lines) => sum + lines.size, 0);
  }

  /** Its call is over and its answer complete: the next may have it. */
  giveBack(line: Line): void {
    line.busy = false;
    if (!line.alive) this.drop(line);
  }

  drop(line: Line): void {
    const lines = this.#hosts.get(line.host);
    lines?.delete(line);
    if (lines?.size === 0) this.#hosts.delete(line.host);
    void line.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#hosts.values()].flatMap((lines) => [...lines].map((line) => line.close())));
    this.#hosts.clear();
  }
}

/** Whom the proxy reached for an earlier call cannot be seen from here; that it may be called was checked for this one. */
function isChecked(line: Line, { addresses, through_proxy }: Checked): boolean {
  if (through_proxy || line.checked.through_proxy) return through_proxy === line.checked.through_proxy;
  return isAmong(line.socket?.remoteAddress ?? "", addresses);
}
