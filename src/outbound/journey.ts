/** One call from its beginning to its last byte, over all its redirects: its time, its end and its record. */
import type { Clock } from "../clock.ts";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import { type Call, type CallRecord, TIMEOUTS, type Timeouts } from "./call.ts";
import type { Exchange } from "./exchange.ts";
import { asFailure } from "./failure.ts";

export class Journey {
  readonly timeouts: Timeouts;
  readonly call: Call;
  redirects = 0;
  /** Requests that were written. */
  sent = 0;
  repeated = false;
  readonly #clock: Clock;
  readonly #begun_ms: number;
  readonly #stop = new AbortController();
  readonly #over = new AbortController();
  #host: string;
  #exchange: Exchange | null = null;
  #bytes = 0;
  #ended_ms: number | null = null;

  constructor(host: string, call: Call, clock: Clock) {
    this.#host = host;
    this.call = call;
    this.#clock = clock;
    this.#begun_ms = clock.elapsed_ms();
    this.timeouts = { ...TIMEOUTS, ...call.timeouts };
    const { whole_ms } = this.timeouts;
    void clock.sleep(whole_ms, this.#over.signal).then(() => {
      if (this.#ended_ms === null)
        this.#stop.abort(
          new TidemarkError("UpstreamDown", `${this.#host} did not complete its answer within ${whole_ms} ms.`),
        );
    });
    if (call.signal?.aborted) this.#hurry();
    else call.signal?.addEventListener("abort", this.#hurry, { once: true });
  }

  /** Aborted when the whole time is over or the caller wants no more. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get record(): CallRecord {
    const exchange = this.#exchange;
    return {
      host: this.#host,
      status: exchange?.status ?? 0,
      wire_bytes: exchange?.wire_bytes ?? 0,
      bytes: this.#bytes,
      ms: (this.#ended_ms ?? this.#clock.elapsed_ms()) - this.#begun_ms,
      redirects: this.redirects,
      remote_address: exchange?.remote_address ?? null,
      repeated: this.repeated,
    };
  }

  /** Another host is spoken to from now on. */
  goTo(host: string): void {
    this.#host = host;
    this.#exchange = null;
  }

  through(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** Counts what the reader gets. */
  received(bytes: number): number {
    this.#bytes += bytes;
    return this.#bytes;
  }

  end(): void {
    if (this.#ended_ms !== null) return;
    this.#ended_ms = this.#clock.elapsed_ms();
    this.#over.abort("over");
    this.call.signal?.removeEventListener("abort", this.#hurry);
  }

  /** The error that the caller gets: its own reason where it ended the call, else what went wrong, with the record beside it. */
  failure(thrown: unknown): TidemarkError {
    if (this.call.signal?.aborted) return asTidemarkError(this.call.signal.reason);
    const error = asFailure(thrown, this.#host);
    const details = { ...this.record, ...error.details };
    const { code, message, cause, charged, wait_ms } = error;
    return new TidemarkError(code, message, { cause, details, charged, ...(wait_ms === undefined ? {} : { wait_ms }) });
  }

  readonly #hurry = (): void => this.#stop.abort(asTidemarkError(this.call.signal?.reason));
}
