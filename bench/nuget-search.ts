/** How long a search among many packages takes: over HTTP on loopback, client and server in one process. */
import { once } from "node:events";
import { Agent, get, type Server as HttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import sql from "sql-template-tag";
import { type Context, type Db, realClock } from "../src/index.ts";
import { putRows } from "../src/mirror/table.ts";
import { readOnly } from "../src/server/reading.ts";
import { Leaf } from "../src/sources/nuget/leaf.ts";
import { packageRow } from "../src/sources/nuget/package-row.ts";
import { nuget } from "../src/sources/nuget/source.ts";
import { versions } from "../src/sources/nuget/tables.ts";
import { rowOf } from "../src/sources/nuget/version-state.ts";
import { percentile } from "./measure.ts";
import { numbers } from "./nuget-skew.ts";
import type { Cell } from "./table.ts";

const READ_MS_MAX = 10_000;
const PART = 1_000;
const WORDS = 40_000;
const FEED = 1n;
const kinds = ["json", "http", "logging", "data", "test", "tools", "core", "abstractions", "extensions", "client"];

/** Words are used as words are, the n-th as often as 1 ÷ (n + 30): the most common one in the id, tags or description of one package in seven. */
function wordsOf(next: () => number): () => string {
  const upto: number[] = [];
  for (let n = 0, sum = 0; n < WORDS; n += 1) {
    sum += 1 / (n + 30);
    upto.push(sum);
  }
  return () => {
    const at = next() * upto.at(-1)!;
    let [low, high] = [0, WORDS - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (upto[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return kinds[low] ?? wordOf(low);
  };
}

const syllables = [
  "ba",
  "de",
  "fi",
  "go",
  "hu",
  "ka",
  "le",
  "mi",
  "no",
  "pu",
  "ra",
  "se",
  "ti",
  "vo",
  "wu",
  "za",
  "be",
  "di",
  "fo",
  "gu",
];
const wordOf = (n: number): string =>
  [n % 20, Math.floor(n / 20) % 20, Math.floor(n / 400) % 20, Math.floor(n / 8_000)].map((k) => syllables[k]).join("");

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** Packages with two versions each, written as the source writes them. */
export async function fillPackages(db: Db, packages: number): Promise<void> {
  await db.query(sql`
    insert into nuget.feed (feed_id, url, catalog_url, checked_ms) values (${FEED}::bigint, 'http://feed.example/', 'http://feed.example/', 0)`);
  await db.query(sql`insert into tidemark.upstream (upstream) values ('feed.example')`);
  await db.query(sql`
    insert into tidemark.lane (source, name, upstream, urgency) values ('nuget', 'catalog', 'feed.example', 'routine')`);
  await db.query(sql`
    with made as (
      insert into tidemark.resource (source, kind, key) values ('nuget', 'catalog', 'http://feed.example/') returning resource_id
    )
    insert into tidemark.due (resource_id, lane_id, due_at, fresh_at)
    select m.resource_id, l.lane_id, tidemark.now() + interval '1 day', tidemark.now() from made m, tidemark.lane l`);
  // Where the public cursor stands still, all packages are counted once.
  await db.query(sql`
    insert into tidemark.tidemark (resource_id, internal, position) select resource_id, 1, 1 from tidemark.resource`);
  const word = wordsOf(numbers(7));
  for (let at = 0; at < packages; at += PART) {
    const part = Array.from({ length: Math.min(PART, packages - at) }, (_, i) => packageOf(at + i, word));
    await db.transaction(async (tx) => {
      await putRows(
        tx,
        versions,
        part.flatMap((one) => one.rows),
      );
      await part[0]!.row.write(
        tx,
        part.map((one) => one.row.value),
      );
    });
  }
  for (const name of ["nuget.version", "nuget.package"]) await db.query(sql([`vacuum analyze ${name}`]));
}

function packageOf(n: number, word: () => string) {
  const id = `${capital(word())}.${capital(word())}.${capital(word())}${n}`;
  const of = { feed_id: FEED, lower_id: id.toLowerCase(), resource_id: BigInt(n + 1) };
  const leaf = Leaf.parse({
    id,
    authors: `${word()} ${word()}`,
    description: Array.from({ length: 25 }, word).join(" "),
    tags: [word(), word(), word()],
    ...(n % 50 === 0 ? { packageTypes: [{ name: "DotnetTool" }] } : {}),
  });
  const ticks = BigInt(n + 1);
  const rows = ["1.0.0", n % 5 === 0 ? "2.0.0-beta.1" : "2.0.0"].map((version) =>
    rowOf(of, { leaf: `http://feed.example/${id}`, stamp: "", ticks, id, version, version_key: version }, leaf),
  );
  return { rows, row: packageRow({ ...of, id, id_ticks: ticks, ticks }) };
}

const questions: [string, (at: number, packages: number) => string][] = [
  ["nothing in particular, as a browser begins", () => "q=&take=26&prerelease=true&semVerLevel=2.0.0"],
  ["the most common word", () => "q=json&semVerLevel=2.0.0"],
  ["a common word", (at) => `q=${kinds[1 + Math.floor(at * 9)]}&prerelease=true&semVerLevel=2.0.0`],
  ["two common words", (at) => `q=${kinds[Math.floor(at * 9)]}+${kinds[Math.floor(at * 9) + 1]}`],
  ["a word", (at) => `q=${wordOf(10 + Math.floor(at * 500))}`],
  ["a rare word", (at) => `q=${wordOf(500 + Math.floor(at * 30_000))}`],
  ["the beginning of a word", (at) => `q=${wordOf(1 + Math.floor(at * 380)).slice(0, 5)}&semVerLevel=2.0.0`],
  ["an id", (at, packages) => `q=packageid:json.http.core${Math.floor(at * packages)}`],
  ["of a type", (at) => `q=${kinds[Math.floor(at * 10)]}&packageType=DotnetTool`],
  ["far behind", (at) => `q=${wordOf(10 + Math.floor(at * 50))}&skip=500&take=100`],
];

export interface Searched {
  /** Over all questions. */
  p95_ms: number | null;
  rows: Cell[][];
}

/** Asks each question so many times, one call after the other. */
export async function askSearch(db: Db, packages: number, times: number): Promise<Searched> {
  const app = new Hono();
  const context: Partial<Context> = { read: readOnly(db, realClock, READ_MS_MAX) };
  nuget().routes!(app, context as Context);
  const server = createAdaptorServer({ fetch: app.fetch }) as HttpServer;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/nuget/v3/search`;
  const agent = new Agent({ keepAlive: true });
  const all: number[] = [];
  const rows: Cell[][] = [];
  for (const [what, query] of questions) {
    const took_ms: number[] = [];
    let hits = 0;
    // The first few are left out: connections are made and code is compiled.
    for (let n = -5; n < times; n += 1) {
      const begun_ms = performance.now();
      const { totalHits } = await read(`${url}?${query(((n + 5) * 0.618_034) % 1, packages)}`, agent);
      if (n < 0) continue;
      took_ms.push(performance.now() - begun_ms);
      hits += totalHits / times;
    }
    all.push(...took_ms);
    rows.push([what, hits, percentile(took_ms, 0.5), percentile(took_ms, 0.95)]);
  }
  agent.destroy();
  server.closeAllConnections();
  server.close();
  return { p95_ms: percentile(all, 0.95), rows };
}

async function read(url: string, agent: Agent): Promise<{ totalHits: number }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { agent }, resolve).on("error", reject),
  );
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  if (answer.statusCode !== 200) throw new Error(body);
  return JSON.parse(body) as { totalHits: number };
}
