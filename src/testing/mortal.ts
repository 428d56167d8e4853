/** The world of a worker that can be killed at any moment: its database and its clock, which both stop for it alone. */
import type { Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Db } from "../store/db.ts";
import { MortalDb } from "./mortal-db.ts";

export interface Life {
  parts: { db: Db; clock: Clock };
  readonly dead: boolean;
  /** Like `kill -9`: nothing more of it reaches the database, and nobody tells it anything. */
  kill(): Promise<void>;
}

/** `kills` is asked after each statement outside a transaction, and with null after each commit. */
export function mortal(db: Db, clock: Clock, kills?: (statement: Sql | null) => boolean): Life {
  const own = new MortalDb(db, kills);
  const sleeping: Clock = {
    elapsed_ms: () => clock.elapsed_ms(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal ? AbortSignal.any([signal, own.death]) : own.death);
      if (own.death.aborted) await new Promise(() => undefined);
    },
  };
  return {
    parts: { db: own, clock: sleeping },
    get dead() {
      return own.death.aborted;
    },
    async kill() {
      own.kill();
      await own.close();
    },
  };
}
