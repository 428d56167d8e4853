/** A database and a clock as one logical worker has them: they stop for ever when it dies, and stand still while it is paused. */
import type { Sql } from "sql-template-tag";
import type { Clock, Db, Result, Tx } from "tidemark";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";

class Death extends Error {}

const never = <T>(): Promise<T> => new Promise(() => undefined);

export class Mortal {
  dead = false;
  /** Paused or killed at least once: it may lose leases. */
  disturbed = false;
  #paused_until_ms = 0;
  readonly #db: Db;
  readonly #clock: VirtualClock;
  readonly #fate: () => { dies: boolean; pause_ms: number };

  constructor(db: Db, clock: VirtualClock, fate: () => { dies: boolean; pause_ms: number }) {
    this.#db = db;
    this.#clock = clock;
    this.#fate = fate;
  }

  die(): void {
    this.dead = true;
    this.disturbed = true;
  }

  /** What may happen before any statement: nothing, a pause, the end. */
  async #live(): Promise<void> {
    if (this.dead) return never();
    const { dies, pause_ms } = this.#fate();
    if (dies) {
      this.die();
      return never();
    }
    if (pause_ms > 0) {
      this.disturbed = true;
      this.#paused_until_ms = this.#clock.elapsed_ms() + pause_ms;
    }
    await this.#pass();
  }

  /** A paused process does nothing at all: its heartbeat stands still too. */
  async #pass(): Promise<void> {
    for (;;) {
      const left_ms = this.#paused_until_ms - this.#clock.elapsed_ms();
      if (left_ms <= 0) break;
      await this.#clock.sleep(left_ms);
    }
    if (this.dead) return never();
  }

  readonly db: Db = {
    kind: "embedded",
    query: async <R>(statement: Sql): Promise<Result<R>> => {
      await this.#live();
      const result = await this.#db.query<R>(statement);
      return this.dead ? never() : result;
    },
    transaction: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      await this.#live();
      try {
        const result = await this.#db.transaction((tx) => work(this.#within(tx)));
        return this.dead ? never() : result;
      } catch (error) {
        if (error instanceof Death || this.dead) return never();
        throw error;
      }
    },
    listen: async () => async () => undefined,
    close: async () => undefined,
  };

  /** Inside a transaction death rolls back: the connection is gone with the process. */
  #within(tx: Tx): Tx {
    return {
      query: async <R>(statement: Sql): Promise<Result<R>> => {
        if (!this.dead && this.#fate().dies) this.die();
        if (this.dead) throw new Death();
        return tx.query<R>(statement);
      },
    };
  }

  readonly clock: Clock = {
    elapsed_ms: () => this.#clock.elapsed_ms(),
    sleep: async (ms, signal) => {
      await this.#clock.sleep(ms, signal);
      await this.#pass();
    },
  };
}
