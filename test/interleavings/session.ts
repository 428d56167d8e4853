/** A transaction that a test steps through by hand, and a way to see that it waits for another. */
import sql from "sql-template-tag";
import { realClock } from "../../src/clock.ts";
import type { Db, Queryable, Tx } from "../../src/store/db.ts";

/** What a test that failed half-way left standing. */
const standing = new Set<() => void>();

/** After each test: every session is rolled back and every gate opened, or the database could not be closed. */
export function letGo(): void {
  for (const go of standing) go();
  standing.clear();
}

export class Session {
  readonly tx: Tx;
  readonly pid: number;
  readonly #end: (how: "commit" | "rollback") => void;
  readonly #done: Promise<void>;

  private constructor(tx: Tx, pid: number, end: (how: "commit" | "rollback") => void, done: Promise<void>) {
    this.tx = tx;
    this.pid = pid;
    this.#end = end;
    this.#done = done;
  }

  static async begin(db: Db): Promise<Session> {
    let end: (how: "commit" | "rollback") => void = () => {};
    const gate = new Promise<"commit" | "rollback">((resolve) => {
      end = resolve;
    });
    standing.add(() => end("rollback"));
    return new Promise((resolve, reject) => {
      const done = db
        .transaction(async (tx) => {
          const { rows } = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
          resolve(new Session(tx, rows[0]!.pid, end, ended));
          if ((await gate) === "rollback") throw new RolledBack();
        })
        .catch((error: unknown) => {
          if (!(error instanceof RolledBack)) throw error;
        });
      const ended = Promise.resolve().then(() => done);
      done.catch(reject);
    });
  }

  async commit(): Promise<void> {
    this.#end("commit");
    await this.#done;
  }

  async rollback(): Promise<void> {
    this.#end("rollback");
    await this.#done;
  }
}

class RolledBack extends Error {}

/** Resolves when some statement of this database waits for a lock; fails when the work ends without waiting. */
export async function blocks(db: Queryable, work: Promise<unknown>): Promise<void> {
  let ended: string | null = null;
  work.then(
    () => {
      ended = "ended without waiting";
    },
    (error: unknown) => {
      ended = String(error);
    },
  );
  for (let looked = 0; looked < 2_000; looked += 1) {
    const { rows } = await db.query<{ n: number }>(sql`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    if (rows[0]!.n > 0) return;
    if (ended) throw new Error(ended);
    await realClock.sleep(2);
  }
  throw new Error("nothing waits");
}

/** A gate that a commit stops at: `reached` resolves when it is there, `open` lets it go on. */
export function stopAt<P extends string>(point: P) {
  let reach: () => void = () => {};
  let open: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  standing.add(() => open());
  const at = async (p: string) => {
    if (p !== point) return;
    reach();
    await opened;
  };
  return { at, reached, open: () => open() };
}
