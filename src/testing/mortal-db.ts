/** The database of a worker that can be killed: from that moment nothing that it asks for reaches it. */
import type { Sql } from "sql-template-tag";
import type { Db, QueryOptions, Result, TransactionOptions, Tx } from "../store/db.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** After death what it has in a transaction is rolled back, and it learns nothing more. */
export class MortalDb implements Db {
  readonly kind: Db["kind"];
  readonly #db: Db;
  readonly #kills: (statement: Sql | null) => boolean;
  readonly #unlisten = new Set<() => Promise<void>>();
  readonly #death = new AbortController();
  /** Rejects at its death, so that the transaction it is in rolls back. */
  readonly #dying = new Promise<never>((_, reject) => {
    this.#death.signal.addEventListener("abort", () => reject(new Error("the worker was killed")), { once: true });
  });

  /** `kills` is asked after each statement outside a transaction, and with null after each commit. */
  constructor(db: Db, kills: (statement: Sql | null) => boolean = () => false) {
    this.kind = db.kind;
    this.#db = db;
    this.#kills = kills;
    this.#dying.catch(() => undefined);
  }

  get death(): AbortSignal {
    return this.#death.signal;
  }

  kill(): void {
    this.#death.abort();
  }

  async query<R>(statement: Sql, options?: QueryOptions): Promise<Result<R>> {
    if (this.death.aborted) return never();
    const result = await this.#db.query<R>(statement, options).catch((error: unknown) => {
      if (this.death.aborted) return never<Result<R>>();
      throw error;
    });
    if (!this.death.aborted && this.#kills(statement)) this.kill();
    return this.death.aborted ? never() : result;
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> {
    if (this.death.aborted) return never();
    const running = { statement: Promise.resolve<unknown>(undefined) };
    const dying = this.#dying.catch(async (killed: unknown) => {
      // The server ends the statement it is in before it notices that nobody listens.
      await running.statement.catch(() => undefined);
      throw killed;
    });
    const mortal = (tx: Tx) => Promise.race([work(this.#mortalTx(tx, running)), dying]);
    const result = await this.#db.transaction(mortal, options).catch((error: unknown) => {
      if (this.death.aborted) return never<T>();
      throw error;
    });
    if (!this.death.aborted && this.#kills(null)) this.kill();
    return this.death.aborted ? never() : result;
  }

  async listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    if (this.death.aborted) return never();
    const unlisten = await this.#db.listen(channel, (payload) => {
      if (!this.death.aborted) heard(payload);
    });
    this.#unlisten.add(unlisten);
    return () => {
      this.#unlisten.delete(unlisten);
      return unlisten();
    };
  }

  /** Lets go of what the dead still held open in this process. */
  async close(): Promise<void> {
    for (const unlisten of this.#unlisten) await unlisten();
    this.#unlisten.clear();
  }

  #mortalTx(tx: Tx, running: { statement: Promise<unknown> }): Tx {
    return {
      query: async <R>(statement: Sql, options?: QueryOptions) => {
        if (this.death.aborted) return never<Result<R>>();
        const result = tx.query<R>(statement, options);
        running.statement = result;
        return result;
      },
    };
  }
}
