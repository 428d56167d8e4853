/** Gathers what ends within a few milliseconds and commits it together: ends alone in one statement, batches in one transaction. */
import type { Clock } from "../clock.ts";
import { hasCode } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";
import { Alarm } from "./alarm.ts";
import { isEmpty, rowsOf } from "./batch.ts";
import { type CommitPoint, commit } from "./commit.ts";
import { finishOf } from "./ends.ts";
import { finish } from "./finish.ts";
import type { Lanes } from "./lanes.ts";
import type { End } from "./outcome.ts";
import { type Committed, LOST, type Unit } from "./unit.ts";

const GATHER_MS = 5;
/** So many are worth a statement at once; up to the most go with it. */
const ENDS_FULL = 100;
const ENDS_MOST = 1_000;
const UNITS_FULL = 100;
const UNITS_MOST = 500;
const ROWS_MOST = 2_000;
const DEADLOCK_TRIES = 5;

interface Waiting {
  unit: Unit;
  /** The end, where the unit is nothing but one. */
  end: End | null;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

export interface CommitterParts {
  db: Db;
  lanes: Lanes;
  clock: Clock;
  events: Events;
  ttl_ms: number;
  at?: (point: CommitPoint) => void | Promise<void>;
}

export class Committer {
  readonly #parts: CommitterParts;
  readonly #ends: Gathering;
  readonly #units: Gathering;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#ends = new Gathering(parts.clock, ENDS_FULL, (all) => this.#flushEnds(all.splice(0, ENDS_MOST)));
    this.#units = new Gathering(parts.clock, UNITS_FULL, (all) => this.#flushUnits(takeUnits(all)));
  }

  /** Resolves when it is committed or the lease was lost; rejects when the database refused or could not be reached. */
  submit(unit: Unit): Promise<Committed> {
    return new Promise((resolve, reject) => {
      const end = endAlone(unit);
      (end ? this.#ends : this.#units).add({ unit, end, resolve, reject });
    });
  }

  async #flushEnds(waiting: Waiting[]): Promise<void> {
    const { db, lanes, clock, events } = this.#parts;
    const begun = clock.elapsed_ms();
    const done = new Set<bigint>();
    try {
      for (const w of waiting) {
        const spec = specOf(lanes, w.unit);
        if (!lanes.known(spec)) await lanes.ensure(db, spec);
      }
      const ends = waiting.map((w) => finishOf(lanes, w.unit, w.end!));
      await retried(() => finish(db, ends, false, done));
      events.emit("commit", { pulls: done.size, rows: 0, ms: clock.elapsed_ms() - begun });
      for (const w of waiting) w.resolve(done.has(w.unit.lease.resource_id) ? endedAlone(w) : LOST);
    } catch (error) {
      const left = waiting.filter((w) => !done.has(w.unit.lease.resource_id));
      for (const w of waiting) if (!left.includes(w)) w.resolve(endedAlone(w));
      await apart(left, error, (half) => this.#flushEnds(half));
    }
  }

  async #flushUnits(waiting: Waiting[]): Promise<void> {
    const { db, lanes, clock, events, ttl_ms, at } = this.#parts;
    const begun = clock.elapsed_ms();
    try {
      const results = await retried(() =>
        commit(
          db,
          lanes,
          waiting.map((w) => w.unit),
          ttl_ms / 3,
          at,
        ),
      );
      const rows = results.reduce((n, r) => n + r.changed, 0);
      events.emit("commit", { pulls: waiting.length, rows, ms: clock.elapsed_ms() - begun });
      for (const [i, w] of waiting.entries()) w.resolve(results[i]!);
    } catch (error) {
      await apart(waiting, error, (half) => this.#flushUnits(half));
    }
  }
}

const endedAlone = ({ end }: Waiting): Committed => ({ committed: true, changed: 0, end, message_parked: false });

/** One that is bad must not take its neighbours with it: they are halved until the bad one fails alone. */
async function apart(waiting: Waiting[], error: unknown, flush: (half: Waiting[]) => Promise<void>): Promise<void> {
  if (waiting.length < 2 || hasCode(error, "StoreDown")) {
    for (const w of waiting) w.reject(error);
    return;
  }
  const half = waiting.length >> 1;
  await flush(waiting.slice(0, half));
  await flush(waiting.slice(half));
}

/** What waits is flushed after a moment, or as soon as it is plenty; what comes meanwhile is the next flush's. */
class Gathering {
  readonly #waiting: Waiting[] = [];
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #full: number;
  readonly #flush: (waiting: Waiting[]) => Promise<void>;
  #draining = false;

  constructor(clock: Clock, full: number, flush: (waiting: Waiting[]) => Promise<void>) {
    this.#clock = clock;
    this.#alarm = new Alarm(clock);
    this.#full = full;
    this.#flush = flush;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (!this.#draining) void this.#drain();
    else if (this.#waiting.length === this.#full) this.#alarm.ring();
  }

  /** One flush at a time. */
  async #drain(): Promise<void> {
    this.#draining = true;
    this.#alarm.clear();
    await this.#alarm.sleep(GATHER_MS);
    // What ends in the same moment comes along.
    if (this.#waiting.length >= this.#full) await this.#clock.sleep(0);
    while (this.#waiting.length > 0) await this.#flush(this.#waiting);
    this.#draining = false;
  }
}

function takeUnits(all: Waiting[]): Waiting[] {
  let rows = 0;
  let n = 0;
  for (const w of all) {
    rows += w.unit.handled.length + (w.unit.batch ? rowsOf(w.unit.batch) : 0);
    if (n > 0 && (n >= UNITS_MOST || rows > ROWS_MOST)) break;
    n += 1;
  }
  return all.splice(0, n);
}

function specOf(lanes: Lanes, unit: Unit) {
  const { lease, kind, cursor } = unit;
  return lanes.spec(
    lease.source,
    lease.kind,
    lease.key,
    lease.options ?? {},
    unit.batch?.cursor ?? cursor ?? kind.cursor.parse(undefined),
  );
}

/** The end of a unit that writes nothing but its due row. */
function endAlone(unit: Unit): End | null {
  const { batch, end, handled, charge, lease } = unit;
  if (!end || charge || handled.length > 0 || unit.seen?.size) return null;
  if (batch && (batch.cursor !== undefined || batch.progress || !isEmpty(batch))) return null;
  const ended = end(LOST);
  const cold = lease.marked || ended.reason !== null || ended.error !== null || ended.parked || ended.gone;
  return cold ? null : ended;
}

/** A deadlock or a serialisation failure is run again from its beginning. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (tries >= DEADLOCK_TRIES || (code !== "40P01" && code !== "40001")) throw error;
    }
  }
}
