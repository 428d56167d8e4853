/** The driver for the embedded database: PGlite with its one session, shared fairly and guarded against its quirks. */
import path from "node:path";
import sql, { type Sql } from "sql-template-tag";
import { type Clock, realClock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Db, QueryOptions, Result, TransactionOptions, Tx } from "./db.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { type Engine, type OpenEngine, openInProcess } from "./embedded-engine.ts";
import { openInThread } from "./embedded-remote.ts";
import { EmbeddedTx } from "./embedded-transaction.ts";
import { type Limits, watched } from "./embedded-watch.ts";
import { encodeValue } from "./parse.ts";
import { Turns } from "./turns.ts";

export interface EmbeddedOptions {
  /** The data directory; none, or "memory://", keeps everything in memory. */
  data?: string | undefined;
  /** False runs it in this thread, where nothing happens at random: for simulations. */
  thread?: boolean;
  /** How long a statement may go on after its caller gave up, before the thread is ended. */
  stuck_after_ms?: number;
  /** How long any statement may take before the thread is ended. */
  statement_timeout_ms?: number;
  clock?: Clock;
}

export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Db> {
  const { data } = options;
  const in_memory = data === undefined || data.startsWith("memory://");
  const lock = in_memory ? undefined : await lockDirectory(data);
  const db = new Embedded(options, in_memory ? undefined : path.resolve(data, "database"), lock);
  try {
    await db.open();
  } catch (error) {
    await lock?.release();
    throw error;
  }
  return db;
}

/** What autovacuum and the checkpointer do on a server; here somebody has to call it now and then. */
export async function maintainEmbedded(db: Db): Promise<void> {
  await db.query(sql`vacuum`);
  await db.query(sql`analyze`);
  await db.query(sql`checkpoint`);
}

type Heard = (payload: string) => void;

class Embedded implements Db {
  readonly kind = "embedded";
  readonly #open: OpenEngine;
  readonly #folder: string | undefined;
  readonly #lock: DirectoryLock | undefined;
  readonly #limits: Limits | undefined;
  readonly #turns = new Turns();
  readonly #channels = new Map<string, Set<Heard>>();
  #engine: Promise<Engine> | undefined;
  #died: TidemarkError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EmbeddedOptions, folder: string | undefined, lock: DirectoryLock | undefined) {
    const in_thread = options.thread ?? true;
    this.#open = in_thread ? openInThread : openInProcess;
    this.#folder = folder;
    this.#lock = lock;
    // In this thread a statement blocks every timer, so there is nothing to watch.
    this.#limits = in_thread
      ? {
          stuck_after_ms: options.stuck_after_ms ?? 60_000,
          statement_timeout_ms: options.statement_timeout_ms ?? 120_000,
          clock: options.clock ?? realClock,
        }
      : undefined;
  }

  async open(): Promise<void> {
    await this.#current();
  }

  query<R>(statement: Sql, options: QueryOptions = {}): Promise<Result<R>> {
    const values = statement.values.map(encodeValue);
    return this.#inTurn(options.signal, (engine) => engine.query(statement.text, values)) as Promise<Result<R>>;
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { signal } = options;
    const leave = await this.#enter(signal);
    let tx: EmbeddedTx | undefined;
    try {
      tx = new EmbeddedTx(await this.#current(), this.#limits, signal);
      await tx.begin(options.read_only ?? false);
      const result = await work(tx);
      signal?.throwIfAborted();
      await tx.commit();
      leave();
      return result;
    } catch (error) {
      const rolled_back = (tx?.rollback() ?? Promise.resolve()).finally(leave);
      // A statement cannot be interrupted; one that was given up ends, and is rolled back, behind our back.
      if (!tx?.given_up) await rolled_back;
      throw error;
    }
  }

  async listen(channel: string, heard: Heard): Promise<() => Promise<void>> {
    const own: Heard = (payload) => heard(payload);
    await this.#inTurn(undefined, (engine) => engine.script(listenTo(channel)));
    const all = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, all.add(own));
    // The session goes on listening: what nobody asked for is dropped, and asking again costs nothing.
    return async () => {
      if (all.delete(own) && all.size === 0) this.#channels.delete(channel);
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    const leave = await this.#turns.enter();
    try {
      const engine = await this.#engine?.catch(() => undefined);
      await engine?.close();
    } finally {
      leave();
      await this.#lock?.release();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<() => void> {
    if (this.#closing) throw new TidemarkError("StoreDown", "The database was closed by this process.");
    return this.#turns.enter(signal);
  }

  /** Runs one statement when its turn comes, and keeps the turn until the statement has really ended. */
  async #inTurn<T>(signal: AbortSignal | undefined, work: (engine: Engine) => Promise<T>): Promise<T> {
    const leave = await this.#enter(signal);
    const starting = this.#current().then((engine) => {
      signal?.throwIfAborted();
      const running = work(engine);
      return { running, outcome: watched(engine, running, this.#limits, signal) };
    });
    starting.then(({ running }) => running.then(leave, leave), leave);
    return (await starting).outcome;
  }

  /** The engine, opened again if the last one died. */
  async #current(): Promise<Engine> {
    if (this.#died && this.#folder === undefined) throw this.#died;
    this.#engine ??= this.#start();
    return this.#engine;
  }

  async #start(): Promise<Engine> {
    const again = this.#died !== undefined;
    try {
      const engine = await this.#open(this.#folder, {
        notified: (channel, payload) => {
          for (const heard of [...(this.#channels.get(channel) ?? [])]) heard(payload);
        },
        died: (reason) => {
          this.#engine = undefined;
          this.#died = reason;
          this.#turns.refuseAll(reason);
        },
      });
      for (const channel of this.#channels.keys()) await engine.script(listenTo(channel));
      if (again) for (const all of [...this.#channels.values()]) for (const heard of [...all]) heard("");
      return engine;
    } catch (error) {
      this.#engine = undefined;
      throw error;
    }
  }
}

function listenTo(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`;
}
