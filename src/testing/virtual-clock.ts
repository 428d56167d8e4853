/** A clock whose time moves only when it is told to, or when everything that uses it sleeps; the database's clock moves with it. */
import sql, { type Sql } from "sql-template-tag";
import { type Clock, realClock } from "../clock.ts";
import type { Db, Queryable, QueryOptions, Result, TransactionOptions, Tx } from "../store/db.ts";
import { OpenCalls } from "./calls.ts";

interface Sleeper {
  at_ms: number;
  n: number;
  wake(): void;
}

/** Turns of the event loop without any work that make us believe that everything sleeps. */
const QUIET_TURNS = 3;
/** How often we look again before we believe that nothing will ever happen. */
const LONELY_TURNS = 200;

export class VirtualClock implements Clock {
  #now_ms = 0;
  #busy = 0;
  /** Of those that are busy, and of the calls under way, how many only wait for the clock or for the test. */
  #idle = { work: 0, call: 0 };
  #calls: OpenCalls | null = null;
  #n = 0;
  #stir: () => void = () => undefined;
  readonly #sleepers = new Set<Sleeper>();
  /** Called after each move, before anyone wakes. */
  onMove: (elapsed_ms: number) => Promise<void> = async () => undefined;

  elapsed_ms(): number {
    return this.#now_ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { at_ms: this.#now_ms + Math.max(0, ms), n: this.#n++, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Time does not move by itself while this work goes on. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#stir();
    }
  }

  /** Such work, or an HTTP call, only waits for this: meanwhile time may move. */
  async waiting<T>(gate: Promise<T>, what: "work" | "call" = "work"): Promise<T> {
    this.#idle[what] += 1;
    this.#stir();
    try {
      return await gate;
    } finally {
      this.#idle[what] -= 1;
    }
  }

  /** From now on time does not move by itself while an HTTP call of this process is under way; call the result to end that. */
  watchCalls(): () => void {
    const calls = new OpenCalls(() => this.#stir());
    this.#calls = calls;
    return () => {
      calls.close();
      if (this.#calls === calls) this.#calls = null;
      this.#stir();
    };
  }

  get #working(): boolean {
    return this.#busy > this.#idle.work || (this.#calls?.count ?? 0) > this.#idle.call;
  }

  /** Resolves when nothing is going on but sleep. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = this.#working ? 0 : quiet + 1) {
      // Woken rather than looking again and again: on a small machine that would slow down what we wait for.
      if (this.#working)
        await new Promise<void>((resolve) => {
          this.#stir = resolve;
        });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Lets everything run until it sleeps, then wakes the next sleeper; false when nobody sleeps or the time is up. */
  async step(until_ms = Number.POSITIVE_INFINITY): Promise<boolean> {
    await this.settle();
    let next: Sleeper | null = null;
    for (const s of this.#sleepers)
      if (!next || s.at_ms < next.at_ms || (s.at_ms === next.at_ms && s.n < next.n)) next = s;
    if (!next || next.at_ms > until_ms) return false;
    await this.#moveTo(next.at_ms);
    next.wake();
    return true;
  }

  /** Lets `ms` pass, waking everyone whose time comes. */
  async advance(ms: number): Promise<void> {
    const until_ms = this.#now_ms + ms;
    while (await this.step(until_ms));
    await this.#moveTo(until_ms);
    await this.settle();
  }

  /** Steps until the condition holds; says so when it never does. */
  async until(condition: () => boolean | Promise<boolean>, most_ms = 24 * 3600_000): Promise<void> {
    const until_ms = this.#now_ms + most_ms;
    for (let lonely = 0; ; ) {
      await this.settle();
      if (await condition()) return;
      if (await this.step(until_ms)) lonely = 0;
      // Nobody sleeps: something real that we cannot see, a connection that closes, may still be under way.
      else if (this.#sleepers.size === 0 && lonely++ < LONELY_TURNS) await realClock.sleep(5);
      else throw new Error(`the condition did not come true within ${most_ms} ms of virtual time`);
    }
  }

  async #moveTo(at_ms: number): Promise<void> {
    if (at_ms <= this.#now_ms) return;
    this.#now_ms = at_ms;
    await this.onMove(at_ms);
  }
}

/** Where virtual time begins in the database. */
export const EPOCH = "2030-01-01T00:00:00.000000Z";

/** The time of day, as the database sees it. */
export const wall_ms = (clock: Clock): number => Date.parse(EPOCH) + clock.elapsed_ms();

/**
 * Replaces the database's clock by a row and moves that row with the virtual clock. Returns the database as the code under
 * test should see it: while one of its statements runs, time stands still.
 */
export async function setDatabaseClock(db: Db, clock: VirtualClock): Promise<Db> {
  await db.query(sql`create table if not exists tidemark.test_clock (at timestamptz not null)`);
  await db.query(sql`delete from tidemark.test_clock`);
  await db.query(sql`insert into tidemark.test_clock (at) values (${EPOCH}::timestamptz)`);
  await db.query(sql`
    create or replace function tidemark.now() returns timestamptz language sql stable as 'select at from tidemark.test_clock'`);
  clock.onMove = async (elapsed_ms) => {
    await db.query(sql`
      update tidemark.test_clock set at = ${EPOCH}::timestamptz + ${elapsed_ms}::float8 * interval '1 millisecond'`);
  };
  await clock.onMove(clock.elapsed_ms());
  return new WatchedDb(db, clock);
}

class WatchedDb implements Db {
  readonly kind: Db["kind"];
  readonly #db: Db;
  readonly #clock: VirtualClock;

  constructor(db: Db, clock: VirtualClock) {
    this.#db = db;
    this.#clock = clock;
    this.kind = db.kind;
  }

  query<R>(statement: Sql, options?: QueryOptions): Promise<Result<R>> {
    return this.#clock.during(() => this.#db.query<R>(statement, options));
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#clock.during(() => this.#db.transaction(work, options));
  }

  async listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    const unlisten = await this.#clock.during(() => this.#db.listen(channel, heard));
    return () => this.#clock.during(unlisten);
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

/** The database's time as the virtual clock set it. */
export async function databaseTime(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ at: string }>(sql`select tidemark.now() as at`);
  return rows[0]!.at;
}
