/** Real worker processes that are killed, stopped and started again at random. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Clock, realClock } from "tidemark";
import type { Random } from "../simulation/random.ts";

const file = fileURLToPath(new URL("./worker-process.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

export interface FleetOptions {
  url: string;
  ttl_ms: number;
  size: number;
  random: Random;
  /** The chance that a worker kills itself at a point inside a commit. */
  suicide: number;
  clock?: Clock;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #children = new Set<ChildProcess>();
  readonly said: string[] = [];
  #n = 0;
  kills = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get pids(): number[] {
    return [...this.#children].map((c) => c.pid!);
  }

  /** Starts workers until the fleet has its size; each says when it runs. */
  async fill(): Promise<void> {
    const { url, ttl_ms, size, random, suicide } = this.#options;
    while (this.#children.size < size) {
      this.#n += 1;
      const args = [url, `chaos-${this.#n}`, String(random.between(1, 1e9)), String(ttl_ms), String(suicide)];
      const child = spawn(process.execPath, ["--import", "tsx", file, ...args], {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
      });
      this.#children.add(child);
      child.stderr!.on("data", (part) => this.said.push(String(part)));
      child.on("exit", (code, signal) => {
        this.#children.delete(child);
        if (signal === "SIGKILL") this.kills += 1;
        else if (code !== 0) this.said.push(`a worker ended with ${code ?? signal}`);
      });
      await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
    }
  }

  #any(): ChildProcess | undefined {
    return [...this.#children][this.#options.random.between(0, this.#children.size - 1)];
  }

  /** Without any chance to tidy up. */
  kill(): void {
    this.#any()?.kill("SIGKILL");
  }

  /** In good order. */
  stop(): void {
    this.#any()?.kill("SIGTERM");
  }

  /** Stands still for longer than a lease lives, then goes on as if nothing had happened. */
  async freeze(): Promise<void> {
    const child = this.#any();
    if (!child) return;
    child.kill("SIGSTOP");
    await (this.#options.clock ?? realClock).sleep(this.#options.ttl_ms * 1.5);
    child.kill("SIGCONT");
  }

  /** Ends everyone: in good order, or at once. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await Promise.all(
      [...this.#children].map(async (child) => {
        const gone = once(child, "exit");
        child.kill("SIGCONT");
        child.kill(signal);
        await gone;
      }),
    );
  }
}
