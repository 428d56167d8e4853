/** One request and its answer on one connection, bounded in time and size, its body read only as fast as it is wanted. */
import type { Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import { type ErrorCode, TidemarkError } from "../errors.ts";
import type { Timeouts } from "./call.ts";
import { asFailure, wasClosed } from "./failure.ts";
import type { Line } from "./lines.ts";
import { timeLimit } from "./time-limit.ts";

/** More than this is not taken off the connection before somebody wants it. */
const WAITING_BYTES_MAX = 64 * 1024;
/** Early hints and the like before the answer itself. */
const HINTS_MAX = 20;

export interface ExchangeParts {
  /** As sentences name it. */
  host: string;
  line: Line;
  clock: Clock;
  timeouts: Timeouts;
  wire_bytes_max: number;
}

export class Exchange implements Dispatcher.DispatchHandler {
  status = 0;
  headers: Record<string, string> = {};
  wire_bytes = 0;
  remote_address: string | null = null;
  /** Fulfilled when the head is there. */
  readonly head: Promise<void>;
  /** Fulfilled when the connection is no longer needed, whichever way. */
  readonly over: Promise<void>;
  readonly #parts: ExchangeParts;
  readonly #waiting: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #reused = false;
  #read_before = 0;
  #hints = 0;
  #ended = false;
  #thrown: unknown = null;
  #error: TidemarkError | null = null;
  #lift: () => void = () => undefined;
  #stir: () => void = () => undefined;
  #begun!: { resolve(): void; reject(error: TidemarkError): void };
  #close!: () => void;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.head = new Promise((resolve, reject) => {
      this.#begun = { resolve, reject };
    });
    this.head.catch(() => undefined);
    this.over = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  /** All of the answer has arrived. */
  get complete(): boolean {
    return this.#ended;
  }

  /** Nothing of an answer came, because a connection that had been kept was closed under us: it was not refused, only unlucky. */
  get unlucky(): boolean {
    return this.#reused && wasClosed(this.#thrown) && this.#parts.line.socket?.bytesRead === this.#read_before;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#error) {
      controller.abort(this.#error);
      return;
    }
    const { line } = this.#parts;
    this.#reused = line.calls > 0;
    line.calls += 1;
    this.#read_before = line.socket?.bytesRead ?? 0;
    this.remote_address = line.socket?.remoteAddress ?? null;
    const { headers_ms } = this.#parts.timeouts;
    this.#limit(headers_ms, `did not begin to answer within ${headers_ms} ms`);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) {
      this.#hints += 1;
      if (this.#hints > HINTS_MAX)
        this.#refuse("UpstreamChanged", `sent more than ${HINTS_MAX} hints before an answer`);
      return;
    }
    this.#lift();
    this.status = status;
    this.headers = plainHeaders(headers);
    this.#begun.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    const { wire_bytes_max } = this.#parts;
    this.wire_bytes += part.length;
    if (this.wire_bytes > wire_bytes_max) {
      this.#refuse("UpstreamChanged", `sent more than ${wire_bytes_max} bytes`);
      return;
    }
    this.#waiting.push(part);
    if (this.#waiting.reduce((sum, { length }) => sum + length, 0) >= WAITING_BYTES_MAX) controller.pause();
    this.#stir();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#thrown ??= error;
    this.fail(asFailure(error, this.#parts.host, this.status > 0));
  }

  /** Ends it from outside, or because a limit was passed; what is waiting to be read is not read any more. */
  fail(error: TidemarkError): void {
    if (this.#ended || this.#error) return;
    this.#error = error;
    this.#waiting.length = 0;
    this.#begun.reject(error);
    this.#finish();
    this.#controller?.abort(error);
  }

  /** Nobody wants the rest: the connection is closed, unless all had arrived. */
  cancel(): void {
    if (!this.#ended && !this.#error)
      this.fail(new TidemarkError("UpstreamDown", `The rest of the answer of ${this.#parts.host} was not wanted.`));
    this.#waiting.length = 0;
  }

  /** The body as it arrives. Whoever leaves early has cancelled it. */
  async *body(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        if (this.#error) throw this.#error;
        const part = this.#waiting.shift();
        if (part) yield part;
        else if (this.#ended) return;
        else await this.#more();
      }
    } finally {
      this.cancel();
    }
  }

  /** Only waiting for them counts against them: a reader may be as slow as it likes, within the whole time. */
  async #more(): Promise<void> {
    const { body_ms } = this.#parts.timeouts;
    const stirred = new Promise<void>((resolve) => {
      this.#stir = resolve;
    });
    this.#limit(body_ms, `sent nothing for ${body_ms} ms in the middle of its answer`);
    this.#controller?.resume();
    await stirred;
    this.#lift();
  }

  #limit(ms: number, what: string): void {
    this.#lift();
    this.#lift = timeLimit(this.#parts.clock, ms, () => this.#refuse("UpstreamDown", what));
  }

  #refuse(code: ErrorCode, what: string): void {
    this.fail(new TidemarkError(code, `${this.#parts.host} ${what}.`));
  }

  #finish(): void {
    this.#lift();
    this.#close();
    this.#stir();
  }
}

/** As own properties whatever their names are, "__proto__" too. */
function plainHeaders(given: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(", ") : String(value),
    ]),
  );
}
