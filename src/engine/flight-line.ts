/** Places among the calls that may be out at once: drawn as many as are waited for, passed on within this process, given back together. */
import type { Clock } from "../clock.ts";
import type { TidemarkError } from "../errors.ts";
import type { Db } from "../store/db.ts";
import { declareBudgets, endFlights, takeFlights } from "./budget.ts";
import { FLIGHT_MS, WAIT_HERE_MS } from "./grant-line.ts";
import { busyOut } from "./grant-permit.ts";
import type { BudgetRow } from "./share.ts";

/**
 * How long a place is passed on from call to call in one process. Taken and given back call by call it cost 3 ms of database CPU, and one
 * process made 150 calls a second; passed on for longer, others would wait for it.
 */
const PASSED_ON_MS = 100;
/** How long places are gathered that go back, and how soon one looks again where all are taken. */
const GATHER_MS = 10;
/** How much longer those should stay away who stand behind others. */
const BEHIND_MS = 25;

/** One place. */
export interface Flight {
  flight_id: bigint;
  line: FlightLine;
  drawn_ms: number;
  /** It may be another's from then on, if nobody renews it. */
  until_ms: number;
}

interface Waiter {
  since_ms: number;
  signal: AbortSignal;
  resolve(flight: Flight): void;
  reject(reason: unknown): void;
}

/** All places of one upstream that this process has or waits for. */
export class FlightLine {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #row: BudgetRow;
  #queue: Waiter[] = [];
  #left: Flight[] = [];
  #pumping = false;
  #declared = false;
  #giving = false;

  constructor(db: Db, clock: Clock, row: BudgetRow) {
    this.#db = db;
    this.#clock = clock;
    this.#row = row;
  }

  get idle(): boolean {
    return this.#queue.length === 0 && this.#left.length === 0 && !this.#pumping;
  }

  take(signal: AbortSignal): Flight | Promise<Flight> {
    const now_ms = this.#clock.elapsed_ms();
    const at = this.#queue.length > 0 ? -1 : this.#left.findIndex((flight) => isYoung(flight, now_ms));
    if (at >= 0) return this.#left.splice(at, 1)[0]!;
    return new Promise((resolve, reject) => {
      this.#queue.push({ since_ms: now_ms, signal, resolve, reject });
      void this.#pump();
    });
  }

  /** To whoever waits here, or back to the fleet. */
  leave(flight: Flight): void {
    const next = isYoung(flight, this.#clock.elapsed_ms()) ? this.#next() : undefined;
    if (next) next.resolve(flight);
    else {
      this.#left.push(flight);
      void this.#giveBack();
    }
  }

  async close(): Promise<void> {
    await this.#end();
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#queue.length > 0) {
        // What is to go back may be all that is missing.
        await this.#end();
        await this.#draw();
      }
    } catch (thrown) {
      for (const waiter of this.#queue.splice(0)) waiter.reject(thrown);
    } finally {
      this.#pumping = false;
    }
  }

  async #draw(): Promise<void> {
    // Also where it is there: it may have been another bound before this process began.
    if (!this.#declared) await declareBudgets(this.#db, [this.#row]);
    const drawn_ms = this.#clock.elapsed_ms();
    const taken = await takeFlights(this.#db, this.#row.budget, Math.max(1, this.#queue.length), FLIGHT_MS);
    this.#declared = taken !== null;
    if (taken === null) return;
    const flights = taken.map((flight_id) => ({ flight_id, line: this, drawn_ms, until_ms: drawn_ms + FLIGHT_MS }));
    // A database that took half of its life to give it: it goes back.
    const late = this.#clock.elapsed_ms() - drawn_ms > FLIGHT_MS / 2;
    for (const flight of flights) {
      const waiter = late ? undefined : this.#next();
      if (waiter) waiter.resolve(flight);
      else this.#left.push(flight);
    }
    if (this.#left.length > 0) void this.#giveBack();
    if (taken.length > 0) return;
    const now_ms = this.#clock.elapsed_ms();
    const patient: Waiter[] = [];
    for (const waiter of this.#queue) {
      if (waiter.signal.aborted) waiter.reject(waiter.signal.reason);
      else if (now_ms - waiter.since_ms + GATHER_MS < WAIT_HERE_MS) patient.push(waiter);
      else waiter.reject(this.#busy(patient.length));
    }
    this.#queue = patient;
    if (patient.length > 0) await this.#clock.sleep(GATHER_MS);
  }

  #next(): Waiter | undefined {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      if (!next.signal.aborted) return next;
      next.reject(next.signal.reason);
    }
    return undefined;
  }

  #busy(place: number): TidemarkError {
    return busyOut(this.#row, WAIT_HERE_MS + place * BEHIND_MS);
  }

  /** After a moment: until then another call may take it. */
  async #giveBack(): Promise<void> {
    if (this.#giving) return;
    this.#giving = true;
    while (this.#left.length > 0) {
      await this.#clock.sleep(GATHER_MS);
      await this.#end();
    }
    this.#giving = false;
  }

  /** What cannot be said now ends by itself. */
  async #end(): Promise<void> {
    const ids = this.#left.splice(0).map(({ flight_id }) => flight_id);
    if (ids.length > 0) await endFlights(this.#db, ids).catch(() => undefined);
  }
}

const isYoung = ({ drawn_ms }: Flight, now_ms: number): boolean => now_ms - drawn_ms < PASSED_ON_MS;
