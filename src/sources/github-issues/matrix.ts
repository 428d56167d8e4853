/** The vectors of the generation in use, kept in a thread and brought up to date before each search, where the database cannot compare them. */
import type { Worker } from "node:worker_threads";
import { type Queryable, startThread, TidemarkError } from "tidemark";
import type { Generation } from "./generation-rows.ts";
import type { Near } from "./matrix-store.ts";
import type { ToMatrix } from "./matrix-thread.ts";
import { readCodes, readNewCodes, readNow } from "./vector-rows.ts";

const PAGE = 5_000;
/** Vectors that were written by a transaction that ended late are found by looking back so far. */
const OVERLAP_MS = 300_000;
/** What is gone is let go of so often; searches do not show it in the meantime, because its rows are no longer there. */
const ANEW_MS = 6 * 3_600_000;

export class Matrix {
  readonly #read: Queryable;
  readonly #waiting = new Map<number, { resolve(near: Near[]): void; reject(error: Error): void }>();
  #thread: Worker | null = null;
  #next_id = 1;
  #generation: number | null = null;
  #loaded_ms = 0;
  #began_ms = 0;
  #loading: Promise<void> | null = null;

  constructor(read: Queryable) {
    this.#read = read;
  }

  async nearest(
    generation: Generation,
    vector: Float32Array,
    most: number,
    allowed: { resource_id: bigint; number: number }[] | null,
  ): Promise<Near[]> {
    await this.#load(generation);
    const id = this.#next_id++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#thread?.ref();
      this.#tell({ is: "nearest", id, vector, most, allowed });
    });
  }

  /** One at a time: whoever comes meanwhile waits for the same. */
  #load(generation: Generation): Promise<void> {
    this.#loading ??= this.#bring(generation).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #bring(generation: Generation): Promise<void> {
    const now_ms = await readNow(this.#read);
    if (generation.generation !== this.#generation || now_ms - this.#began_ms > ANEW_MS) {
      this.#tell({ is: "begin", dimensions: generation.dimensions ?? 1 });
      for (let after = { resource_id: 0n, number: 0, part: -1 }; ; ) {
        const rows = await readCodes(this.#read, generation, after, PAGE);
        this.#tell({ is: "put", rows });
        const last = rows.at(-1);
        if (!last || rows.length < PAGE) break;
        after = last;
      }
      this.#generation = generation.generation;
      this.#began_ms = now_ms;
    } else {
      const since = new Date(this.#loaded_ms - OVERLAP_MS).toISOString();
      const rows = await readNewCodes(this.#read, generation, since);
      if (rows.length > 0) this.#tell({ is: "put", rows });
    }
    this.#loaded_ms = now_ms;
  }

  #tell(message: ToMatrix): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage(message);
  }

  #start(): Worker {
    const thread = startThread(new URL("./matrix-thread.ts", import.meta.url), null);
    // A process that has nothing else to do may end.
    thread.unref();
    thread.on("message", ({ id, near }: { id: number; near: Near[] }) => {
      this.#waiting.get(id)?.resolve(near);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) thread.unref();
    });
    thread.on("error", (cause) => this.#end(cause));
    thread.on("exit", () => this.#end(new Error("its thread ended")));
    return thread;
  }

  /** Everything is read anew by the next search. */
  #end(cause: Error): void {
    this.#thread = null;
    this.#generation = null;
    const error = new TidemarkError("Unexpected", "Vectors could not be compared.", { cause });
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
