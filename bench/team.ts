/** The processes of one contestant, started and spoken to by the one that measures. */
import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import { realClock } from "../src/index.ts";
import type { Call, Contestant, Followed, Messages, Progress, Reply, Work } from "./contestant.ts";

export type Name = "tidemark" | "graphile" | "pgboss" | "nuget-tidemark" | "nuget-graphile";

/** All contestants run on the same Node, the one that the newest of them needs. */
export const node = path.join(import.meta.dirname, "node_modules", "node", "bin", "node");

/**
 * Young objects get the room that Node 20 gives them; newer ones take three times as much memory, unasked. Ours asks for less where
 * it is started (`src/main.ts`), and so it does here.
 */
const young: Record<Name, string> = {
  tidemark: "--max-semi-space-size=4",
  graphile: "--max-semi-space-size=16",
  pgboss: "--max-semi-space-size=16",
  "nuget-tidemark": "--max-semi-space-size=4",
  "nuget-graphile": "--max-semi-space-size=16",
};
const STOP_MS_MAX = 15_000;

/** Every process under way, to be ended when the benchmark ends early. */
const alive = new Set<ChildProcess>();

export function endAll(): void {
  for (const child of alive) child.kill("SIGKILL");
}

class Member {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  readonly #gone: Promise<void>;
  #id = 0;

  constructor(name: Name, options: string[], flags: string[]) {
    const program = path.join(import.meta.dirname, "peers", `${name}.ts`);
    const child = fork(program, options, {
      execPath: node,
      execArgv: ["--disable-warning=ExperimentalWarning", young[name], ...flags],
    });
    this.#child = child;
    alive.add(child);
    child.on("message", ({ id, result, error }: Reply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(`${name}: ${error}`));
    });
    this.#gone = new Promise((resolve) => {
      child.on("exit", (code, signal) => {
        alive.delete(child);
        for (const { reject } of this.#waiting.values()) reject(new Error(`${name} ended early (${code ?? signal})`));
        resolve();
      });
    });
  }

  call<R>(verb: Call["verb"], argument?: unknown): Promise<R> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.#child.send({ id, verb, argument } satisfies Call, (error) => error && reject(error));
    });
  }

  /** Stops it; what does not come to an end by itself is ended. */
  async stop(): Promise<void> {
    const patience = new AbortController();
    const late = realClock.sleep(STOP_MS_MAX, patience.signal).then(() => {
      if (!patience.signal.aborted) this.#child.kill("SIGKILL");
    });
    await this.call("stop").catch((error) => process.stderr.write(`${String(error)}\n`));
    patience.abort();
    await late;
  }

  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#gone;
  }
}

export interface TeamOptions {
  name: Name;
  url: string;
  processes?: number;
  /** What else the contestant is told, as the text of its command line. */
  more?: string[];
  /** For Node itself, such as a profile. */
  flags?: string[];
}

export class Team implements Contestant {
  readonly name: Name;
  readonly #members: Member[];

  constructor({ name, url, processes = 1, more = [], flags = [] }: TeamOptions) {
    this.name = name;
    this.#members = Array.from({ length: processes }, () => new Member(name, [url, ...more], flags));
  }

  /** One of them does it for all. */
  prepare(followed: Followed): Promise<void> {
    return this.#members[0]!.call("prepare", followed);
  }

  async enqueue(count: number): Promise<void> {
    const part = Math.ceil(count / this.#members.length);
    await Promise.all(this.#members.map((m) => m.call("enqueue", part)));
  }

  /** One poster: what one key gets has one order. */
  post(messages: Messages): Promise<void> {
    return this.#members[0]!.call("post", messages);
  }

  async start(work: Work): Promise<void> {
    await Promise.all(this.#members.map((m) => m.call("start", work)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((m) => m.stop()));
  }

  async progress(): Promise<Progress> {
    const all = await Promise.all(this.#members.map((m) => m.call<Progress>("progress")));
    return {
      done: all.reduce((sum, p) => sum + p.done, 0),
      out_of_order: all.reduce((sum, p) => sum + p.out_of_order, 0),
      rss_most_bytes: Math.max(...all.map((p) => p.rss_most_bytes)),
      cpu_ms: all.reduce((sum, p) => sum + p.cpu_ms, 0),
      claims_ms: all.flatMap((p) => p.claims_ms),
    };
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map((m) => m.end()));
  }
}
