/** The local model, seen from outside of its thread: texts in, vectors out. */
import type { Worker } from "node:worker_threads";
import { TidemarkError } from "../errors.ts";
import { startThread } from "../store/thread.ts";
import { isFetched, type ModelFiles, miniLM, modelFolder } from "./files.ts";
import type { ModelAnswer, ModelAsked } from "./thread.ts";

export interface LocalModel {
  name: string;
  embed(texts: string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** The one that was fetched into the folder; null where none was. Its thread starts with the first text. */
export function localModel(data: string, model: ModelFiles = miniLM): LocalModel | null {
  return isFetched(data, model) ? new ThreadedModel(model.name, modelFolder(data, model)) : null;
}

class ThreadedModel implements LocalModel {
  readonly name: string;
  readonly #folder: string;
  readonly #waiting = new Map<number, { resolve(vectors: Float32Array[]): void; reject(error: Error): void }>();
  #thread: Worker | null = null;
  #next_id = 1;

  constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
  }

  embed(texts: string[]): Promise<Float32Array[]> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    thread.ref();
    const id = this.#next_id++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      thread.postMessage({ id, texts } satisfies ModelAsked);
    });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = startThread(new URL("./thread.ts", import.meta.url), this.#folder);
    thread.on("message", (answer: ModelAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      // A process that waits for no vector may end.
      if (this.#waiting.size === 0) thread.unref();
      if ("vectors" in answer) waiting?.resolve(answer.vectors);
      else waiting?.reject(broken(answer.failed));
    });
    const end = (why: string) => {
      this.#thread = null;
      for (const { reject } of this.#waiting.values()) reject(broken(why));
      this.#waiting.clear();
    };
    thread.on("error", (error) => end(error.message));
    thread.on("exit", () => end("its thread ended"));
    return thread;
  }
}

const broken = (why: string): TidemarkError =>
  new TidemarkError("Unexpected", `The local model failed: ${why}. \`tidemark model fetch\` fetches it anew.`);
