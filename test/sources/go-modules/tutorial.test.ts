/** Runs the tutorial: every command of it, in its order, against a demo and a pretend GitHub, and compares what it shows. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { type ServedGitHub, serveGitHub } from "../../../src/demo/github/server.ts";
import { main } from "../../../src/main.ts";
import { type Running, tidemark } from "../../flows/processes.ts";
import { gomod } from "./rig.ts";

const PATIENCE_MS = 120_000;
const text = readFileSync(new URL("../../../docs/tutorials/go-modules.md", import.meta.url), "utf8");
const variables: Record<string, string> = { TOKEN: "token-of-bot", OWNER: "acme" };

let served: ServedGitHub;
let running: Running | null = null;
let url = "";
let settings: Record<string, string> = {};

beforeAll(async () => {
  const hub = new GitHub();
  hub.account("bot");
  for (const name of ["acme/cache", "acme/queue"]) {
    hub.repository(name);
    hub.push(name, "v1.0.0", { files: gomod(`github.com/${name}`) });
  }
  served = await serveGitHub(hub, () => performance.timeOrigin + performance.now());
});
afterAll(async () => {
  await stop("SIGKILL");
  await served.close();
});

async function stop(signal: "SIGINT" | "SIGKILL"): Promise<void> {
  running?.signal(signal);
  await running?.ended;
  running = null;
}

/** Starts what the page starts in its first terminal, in a database of its own. */
async function start(words: string[], given: Record<string, string>): Promise<void> {
  await stop("SIGINT");
  settings = { TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()), TIDEMARK_PORT: "0", ...given };
  running = tidemark(words, settings);
  await running.says("Stop:    Ctrl-C");
  url = /Look: +(http:\/\/[\d.:]+)/.exec(running.err)![1]!;
}

/** A command of the second terminal, in this process: starting one for each would take most of the time. */
async function commanded(words: string[]): Promise<{ code: number; out: string }> {
  for (const [name, value] of Object.entries({ ...settings, NO_COLOR: "1" })) vi.stubEnv(name, value);
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
async function run(line: string): Promise<string> {
  const [, names, command] = /^((?:\w+="[^"]*" )*)(.*)$/.exec(line.replace(/\$(\w+)/g, (_, name) => variables[name]!))!;
  const given = Object.fromEntries([...names!.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value!]));
  const [, address] = /^curl '([^']+)'$/.exec(command!) ?? [];
  if (address) return (await fetch(address.replace("http://127.0.0.1:8080", url))).text();
  if (command === "npm ci") return "";
  if (command === "npm run demo") await start(["up", "--demo"], {});
  else if (command === "npm start")
    await start(["up"], { ...given, GITHUB_URL: served.url, TIDEMARK_ALLOW_PRIVATE: "127.0.0.1" });
  else if (command!.startsWith("node dist/main.js ")) {
    const { code, out } = await commanded(command!.split(" ").slice(2));
    expect(code, `${line}\n${out}`).toBe(0);
    return out;
  } else throw new Error(`nobody knows how to try: ${line}`);
  return "";
}

const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, body]) => ({
  kind,
  body: body!.trim(),
}));

/** The commands, each with what the page says that they print; null where it says nothing. */
const steps = blocks.flatMap(({ kind, body }, i) => {
  const next = blocks[i + 1];
  const shown = next && (next.kind === "json" || next.kind === "text") ? next.body : null;
  return kind === "sh" ? [{ lines: body.split("\n"), shown }] : [];
});

const asPattern = (shown: string): RegExp =>
  new RegExp(`^${shown.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[\\s\\S]*?")}$`);

it("says what happens", { timeout: 8 * PATIENCE_MS }, async () => {
  expect(steps.length).toBeGreaterThan(8);
  for (const { lines, shown } of steps) {
    const printed = async () => {
      let all = "";
      for (const line of lines) all += `${(await run(line)).trim()}\n`;
      return all.trim();
    };
    if (shown === null) await printed();
    // What is told of is not there from the first moment on.
    else await expect.poll(printed, { timeout: PATIENCE_MS, interval: 500 }).toMatch(asPattern(shown));
  }
});

it("shows settings and addresses of others as they are", () => {
  const unrun = blocks.filter(({ kind }) => kind === "").map(({ body }) => body);
  expect(unrun.join("\n")).toContain("GO_MODULE_INDEX_URL=http://127.0.0.1:8080/go/index");
  expect(unrun).toHaveLength(3);
});
