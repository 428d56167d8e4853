/** The driver for a PostgreSQL server: a pool that also works behind a transaction pooler. */
import pg from "pg";
import type { Sql } from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import { either, orAborted } from "./aborted.ts";
import type { Db, QueryOptions, Result, ScriptTx, TransactionOptions, Tx } from "./db.ts";
import { encodeValue, parserOf } from "./parse.ts";
import { cancel } from "./postgres-cancel.ts";
import { asStoreError } from "./postgres-failure.ts";
import { Listener } from "./postgres-listener.ts";

export { isConnectionFailure } from "./postgres-failure.ts";

export interface PostgresOptions {
  /** Connections at most. */
  max?: number;
  application_name?: string;
}

/** How long a cancelled statement may take to end before its connection is cut. */
const cancel_grace_ms = 2000;

export function openPostgres(url: string, options: PostgresOptions = {}): Db {
  const config: pg.PoolConfig = {
    connectionString: url,
    application_name: options.application_name ?? "tidemark",
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Parsers of our own for this pool, because pg.types is shared by everything in the process.
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  };
  const pool = new pg.Pool({ ...config, max: options.max ?? 10, idleTimeoutMillis: 30_000 });
  // A lost idle connection is replaced by the pool; without a listener it would end the process. The pool
  // takes its own listener off while a connection is in use, hence the second one.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return new Postgres(pool, new Listener(config));
}

class Postgres implements Db {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  readonly #listener: Listener;
  #closing: Promise<void> | undefined;

  constructor(pool: pg.Pool, listener: Listener) {
    this.#pool = pool;
    this.#listener = listener;
  }

  async query<R>(statement: Sql, options: QueryOptions = {}): Promise<Result<R>> {
    const connection = await this.#connect(options.signal);
    try {
      return await connection.run<R>(statement, options.signal);
    } finally {
      connection.release();
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { signal } = options;
    const connection = await this.#connect(signal);
    const tx = new PostgresTx(connection, signal);
    try {
      await connection.script(beginning(options));
      const result = await work(tx);
      signal?.throwIfAborted();
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback();
      throw error;
    } finally {
      connection.release();
    }
  }

  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    return this.#listener.listen(channel, heard);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#listener.close(), this.#pool.end()]).then(() => {});
    return this.#closing;
  }

  async #connect(signal: AbortSignal | undefined): Promise<Connection> {
    signal?.throwIfAborted();
    if (this.#closing) throw new TidemarkError("StoreDown", "The database was closed by this process.");
    const connecting = this.#pool.connect();
    try {
      return new Connection(await orAborted(connecting, signal));
    } catch (error) {
      // When it was the signal, the pool still hands out a connection; it goes straight back.
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw asStoreError(error);
    }
  }
}

/** In one text, so that it costs one exchange; `set local` leaves nothing behind for whoever a pooler gives the connection to next. */
function beginning({ read_only, idle_ms }: TransactionOptions): string {
  const begin = read_only ? "begin read only" : "begin";
  return idle_ms === undefined
    ? begin
    : `${begin}; set local idle_in_transaction_session_timeout = ${Math.ceil(idle_ms)}`;
}

/** One connection taken from the pool. */
class Connection {
  readonly #client: pg.PoolClient;
  #spoilt = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  run<R>(statement: Sql, signal: AbortSignal | undefined): Promise<Result<R>> {
    const query: pg.QueryConfig & { queryMode: "extended" } = {
      text: statement.text,
      values: statement.values.map(encodeValue),
      // Without it a statement without parameters would take the other protocol, which allows several at once.
      queryMode: "extended",
    };
    return this.#send(query, signal).then(({ rows, rowCount }) => ({ rows: rows as R[], count: rowCount ?? 0 }));
  }

  /** Several statements at once; returns the command that the last one ended as. */
  async script(text: string, signal?: AbortSignal): Promise<string> {
    const result: pg.QueryResult | pg.QueryResult[] = await this.#send({ text }, signal);
    return (Array.isArray(result) ? result.at(-1)?.command : result.command) ?? "";
  }

  get spoilt(): boolean {
    return this.#spoilt;
  }

  release(): void {
    this.#client.release(this.#spoilt);
  }

  async #send(query: pg.QueryConfig, signal: AbortSignal | undefined): Promise<pg.QueryResult> {
    signal?.throwIfAborted();
    const running = this.#client.query(query);
    try {
      return await orAborted(running, signal);
    } catch (error) {
      if (signal?.aborted) {
        // A cancel request may arrive late and hit the next statement: this connection is not used again.
        this.#spoilt = true;
        await cancel(this.#client, running, cancel_grace_ms);
        throw signal.reason;
      }
      const failure = asStoreError(error);
      if (failure !== error) this.#spoilt = true;
      throw failure;
    }
  }
}

class PostgresTx implements ScriptTx {
  readonly #connection: Connection;
  readonly #signal: AbortSignal | undefined;
  #ended = false;
  #failure: { error: unknown } | undefined;

  constructor(connection: Connection, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#signal = signal;
  }

  query<R>(statement: Sql, options: QueryOptions = {}): Promise<Result<R>> {
    return this.#during(() => this.#connection.run<R>(statement, either(this.#signal, options.signal)));
  }

  async script(text: string): Promise<void> {
    await this.#during(() => this.#connection.script(text, this.#signal));
  }

  async commit(): Promise<void> {
    this.#ended = true;
    const command = await this.#connection.script("commit");
    // PostgreSQL answers a commit after a failed statement with a rollback and no error.
    if (command === "ROLLBACK") throw this.#failure?.error ?? new Error("the transaction was rolled back");
  }

  /** A connection that is spoilt gets closed, which rolls back as well. */
  async rollback(): Promise<void> {
    this.#ended = true;
    if (!this.#connection.spoilt) await this.#connection.script("rollback").catch(() => {});
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new Error("a statement was given to a transaction that has ended");
    try {
      return await work();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}
