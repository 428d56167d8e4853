/** How long the index takes to answer 2,000 lines out of many versions: over HTTP on loopback, from anywhere in the feed. */
import { once } from "node:events";
import { Agent, get, type Server as HttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import sql from "sql-template-tag";
import { type Db, realClock } from "../src/index.ts";
import { readOnly } from "../src/server/reading.ts";
import { routes } from "../src/sources/go-modules/api.ts";
import { percentile } from "./measure.ts";
import type { Server } from "./server.ts";

const BEGINNING = "2030-01-01T00:00:00Z";
const VERSIONS_EACH = 500;
const REPOSITORIES_EACH = 40;
const READ_MS_MAX = 10_000;

/** Versions of many modules, in the order of their repositories, each a millisecond after the one before; one in a hundred is deleted. */
export async function fillVersions(db: Db, versions: number): Promise<void> {
  await db.query(sql`
    insert into go_modules.version (path, version, resource_id, tag, commit_oid, published_at, deleted_at)
    select 'github.com/owner' || i / ${VERSIONS_EACH * REPOSITORIES_EACH}::int || '/repository' || i / ${VERSIONS_EACH}::int,
           'v1.' || i % ${VERSIONS_EACH}::int || '.0', 1 + i / ${VERSIONS_EACH}::int, 'v1.' || i % ${VERSIONS_EACH}::int || '.0',
           md5(i::text) || '00000000', ${BEGINNING}::timestamptz + i * interval '1 millisecond', case when i % 100 = 7 then tidemark.now() end
      from generate_series(0, ${versions - 1}::int) i`);
  // What is kept fresh is read for each answer, too: so many repositories as have these versions.
  await db.query(sql`insert into tidemark.upstream (upstream) values ('github.com')`);
  await db.query(sql`
    insert into tidemark.lane (source, name, upstream, urgency) values ('go-modules', 'repository', 'github.com', 'routine')`);
  await db.query(sql`
    with made as (
      insert into tidemark.resource (source, kind, key)
      select 'go-modules', 'repository', 'github.com/R_' || i from generate_series(1, ${Math.ceil(versions / VERSIONS_EACH)}::int) i
      returning resource_id
    )
    insert into tidemark.due (resource_id, lane_id, due_at, fresh_at)
    select m.resource_id, l.lane_id, tidemark.now() + interval '1 day', tidemark.now() from made m, tidemark.lane l`);
  for (const name of ["go_modules.version", "tidemark.resource", "tidemark.due"])
    await db.query(sql([`vacuum analyze ${name}`]));
}

export interface Asked {
  what: string;
  /** A query for each call; `at` goes from 0 to 1. */
  query(at: number): string;
}

/** 95th percentiles in ms, and how many lines there were on average. */
export interface Answers {
  what: string;
  p50_ms: number | null;
  p95_ms: number | null;
  lines: number;
  /** For each answer; on a busy machine it says more than the time it took. The client's part is in it. */
  process_cpu_ms: number;
  database_cpu_ms: number;
}

export function questions(versions: number): Asked[] {
  const moment = (at: number) => new Date(Date.parse(BEGINNING) + Math.floor(at * (versions - 2_500))).toISOString();
  const owners = Math.max(1, Math.floor(versions / VERSIONS_EACH / REPOSITORIES_EACH));
  const owner = (at: number) => Math.min(owners - 1, Math.floor(at * owners));
  const repository = (at: number) => Math.floor((at * versions) / VERSIONS_EACH);
  return [
    { what: "from anywhere", query: (at) => `since=${moment(at)}` },
    { what: "from anywhere, deleted ones too", query: (at) => `since=${moment(at)}&include=all` },
    { what: "the newest ten", query: () => `since=${new Date(Date.parse(BEGINNING) + versions - 10).toISOString()}` },
    { what: "of an owner, from the beginning", query: (at) => `prefix=github.com/owner${owner(at)}` },
    {
      what: "of a repository, from the beginning",
      query: (at) =>
        `prefix=github.com/owner${Math.floor(repository(at) / REPOSITORIES_EACH)}/repository${repository(at)}`,
    },
  ];
}

/** Asks each question so many times, one call after the other. */
export async function askFeed(db: Db, postgres: Server, versions: number, times: number): Promise<Answers[]> {
  const app = new Hono();
  routes(app, { read: readOnly(db, realClock, READ_MS_MAX) });
  const server = createAdaptorServer({ fetch: app.fetch }) as HttpServer;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/go/index`;
  const agent = new Agent({ keepAlive: true });
  const answers: Answers[] = [];
  for (const { what, query } of questions(versions)) {
    const took_ms: number[] = [];
    let lines = 0;
    let before = process.cpuUsage();
    let database_before_ms = 0;
    // The first few are left out: connections are made and code is compiled.
    for (let i = -10; i < times; i += 1) {
      if (i === 0) [before, database_before_ms] = [process.cpuUsage(), await postgres.cpu_ms()];
      const begun_ms = performance.now();
      const body = await read(`${url}?limit=2000&${query(((i + 10) * 0.618_034) % 1)}`, agent);
      if (i < 0) continue;
      took_ms.push(performance.now() - begun_ms);
      lines += body.toString().split("\n").length - 1;
    }
    const { user, system } = process.cpuUsage(before);
    answers.push({
      what,
      p50_ms: percentile(took_ms, 0.5),
      p95_ms: percentile(took_ms, 0.95),
      lines: lines / times,
      process_cpu_ms: (user + system) / 1000 / times,
      database_cpu_ms: ((await postgres.cpu_ms()) - database_before_ms) / times,
    });
  }
  agent.destroy();
  server.closeAllConnections();
  server.close();
  return answers;
}

/** A whole answer, over a connection that is kept: what a client costs is not what is measured. */
async function read(url: string, agent: Agent): Promise<Buffer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { agent }, resolve).on("error", reject),
  );
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  if (answer.statusCode !== 200) throw new Error(body.toString());
  return body;
}
