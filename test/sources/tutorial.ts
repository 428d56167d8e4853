/** Runs a tutorial: every command of its page, in its order, against a demo and a pretend upstream, and compares what it shows. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, inject, vi } from "vitest";
import { main } from "../../src/main.ts";
import { type Running, tidemark } from "../flows/processes.ts";

export const PATIENCE_MS = 120_000;

export interface TutorialGiven {
  /** The name of its file in docs/tutorials. */
  page: string;
  /** What the reader's own things are called: `$NAME` on the page. */
  variables: Record<string, string>;
  /** What `npm start` is started with besides what the page says. */
  settings(): Record<string, string>;
  /** What a reader takes from what is printed at a start. */
  started?(printed: string): Record<string, string>;
}

export class Tutorial {
  readonly #given: TutorialGiven;
  readonly #variables: Record<string, string>;
  readonly blocks: { kind: string; body: string }[];
  #running: Running | null = null;
  #url = "";
  #settings: Record<string, string> = {};

  constructor(given: TutorialGiven) {
    this.#given = given;
    this.#variables = { ...given.variables };
    const text = readFileSync(new URL(`../../docs/tutorials/${given.page}.md`, import.meta.url), "utf8");
    this.blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, body]) => ({
      kind: kind!,
      body: body!.trim(),
    }));
  }

  /** The commands, each with what the page says that they print; null where it says nothing. */
  get steps(): { lines: string[]; shown: string | null }[] {
    return this.blocks.flatMap(({ kind, body }, i) => {
      const next = this.blocks[i + 1];
      const shown = next && (next.kind === "json" || next.kind === "text") ? next.body : null;
      return kind === "sh" ? [{ lines: body.split("\n"), shown }] : [];
    });
  }

  /** What is only shown, because it is about programs of others. */
  get unrun(): string[] {
    return this.blocks.filter(({ kind }) => kind === "").map(({ body }) => body);
  }

  async follow(): Promise<void> {
    for (const { lines, shown } of this.steps) {
      const printed = async () => {
        let all = "";
        for (const line of lines) all += `${(await this.#run(line)).trim()}\n`;
        return all.trim();
      };
      if (shown === null) await printed();
      // What is told of is not there from the first moment on.
      else await expect.poll(printed, { timeout: PATIENCE_MS, interval: 500 }).toMatch(asPattern(shown));
    }
  }

  async stop(signal: "SIGINT" | "SIGKILL"): Promise<void> {
    this.#running?.signal(signal);
    await this.#running?.ended;
    this.#running = null;
  }

  /** Starts what the page starts in its first terminal, in a database of its own. */
  async #start(words: string[], given: Record<string, string>): Promise<void> {
    await this.stop("SIGINT");
    this.#settings = { TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()), TIDEMARK_PORT: "0", ...given };
    this.#running = tidemark(words, this.#settings);
    await this.#running.says("Stop:    Ctrl-C");
    this.#url = /Look: +(http:\/\/[\d.:]+)/.exec(this.#running.err)![1]!;
    Object.assign(this.#variables, this.#given.started?.(this.#running.err));
  }

  /** A command of the second terminal, in this process: starting one for each would take most of the time. */
  async #commanded(words: string[]): Promise<{ code: number; out: string }> {
    for (const [name, value] of Object.entries({ ...this.#settings, NO_COLOR: "1" })) vi.stubEnv(name, value);
    let out = "";
    const write = (chunk: unknown): boolean => {
      out += String(chunk);
      return true;
    };
    const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, "write").mockImplementation(write));
    try {
      const code = await main(words);
      return { code, out };
    } finally {
      for (const spy of spies) spy.mockRestore();
      vi.unstubAllEnvs();
    }
  }

  /** What a line of the page prints. */
  async #run(line: string): Promise<string> {
    const named = line.replace(/\$(\w+)/g, (_, name) => this.#variables[name]!);
    const [, names, command] = /^((?:\w+="[^"]*" )*)(.*)$/.exec(named)!;
    const given = Object.fromEntries([...names!.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value!]));
    const [, address] = /^curl '([^']+)'$/.exec(command!) ?? [];
    if (address) return (await fetch(address.replace("http://127.0.0.1:8080", this.#url))).text();
    if (command === "npm ci") return "";
    if (command === "npm run demo") await this.#start(["up", "--demo"], {});
    else if (command === "npm start") await this.#start(["up"], { ...given, ...this.#given.settings() });
    else if (command!.startsWith("node dist/main.js ")) {
      const { code, out } = await this.#commanded(command!.split(" ").slice(2));
      expect(code, `${line}\n${out}`).toBe(0);
      return out;
    } else throw new Error(`nobody knows how to try: ${line}`);
    return "";
  }
}

const asPattern = (shown: string): RegExp =>
  new RegExp(`^${shown.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[\\s\\S]*?")}$`);
