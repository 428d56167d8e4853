/** The one small interface through which everything speaks to the database, whichever of the two drivers is behind it. */
import type { Sql } from "sql-template-tag";

/**
 * How values come back, in both drivers: int8 as bigint, timestamptz as ISO text with exactly six
 * digits ("2026-11-15T22:55:50.123456Z", or "infinity"/"-infinity"), numeric as text, json parsed,
 * float8 and int4 as number. Text with six digits compares as time does.
 */
export interface Result<R> {
  rows: R[];
  /** Rows returned or changed. */
  count: number;
}

export interface QueryOptions {
  signal?: AbortSignal;
}

export interface Queryable {
  query<R = Record<string, unknown>>(statement: Sql, options?: QueryOptions): Promise<Result<R>>;
}

/** A transaction under way; it ends with the function it was given to. */
export type Tx = Queryable;

/** What every transaction of ours can do besides, for migrations only: several statements in one text. */
export interface ScriptTx extends Tx {
  script(text: string): Promise<void>;
}

export interface TransactionOptions extends QueryOptions {
  read_only?: boolean;
  /** The server ends a transaction that waits so long for its next statement: a frozen process must not keep its locks. */
  idle_ms?: number;
}

export interface Db extends Queryable {
  readonly kind: "postgres" | "embedded";
  /** Commits what `work` did, or rolls it back when `work` throws. */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Hears notifications on a channel until the returned function is called; survives lost connections. */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
