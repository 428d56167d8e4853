/** The connections that are kept for each origin, with what a call wants to know of the one that it got. */
import type { Socket } from "node:net";
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from "undici";

/** The head of an answer may be as long as this. */
export const HEAD_BYTES_MAX = 64 * 1024;
/** A connection without a call is kept this long, also when its server would keep it longer. */
const IDLE_MS = 4_000;
const IDLE_MS_MAX = 60_000;

/** One connection as the call on it sees it. */
export interface Line {
  socket: Socket | null;
  /** Calls that it has carried, so that a call knows whether it is the first. */
  calls: number;
  /** Whether the call that came last still wants it. */
  isWanted(): boolean;
}

export interface LinedRequest extends Dispatcher.DispatchOptions {
  /** Told which connection the request goes to, before it is sent. */
  onLine(line: Line): void;
}

/** undici's client for one connection; it remembers the socket, which undici does not hand out. */
class LineClient extends Client {
  readonly #line: Line;

  constructor(origin: URL, options: Client.Options) {
    const line: Line = { socket: null, calls: 0, isWanted: () => true };
    const connect = options.connect as buildConnector.connector;
    super(origin, {
      ...options,
      connect: (where, callback) => {
        // After a call was cancelled undici connects again on its behalf, and only then sees that nobody is there.
        if (!line.isWanted()) return callback(new Error("the call was cancelled"), null);
        connect(where, (...result) => {
          line.socket = result[1];
          line.calls = 0;
          callback(...result);
        });
      },
    });
    this.#line = line;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (options as LinedRequest).onLine(this.#line);
    return super.dispatch(options, handler);
  }
}

/**
 * Times are not undici's business: it counts by a clock of its own, in steps of half a second. Neither is how many connections
 * there are: its pool forgets who waits in it when the connection that they wait for fails. Whoever calls has a slot already.
 */
export function openLines(connect: buildConnector.connector): Agent {
  return new Agent({
    connect,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS_MAX,
    maxHeaderSize: HEAD_BYTES_MAX,
    factory: (origin, options) =>
      new Pool(origin, { ...options, factory: (to, inner) => new LineClient(to, inner as Client.Options) }),
  });
}
