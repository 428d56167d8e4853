/** Calls of this process that are out under a bound on calls at once: renewed while they last, ended when that fails. */
import type { Clock } from "../clock.ts";
import type { Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Db } from "../store/db.ts";
import { endFlights, renewFlights } from "./budget.ts";
import { type Flight, FlightLine } from "./flight-line.ts";
import { FLIGHT_MS } from "./grant-line.ts";
import type { Permit } from "./grant-permit.ts";
import type { BudgetRow } from "./share.ts";
import { flightsOf } from "./upstream-wish.ts";

const LINES_MOST = 10_000;

interface Out {
  flights: bigint[];
  until_ms: number;
  abort: AbortController;
}

export class Flights {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #lines = new Map<string, FlightLine>();
  readonly #out = new Set<Out>();
  readonly #stop = new AbortController();
  #renewing = false;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** A place among the calls that may be out there, to be left afterwards; null where there is no such bound. */
  take(upstream: Upstream, signal: AbortSignal): Flight | Promise<Flight> | null {
    const row = flightsOf(upstream);
    if (!row) return null;
    return this.#line(row).take(signal);
  }

  #line(row: BudgetRow): FlightLine {
    const known = this.#lines.get(row.budget);
    if (known) return known;
    if (this.#lines.size >= LINES_MOST) for (const [name, line] of this.#lines) if (line.idle) this.#lines.delete(name);
    const line = new FlightLine(this.#db, this.#clock, row);
    this.#lines.set(row.budget, line);
    return line;
  }

  /** Runs a call; its signal aborts when its place may be another's by now. */
  async during<T>(
    flight: Flight | null,
    { flights, asked_ms }: Permit,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
    gap_ms?: (took_ms: number) => number,
  ): Promise<T> {
    if (flights.length === 0 && !flight) return call(signal);
    const begun_ms = this.#clock.elapsed_ms();
    const abort = new AbortController();
    const until_ms = Math.min(
      flight?.until_ms ?? Number.POSITIVE_INFINITY,
      flights.length > 0 ? asked_ms + FLIGHT_MS : Number.POSITIVE_INFINITY,
    );
    const out = { flights: flight ? [...flights, flight.flight_id] : flights, until_ms, abort };
    this.#out.add(out);
    void this.#renew();
    try {
      return await call(AbortSignal.any([signal, abort.signal]));
    } finally {
      this.#out.delete(out);
      // What cannot be said now ends by itself.
      const wanted_ms = gap_ms?.(this.#clock.elapsed_ms() - begun_ms);
      if (flights.length > 0) await endFlights(this.#db, flights, wanted_ms).catch(() => undefined);
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

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#lines.values()].map((line) => line.close()));
  }
}
