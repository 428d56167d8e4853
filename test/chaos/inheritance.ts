/** Who is killed leaves leases behind: how long after their end each is claimed by somebody else, by the database's own clock. */
import sql from "sql-template-tag";
import { type Db, Events, follow, openStore, realClock, Worker } from "tidemark";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { startPostgres } from "../postgres-server.ts";
import { scripted } from "../script.ts";
import { seeded } from "../simulation/random.ts";
import { Fleet } from "./fleet.ts";
import { holderSettings, holding } from "./holder-process.ts";

/** A worker that has nothing to do looks around every half of it anyway, so a second is told from chance only where that is longer. */
const TTL_MS = 6_000;
const THINGS = 60;
/** A victim holds at least so many leases. */
const LEASES_LEAST = 5;
/** Whatever is not claimed after this long is lost. */
const LOST_MS = 60_000;
/** One heartbeat takes this long where nothing is in its way. */
export const BEAT_MS = 25;

export interface Inherited {
  /** From the lease's end to the next claim; negative would be a claim on a living lease. */
  late_ms: number;
  /** Heartbeats of this machine and its database in that time: fewer than the milliseconds say where both were stalled. */
  beats: number;
  /** From the last moment at which the victim lived, to the next claim. */
  since_death_ms: number;
}

export interface InheritanceReport {
  kills: number;
  inherited: Inherited[];
  /** Leases that nobody claimed again. */
  lost: number;
  said: string[];
}

/** Notes every claim when it happens, whichever statement makes it. */
const schema = `
  create schema sim;
  create table sim.claim (resource_id bigint, lease_no bigint, at timestamptz, primary key (resource_id, lease_no));
  create table sim.beat (at timestamptz not null default clock_timestamp());
  create function sim.note_claim() returns trigger language plpgsql as $$
    begin
      insert into sim.claim values (new.resource_id, new.lease_no, clock_timestamp());
      return null;
    end $$;
  create trigger note_claim after update on tidemark.due
    for each row when (new.lease_no > old.lease_no) execute function sim.note_claim();`;

/** Kills workers one after the other, and waits each time until all that they held is held by somebody else. */
export async function inheritance(kills: number): Promise<InheritanceReport> {
  const server = await startPostgres();
  const db = await openStore({ database_url: server.url, data: "", max: 3 });
  const fleet = new Fleet({
    size: 3,
    command: (name) => ["holder-process.ts", server.url, name, String(TTL_MS)],
    random: seeded(1),
    ttl_ms: TTL_MS,
  });
  const over = new AbortController();
  const report: InheritanceReport = { kills: 0, inherited: [], lost: 0, said: fleet.said };
  let beating = Promise.resolve();
  try {
    await prepare(db);
    beating = beat(db, over.signal);
    await fleet.fill();
    while (report.kills < kills) {
      const { inherited, lost } = await killOne(db, fleet);
      report.kills += 1;
      report.inherited.push(...inherited);
      report.lost += lost;
      await fleet.fill();
    }
  } finally {
    over.abort();
    await beating;
    await fleet.end("SIGKILL");
    await db.close();
    await server.remove();
  }
  return report;
}

async function prepare(db: Db): Promise<void> {
  await migrate(db, [await readMigrations("tidemark", engineFolder)]);
  await db.transaction((tx) => scripted(tx).script(schema));
  const parts = { db, clock: realClock, events: new Events(), sources: [holding], name: "test", user_agent: "chaos" };
  const { lanes } = new Worker({ ...parts, settings: holderSettings(TTL_MS) });
  for (let n = 0; n < THINGS; n += 1) await follow(db, lanes, "held", `thing-${n}`);
}

/** As a worker has to, it waits, looks, and writes: where that takes longer, its heart beats slower. */
async function beat(db: Db, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await realClock.sleep(BEAT_MS, signal);
    await db.query(sql`select count(*)::int as n from tidemark.due where lease_until <= tidemark.now()`);
    await db.query(sql`select count(*)::int as n from tidemark.due where due_at <= tidemark.now()`);
    await db.query(sql`insert into sim.beat default values`);
  }
}

interface Left {
  resource_id: bigint;
  lease_no: bigint;
  lease_until: string;
}

async function killOne(db: Db, fleet: Fleet): Promise<{ inherited: Inherited[]; lost: number }> {
  let victim: string | undefined;
  await until(async () => {
    victim = await busiest(db, LEASES_LEAST);
    return victim !== undefined;
  });
  if (victim === undefined) throw new Error(`nobody holds ${LEASES_LEAST} leases`);
  const name = victim;
  const { rows } = await db.query<{ at: string }>(sql`select clock_timestamp() as at`);
  await fleet.killNamed(name);
  // What it had sent last may still be under way in the server.
  await until(async () => !(await isConnected(db, name)));
  const left = await leasesOf(db, name);
  let inherited: Inherited[] = [];
  await until(async () => {
    inherited = await readInherited(db, left, rows[0]!.at);
    return inherited.length === left.length;
  });
  return { inherited, lost: left.length - inherited.length };
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const begun = realClock.elapsed_ms();
  while (!(await done()) && realClock.elapsed_ms() - begun < LOST_MS) await realClock.sleep(20);
}

async function busiest(db: Db, least: number): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>(sql`
    select w.name
      from tidemark.worker w join tidemark.due d on d.worker_id = w.worker_id and d.lease_until > tidemark.now()
     group by w.name having count(*) >= ${least} order by count(*) desc limit 1`);
  return rows[0]?.name;
}

async function leasesOf(db: Db, name: string): Promise<Left[]> {
  const { rows } = await db.query<Left>(sql`
    select d.resource_id, d.lease_no, d.lease_until
      from tidemark.worker w join tidemark.due d on d.worker_id = w.worker_id and d.lease_until is not null
     where w.name = ${name}`);
  return rows;
}

async function isConnected(db: Db, name: string): Promise<boolean> {
  const { rows } = await db.query(sql`select 1 as one from pg_stat_activity where application_name = ${name} limit 1`);
  return rows.length > 0;
}

async function readInherited(db: Db, left: Left[], died_at: string): Promise<Inherited[]> {
  const { rows } = await db.query<Inherited>(sql`
    select extract(epoch from c.at - l.lease_until)::float8 * 1000 as late_ms,
           extract(epoch from c.at - ${died_at}::timestamptz)::float8 * 1000 as since_death_ms,
           (select count(*)::int from sim.beat b where b.at > l.lease_until and b.at <= c.at) as beats
      from unnest(${left.map((l) => l.resource_id)}::bigint[], ${left.map((l) => l.lease_no)}::bigint[],
                  ${left.map((l) => l.lease_until)}::timestamptz[]) as l(resource_id, lease_no, lease_until)
      join sim.claim c on c.resource_id = l.resource_id and c.lease_no = l.lease_no + 1`);
  return rows;
}
