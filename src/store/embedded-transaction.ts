/** A transaction on the embedded database's one session, which it holds until it ends. */
import type { Sql } from "sql-template-tag";
import { hasCode, TidemarkError } from "../errors.ts";
import { either } from "./aborted.ts";
import type { QueryOptions, Result, ScriptTx } from "./db.ts";
import type { Engine } from "./embedded-engine.ts";
import { type Limits, watched } from "./embedded-watch.ts";
import { encodeValue } from "./parse.ts";

export class EmbeddedTx implements ScriptTx {
  readonly #engine: Engine;
  readonly #limits: Limits | undefined;
  readonly #signal: AbortSignal | undefined;
  #ended = false;
  #given_up = false;
  #failure: { error: unknown } | undefined;

  constructor(engine: Engine, limits: Limits | undefined, signal: AbortSignal | undefined) {
    this.#engine = engine;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** True when a statement was still running as its caller gave up on it. */
  get given_up(): boolean {
    return this.#given_up;
  }

  async begin(read_only: boolean): Promise<void> {
    await this.#control(read_only ? "begin read only" : "begin");
  }

  query<R>(statement: Sql, options: QueryOptions = {}): Promise<Result<R>> {
    const values = statement.values.map(encodeValue);
    const signal = either(this.#signal, options.signal);
    return this.#during(signal, () => this.#engine.query(statement.text, values)) as Promise<Result<R>>;
  }

  async script(text: string): Promise<void> {
    await this.#during(this.#signal, () => this.#engine.script(text));
  }

  async commit(): Promise<void> {
    this.#ended = true;
    const command = await this.#control("commit");
    // PostgreSQL answers a commit after a failed statement with a rollback and no error.
    if (command === "ROLLBACK") throw this.#failure?.error ?? new Error("the transaction was rolled back");
  }

  /** Waits for what still runs; never rejects. */
  async rollback(): Promise<void> {
    this.#ended = true;
    try {
      await this.#control("rollback");
    } catch (error) {
      if (hasCode(error, "StoreDown")) return;
      // The next one must not find itself in a transaction that is not its own.
      this.#engine.kill(new TidemarkError("StoreDown", "A transaction could not be rolled back.", { cause: error }));
    }
  }

  #control(text: string): Promise<string> {
    return watched(this.#engine, this.#engine.script(text), this.#limits, undefined);
  }

  async #during<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new Error("a statement was given to a transaction that has ended");
    signal?.throwIfAborted();
    let settled = false;
    const running = work().finally(() => {
      settled = true;
    });
    try {
      return await watched(this.#engine, running, this.#limits, signal);
    } catch (error) {
      if (!settled) this.#given_up = true;
      this.#failure ??= { error };
      throw error;
    }
  }
}
