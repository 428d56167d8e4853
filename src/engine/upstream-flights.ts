/** Calls of this process that are out under a bound on calls at once: renewed while they last, ended when that fails. */
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Db } from "../store/db.ts";
import { endFlights, renewFlights } from "./budget.ts";
import { FLIGHT_MS } from "./grant-line.ts";
import type { Permit } from "./grant-permit.ts";

interface Out {
  flights: bigint[];
  until_ms: number;
  abort: AbortController;
}

export class Flights {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #out = new Set<Out>();
  readonly #stop = new AbortController();
  #renewing = false;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Runs a call; its signal aborts when its place may be another's by now. */
  async during<T>(
    { flights, asked_ms }: Permit,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (flights.length === 0) return call(signal);
    const abort = new AbortController();
    const out = { flights, until_ms: asked_ms + FLIGHT_MS, abort };
    this.#out.add(out);
    void this.#renew();
    try {
      return await call(AbortSignal.any([signal, abort.signal]));
    } finally {
      this.#out.delete(out);
      // What cannot be said now ends by itself.
      await endFlights(this.#db, flights).catch(() => undefined);
    }
  }

  async #renew(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    while (this.#out.size > 0 && !this.#stop.signal.aborted) {
      await this.#clock.sleep(FLIGHT_MS / 4, this.#stop.signal);
      const all = [...this.#out];
      const before_ms = this.#clock.elapsed_ms();
      const ids = all.flatMap((out) => out.flights);
      const alive = ids.length === 0 ? null : await renewFlights(this.#db, ids, FLIGHT_MS).catch(() => null);
      for (const out of all) {
        if (alive && out.flights.every((id) => alive.has(id))) out.until_ms = before_ms + FLIGHT_MS;
        // A quarter of its time is left: enough to end the call before another takes its place.
        else if (alive || this.#clock.elapsed_ms() > out.until_ms - FLIGHT_MS / 4)
          out.abort.abort(
            new TidemarkError("UpstreamBusy", "The call lost its place among those that may be out.", {
              wait_ms: 1_000,
            }),
          );
      }
    }
    this.#renewing = false;
  }

  close(): void {
    this.#stop.abort();
  }
}
