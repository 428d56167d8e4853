/** Read-only SQL with a time limit: what searches and feeds ask the mirror with. */
import type { Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Db, Queryable, QueryOptions, Result } from "../store/db.ts";

/** Each statement in a read-only transaction of its own; one that takes too long is cancelled. */
export function readOnly(db: Db, clock: Clock, ms_max: number): Queryable {
  return {
    async query<R>(statement: Sql, options: QueryOptions = {}): Promise<Result<R>> {
      const late = new AbortController();
      const done = new AbortController();
      void clock.sleep(ms_max, done.signal).then(() => {
        const sentence = `The database took longer than ${ms_max} ms to answer.`;
        if (!done.signal.aborted) late.abort(new TidemarkError("StoreDown", sentence));
      });
      const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
      try {
        return await db.transaction((tx) => tx.query<R>(statement), { read_only: true, signal });
      } finally {
        done.abort();
      }
    },
  };
}
