/** Real worker processes that are killed, stopped and started again at random. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Clock, realClock } from "tidemark";
import type { Random } from "../simulation/random.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

export interface FleetOptions {
  /** The file that a worker of this name runs, and its arguments. */
  command(name: string): [file: string, ...args: string[]];
  ttl_ms: number;
  size: number;
  random: Random;
  clock?: Clock;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #children = new Map<ChildProcess, string>();
  readonly said: string[] = [];
  #n = 0;
  kills = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Starts workers until the fleet has its size; each says when it runs. */
  async fill(): Promise<void> {
    while (this.#children.size < this.#options.size) {
      this.#n += 1;
      const name = `chaos-${this.#n}`;
      const [file, ...args] = this.#options.command(name);
      const child = spawn(process.execPath, ["--import", "tsx", path.join(folder, file), ...args], {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
      });
      this.#children.set(child, name);
      child.stderr!.on("data", (part) => this.said.push(String(part)));
      child.on("exit", (code, signal) => {
        this.#children.delete(child);
        if (signal === "SIGKILL") this.kills += 1;
        else if (code !== 0) this.said.push(`a worker ended with ${code ?? signal}`);
      });
      await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
    }
  }

  /** Kills the one of this name without any chance to tidy up. */
  async killNamed(name: string): Promise<void> {
    const [child] = [...this.#children].find(([, one]) => one === name) ?? [];
    if (!child) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  #any(): ChildProcess | undefined {
    return [...this.#children.keys()][this.#options.random.between(0, this.#children.size - 1)];
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
      [...this.#children.keys()].map(async (child) => {
        const gone = once(child, "exit");
        child.kill("SIGCONT");
        child.kill(signal);
        await gone;
      }),
    );
  }
}
