/** The embedded database in a worker thread, seen from outside of it. */
import type { Worker } from "node:worker_threads";
import pg from "pg";
import type { TidemarkError } from "../errors.ts";
import type { Result } from "./db.ts";
import { type Engine, type EngineEvents, type OpenEngine, stopped } from "./embedded-engine.ts";
import type { Answer, Request, ThreadData } from "./embedded-messages.ts";
import { startThread } from "./thread.ts";

export const openInThread: OpenEngine = async (folder, events) => {
  const data: ThreadData = { folder };
  const engine = new RemoteEngine(startThread(new URL("./embedded-thread.ts", import.meta.url), data), events);
  await engine.ready;
  return engine;
};

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A request without its number, for each kind of request. */
type Unnumbered = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

class RemoteEngine implements Engine {
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #events: EngineEvents;
  readonly #waiting = new Map<number, Waiting>();
  #next_id = 1;
  #death: TidemarkError | undefined;

  constructor(worker: Worker, events: EngineEvents) {
    this.#worker = worker;
    this.#events = events;
    // Number 0 waits for the thread to be ready.
    this.ready = new Promise((resolve, reject) => this.#waiting.set(0, { resolve: () => resolve(), reject }));
    worker.on("message", (answer: Answer) => this.#heard(answer));
    worker.on("error", (error) => this.#die(stopped(error)));
    worker.on("exit", (code) => this.#die(stopped(`its thread ended with code ${code}`)));
  }

  query(text: string, values: (string | null)[]): Promise<Result<unknown>> {
    return this.#ask({ is: "query", text, values }) as Promise<Result<unknown>>;
  }

  script(text: string): Promise<string> {
    return this.#ask({ is: "script", text }) as Promise<string>;
  }

  async close(): Promise<void> {
    await this.#ask({ is: "close" });
    this.#death = stopped("it was closed");
    await this.#worker.terminate();
  }

  kill(reason: TidemarkError): void {
    this.#die(reason);
  }

  #ask(request: Unnumbered): Promise<unknown> {
    if (this.#death) return Promise.reject(this.#death);
    const id = this.#next_id++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ ...request, id });
    });
  }

  #heard(answer: Answer): void {
    switch (answer.is) {
      case "ready":
        this.#take(0)?.resolve(undefined);
        break;
      case "done":
        this.#take(answer.id)?.resolve(answer.value);
        break;
      case "failed":
        this.#take(answer.id)?.reject(rebuilt(answer.message, answer.fields));
        break;
      case "notified":
        this.#events.notified(answer.channel, answer.payload);
        break;
      case "died":
        this.#die(stopped(answer.message));
        break;
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #die(reason: TidemarkError): void {
    if (this.#death) return;
    this.#death = reason;
    void this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    this.#events.died(reason);
  }
}

function rebuilt(message: string, fields: object | undefined): Error {
  if (fields === undefined) return new Error(message);
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), fields);
}
