/** One ordeal: workers and PostgreSQL are mistreated for a while; afterwards nothing may be lost, doubled, out of order or stale. */
import sql from "sql-template-tag";
import { type Db, Events, follow, openStore, realClock, Worker } from "tidemark";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { startPostgres } from "../postgres-server.ts";
import { scripted } from "../script.ts";
import { breaches, unfinished } from "../simulation/promises.ts";
import { type Random, seeded } from "../simulation/random.ts";
import { simulationSchema } from "../simulation/schema.ts";
import { simulatedSource } from "../simulation/source.ts";
import { FeedReader } from "./feed-reader.ts";
import { Fleet } from "./fleet.ts";

type Mistreatment = "kill" | "stop" | "freeze" | "cut" | "restart" | "grow";

/** Each happens at least once, and then at random. */
const EACH_ONCE: Mistreatment[] = ["kill", "freeze", "cut", "restart", "stop", "grow", "kill"];

function pick(random: Random): Mistreatment {
  const dice = random.next();
  if (dice < 0.3) return "kill";
  if (dice < 0.4) return "stop";
  if (dice < 0.5) return "freeze";
  if (dice < 0.62) return "cut";
  return dice < 0.67 ? "restart" : "grow";
}

export interface OrdealOptions {
  seed: number;
  /** How many mistreatments. */
  rounds: number;
  /** How long everything may take to come to rest afterwards. */
  rest_seconds: number;
}

export interface OrdealReport {
  breaches: string[];
  said: string[];
  /** Workers that died, by our hand or in the middle of a commit by their own. */
  kills: number;
  done: Partial<Record<Mistreatment, number>>;
  events: number;
}

const TTL_MS = 2_000;
const STREAMS = ["a", "b", "c1", "d", "c2", "e"];

export async function ordeal({ seed, rounds, rest_seconds }: OrdealOptions): Promise<OrdealReport> {
  const random = seeded(seed);
  const server = await startPostgres();
  const db = await openStore({ database_url: server.url, data: "" });
  const fleet = new Fleet({ command: (name) => workerOf(server.url, name, random), ttl_ms: TTL_MS, size: 3, random });
  const reader = new FeedReader(db);
  const report: OrdealReport = { breaches: [], said: fleet.said, kills: 0, done: {}, events: 0 };
  try {
    await prepare(db);
    await fleet.fill();
    reader.start();
    for (let round = 0; round < rounds; round += 1) {
      await realClock.sleep(random.between(100, 600));
      const what = EACH_ONCE[round] ?? pick(random);
      if (what === "kill") fleet.kill();
      else if (what === "stop") fleet.stop();
      else if (what === "freeze") await fleet.freeze();
      else if (what === "cut") await patiently(() => cutConnections(db));
      else if (what === "grow") await patiently(() => grow(db));
      else await server.stop().then(server.start);
      report.done[what] = (report.done[what] ?? 0) + 1;
      await fleet.fill();
      report.breaches.push(...(await patiently(() => breaches(db, true))));
    }
    const lengths = await patiently(() => lengthsOf(db));
    report.events = [...lengths.values()].reduce((sum, n) => sum + n, 0);
    report.breaches.push(...(await rest(db, lengths, rest_seconds)), ...(await reader.stop()));
    report.kills = fleet.kills;
    await fleet.end("SIGTERM");
    report.breaches.push(...(await leftovers(db)));
  } finally {
    await reader.stop();
    await fleet.end("SIGKILL");
    await db.close();
    await server.remove();
  }
  return { ...report, breaches: [...new Set(report.breaches)] };
}

/** The chance that it kills itself at a point inside a commit comes last. */
function workerOf(url: string, name: string, random: Random): [string, ...string[]] {
  return ["worker-process.ts", url, name, String(random.between(1, 1e9)), String(TTL_MS), "0.002"];
}

async function prepare(db: Db): Promise<void> {
  await migrate(db, [await readMigrations("tidemark", engineFolder)]);
  await db.transaction((tx) =>
    scripted(tx).script(`${simulationSchema} create table sim.length (stream text primary key, length int not null);`),
  );
  const source = simulatedSource(() => 0, realClock, seeded(1), { pause_ms: 1, every: "5s", virtual: false });
  const parts = { db, clock: realClock, events: new Events(), sources: [source], name: "test", user_agent: "chaos" };
  const settings = {
    slots: 1,
    lease_ttl_ms: TTL_MS,
    grace_ms: 0,
    slice_ms: 1,
    pull_timeout_ms: 1,
    park_after: 8,
    cool_off_ms: 1,
    messages_max: 1,
  };
  const { lanes } = new Worker({ ...parts, settings });
  for (const stream of STREAMS) {
    await db.query(sql`insert into sim.length (stream, length) values (${stream}, 60)`);
    await follow(db, lanes, "sim", stream);
  }
}

/** While PostgreSQL is away or just cut us off, tries again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= 100) throw error;
      await realClock.sleep(100);
    }
  }
}

async function cutConnections(db: Db): Promise<void> {
  await db.query(sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'chaos-%'`);
}

async function grow(db: Db): Promise<void> {
  await db.query(sql`update sim.length set length = length + 10`);
}

async function lengthsOf(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.query<{ stream: string; length: number }>(sql`select stream, length from sim.length`);
  return new Map(rows.map((r) => [r.stream, r.length]));
}

/** Without further trouble everything is mirrored and handled; otherwise says what is not. */
async function rest(db: Db, lengths: Map<string, number>, seconds: number): Promise<string[]> {
  const begun = realClock.elapsed_ms();
  for (;;) {
    const open = await patiently(() => unfinished(db, lengths));
    const found = await patiently(() => breaches(db, true));
    if (open.length === 0 || found.length > 0) return found;
    if (realClock.elapsed_ms() - begun > seconds * 1000) return open.map((what) => `unfinished: ${what}`);
    await realClock.sleep(250);
  }
}

/** Who stops in good order deletes its row, and so cannot be the holder of a lease. */
async function leftovers(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ n: number }>(sql`
    select count(d.resource_id)::int as n from tidemark.due d
     where d.lease_until > tidemark.now() and not exists (select 1 from tidemark.worker w where w.worker_id = d.worker_id)`);
  return rows[0]!.n === 0 ? [] : [`${rows[0]!.n} leases are left by workers that stopped in good order`];
}
