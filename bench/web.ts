/** The web source against Crawlee and wget on one site, and its search against ranking everything. */
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";
import { node } from "./team.ts";
import { measureSearch } from "./web-search.ts";

interface Crawled {
  ms: number;
  pages: number;
  rss: number;
}
interface Told {
  requests: number;
  bytes: number;
  seen: number;
}

const AT_ONCE = 8;
const flags = ["--disable-warning=ExperimentalWarning"];
const at = (name: string) => path.join(import.meta.dirname, name);

/** What a process says first. */
const said = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`${child.spawnargs.at(-2)} ended early (${code})`)));
  });

class Site {
  readonly #child: ChildProcess;
  url = "";

  constructor(pages: number) {
    this.#child = fork(at("web-site.ts"), [String(pages)], { execPath: node, execArgv: flags });
  }

  async open(): Promise<this> {
    const { port } = await said<{ port: number }>(this.#child);
    this.url = `http://127.0.0.1:${port}`;
    return this;
  }

  /** What was asked of it since the last time. */
  tell(verb: "reset" | "change"): Promise<Told> {
    const told = said<Told>(this.#child);
    this.#child.send(verb);
    return told;
  }

  close(): void {
    this.#child.kill();
  }
}

const peer = (name: string, given: string[]): Promise<Crawled> =>
  said<Crawled>(fork(at(`peers/${name}.ts`), given, { execPath: node, execArgv: flags }));

/** As it comes: one connection, files on disk. */
async function wget(url: string): Promise<Crawled | null> {
  if (spawnSync("wget", ["--version"]).status !== 0) return null;
  const folder = await mkdtemp(path.join(os.tmpdir(), "wget-"));
  const begun = performance.now();
  const child = spawn("wget", ["-q", "-r", "-l", "inf", "-e", "robots=off", "-nH", "-P", folder, `${url}/`]);
  await new Promise((resolve) => child.on("exit", resolve));
  const ms = performance.now() - begun;
  await rm(folder, { recursive: true, force: true });
  return { ms, pages: 0, rss: 0 };
}

const per_s = (pages: number, ms: number): number => (pages / ms) * 1000;
const ratio = (a: number, b: number | null): number | null => (b === null ? null : Math.round((a / b) * 100) / 100);

export async function run({ quick, atEnd }: Options): Promise<object> {
  const pages = quick ? 250 : 6_000;
  const server = await Server.start();
  atEnd(() => server.remove());
  const site = await new Site(pages).open();
  atEnd(async () => site.close());
  const rows: string[][] = [];
  const row = (name: string, { ms, rss }: Crawled, told: Told) => {
    const speed = per_s(told.seen, ms);
    rows.push([
      name,
      String(told.seen),
      speed.toFixed(0),
      (told.requests / told.seen).toFixed(3),
      rss === 0 ? "–" : `${Math.round(rss / 1e6)} MB`,
    ]);
    return speed;
  };
  // Bodies are made when they are first asked for: nobody should wait for that.
  await wget(site.url);
  await site.tell("reset");
  const many = await peer("web-tidemark", [await server.create("web_many"), site.url, String(AT_ONCE)]);
  const told = await site.tell("reset");
  const ours = row(`Tidemark, ${AT_ONCE} at once`, many, told);
  const crawlee = await peer("web-crawlee", [site.url, String(AT_ONCE)]);
  const theirs = row(`Crawlee, ${AT_ONCE} at once`, crawlee, await site.tell("reset"));
  const one = await peer("web-tidemark", [await server.create("web_one"), site.url, "1"]);
  const alone = row("Tidemark, one at a time", one, await site.tell("reset"));
  const got = await wget(site.url);
  const after = await site.tell("change");
  const gnu = got ? row("wget, one at a time", got, after) : null;
  const again = await peer("web-tidemark", [server.url("web_many"), site.url, String(AT_ONCE), "again"]);
  const second = await site.tell("reset");
  row("Tidemark, again with 1 % changed", again, second);
  process.stdout.write(`${table("Crawls", ["crawler", "pages", "pages/s", "requests/page", "memory"], rows)}\n`);
  if (!got) process.stdout.write("wget is not installed here, and was not measured.\n");
  site.close();
  const found = await measureSearch(await server.create("web_search"), quick ? 10_000 : 1_000_000, quick ? 5 : 50);
  return {
    bench: "web",
    scale: { pages, searched: quick ? 10_000 : 1_000_000 },
    pages_per_s_vs_crawlee: ratio(ours, theirs),
    pages_per_s_vs_wget: ratio(alone, gnu),
    requests_per_page: Math.round((told.requests / told.seen) * 1000) / 1000,
    recrawl_bytes_ratio: Math.round((second.bytes / told.bytes) * 10_000) / 10_000,
    ...found,
  };
}
