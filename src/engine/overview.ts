/** Everything that is going on, in numbers: sources, lanes, upstreams and workers, read in a few bounded statements. */
import sql, { empty, raw } from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** Above this size the hot table is sampled: 200 MB are about 1.2 million resources, and a scan of them 0.2 s. */
const SCANNED_BYTES_MAX = 200 * 1024 * 1024;
/** The span of the moving rates. */
export const RATE_MINUTES = 15;
const WORKERS_MOST = 1_000;
const GONE_COUNTED_MOST = 100_000;

export interface LaneStatus {
  lane_id: number;
  source: string;
  name: string;
  upstream: string;
  urgency: "asked" | "routine";
  first_come: boolean;
  fleet: number | null;
  due: number;
  leased: number;
  oldest_due_at: string | null;
}

export interface UpstreamStatus {
  upstream: string;
  closed_until: string | null;
  closed_reason: string | null;
}

export interface WorkerStatus {
  worker_id: number;
  name: string;
  role: string;
  started_at: string;
  seen_at: string;
  slots: number;
  busy: number;
  stopping: boolean;
}

export interface SourceStatus {
  source: string;
  followed: number;
  resources: number;
  fresh: number;
  /** Of those that are neither paused nor gone: fresh, not overdue, not failing; null when there are none. */
  fresh_percent: number | null;
  due: number;
  leased: number;
  parked: number;
  paused: number;
  gone: number;
  oldest_due_at: string | null;
  messages: number;
  messages_parked: number;
  pulls_per_minute: number;
  /** Until what is due now is pulled, at the rate of the last minutes; null when nothing is known. */
  eta_ms: number | null;
}

export interface Overview {
  now: string;
  /** Counts were taken from a sample, because there are too many resources to count in a moment. */
  estimated: boolean;
  sources: SourceStatus[];
  lanes: LaneStatus[];
  upstreams: UpstreamStatus[];
  workers: WorkerStatus[];
}

export interface LaneCount {
  lane_id: number;
  resources: number;
  living: number;
  fresh: number;
  due: number;
  leased: number;
  messages: number;
}

/** How large the hot table is; its statistics may never have been gathered, its size is always known. */
export async function dueBytes(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(sql`select pg_relation_size('tidemark.due')::float8 as bytes`);
  return rows[0]?.bytes ?? 0;
}

/** Counts by lane in one scan of the narrow table: no join, and the wide table is not touched. */
export async function countByLane(db: Queryable, percent: number): Promise<LaneCount[]> {
  const sample = percent < 100 ? raw(`tablesample system (${percent.toFixed(4)})`) : empty;
  const { rows } = await db.query<LaneCount>(sql`
    select d.lane_id,
           count(*)::float8 as resources,
           (count(*) filter (where d.due_at < 'infinity'))::float8 as living,
           (count(*) filter (where d.due_at < 'infinity' and d.fresh_at is not null and d.failures = 0
                               and (d.due_at > n.at or d.lease_until > n.at)))::float8 as fresh,
           (count(*) filter (where d.due_at <= n.at and (d.lease_until is null or d.lease_until <= n.at)))::float8 as due,
           (count(*) filter (where d.lease_until > n.at))::float8 as leased,
           sum(d.mail_seq - d.mail_done)::float8 as messages
      from tidemark.due d ${sample}
     cross join (select tidemark.now() as at) n
     group by d.lane_id`);
  const scale = (count: number) => Math.round((count * 100) / percent);
  if (percent >= 100) return rows;
  return rows.map((row) => ({
    lane_id: row.lane_id,
    resources: scale(row.resources),
    living: scale(row.living),
    fresh: scale(row.fresh),
    due: scale(row.due),
    leased: scale(row.leased),
    messages: scale(row.messages),
  }));
}

export type LaneFacts = Omit<LaneStatus, "due" | "leased">;

/** Every lane with the moment its most overdue resource fell due: one index probe each. */
export async function readLanes(db: Queryable): Promise<LaneFacts[]> {
  const { rows } = await db.query<LaneFacts>(sql`
    select l.lane_id, l.source, l.name, l.upstream, l.urgency, l.first_come, l.fleet, c.due_at as oldest_due_at
      from tidemark.lane l
      left join lateral (
        select d.due_at from tidemark.due d
         where d.lane_id = l.lane_id and d.lease_until is null and d.due_at <= tidemark.now()
         order by d.due_at limit 1) c on true
     order by l.source, l.name, l.upstream, l.urgency`);
  return rows;
}

export interface ColdCount {
  source: string;
  followed: number;
  parked: number;
  paused: number;
  gone: number;
  messages_parked: number;
}

/** What is rare or chosen by people, each from its own partial index; the gone are counted up to a bound. */
export async function countCold(db: Queryable): Promise<ColdCount[]> {
  const { rows } = await db.query<ColdCount>(sql`
    select c.source,
           sum(c.followed)::float8 as followed, sum(c.parked)::float8 as parked, sum(c.paused)::float8 as paused,
           sum(c.gone)::float8 as gone, sum(c.messages_parked)::float8 as messages_parked
      from (select source, count(*) as followed, 0 as parked, 0 as paused, 0 as gone, 0 as messages_parked
              from tidemark.resource where followed_at is not null group by source
            union all
            select source, 0, count(*), 0, 0, 0 from tidemark.resource where parked_at is not null group by source
            union all
            select source, 0, 0, count(*), 0, 0 from tidemark.resource where paused_at is not null group by source
            union all
            select g.source, 0, 0, 0, count(*), 0
              from (select source from tidemark.resource where gone_at is not null limit ${GONE_COUNTED_MOST}) g group by g.source
            union all
            select r.source, 0, 0, 0, 0, count(*)
              from (select resource_id from tidemark.message where parked_at is not null limit ${GONE_COUNTED_MOST}) m
              join tidemark.resource r on r.resource_id = m.resource_id group by r.source) c
     group by c.source`);
  return rows;
}

export interface PullRate {
  source: string;
  kind: string;
  /** All pulls, whichever way they ended. */
  per_minute: number;
  /** Those that brought their resource to an end: fresh, gone or failed. */
  ended_per_minute: number;
}

/** Pulls a minute by kind over the last minutes, or over as many as there are counts for. */
export async function readPullRates(db: Queryable): Promise<PullRate[]> {
  const { rows } = await db.query<PullRate>(sql`
    with recent as (
      select source, kind, outcome, minute, pulls from tidemark.pull_count
       where minute > tidemark.now() - ${RATE_MINUTES}::int * interval '1 minute'
    ), span as (
      select greatest(1, extract(epoch from tidemark.now() - min(minute)) / 60) as minutes from recent
    )
    select r.source, r.kind, (sum(r.pulls) / s.minutes)::float8 as per_minute,
           (coalesce(sum(r.pulls) filter (where r.outcome in ('fresh', 'gone', 'failed')), 0) / s.minutes)::float8 as ended_per_minute
      from recent r cross join span s
     group by r.source, r.kind, s.minutes`);
  return rows;
}

/** Upstreams, with why and until when the closed ones are closed. */
export async function readUpstreams(db: Queryable): Promise<UpstreamStatus[]> {
  const { rows } = await db.query<UpstreamStatus>(sql`
    select upstream,
           case when closed_until > tidemark.now() then closed_until end as closed_until,
           case when closed_until > tidemark.now() then closed_reason end as closed_reason
      from tidemark.upstream order by upstream`);
  return rows;
}

export async function readWorkers(db: Queryable): Promise<WorkerStatus[]> {
  const { rows } = await db.query<WorkerStatus>(sql`
    select worker_id, name, role, started_at, seen_at, slots, busy, stopping
      from tidemark.worker order by worker_id limit ${WORKERS_MOST}`);
  return rows;
}

async function readNow(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ now: string }>(sql`select tidemark.now() as now`);
  return rows[0]!.now;
}

/** The whole overview: about 0.2 s at a million resources, and no more beyond, where it samples. */
export async function readOverview(db: Queryable, sources: Iterable<string> = []): Promise<Overview> {
  const percent = Math.min(100, (SCANNED_BYTES_MAX * 100) / Math.max(1, await dueBytes(db)));
  const counts = await countByLane(db, percent);
  const lanes = await readLanes(db);
  const cold = await countCold(db);
  const rates = await readPullRates(db);
  const upstreams = await readUpstreams(db);
  const workers = await readWorkers(db);
  const now = await readNow(db);
  return {
    now,
    estimated: percent < 100,
    ...shapeOverview({ sources, counts, lanes, cold, rates }),
    upstreams,
    workers,
  };
}

interface Read {
  sources: Iterable<string>;
  counts: LaneCount[];
  lanes: LaneFacts[];
  cold: ColdCount[];
  rates: PullRate[];
}

const nothing: Omit<LaneCount, "lane_id"> = { resources: 0, living: 0, fresh: 0, due: 0, leased: 0, messages: 0 };

/** Puts what was read together by lane and by source; sources that are loaded but empty have a row too. */
export function shapeOverview({ sources, counts, lanes, cold, rates }: Read): Pick<Overview, "sources" | "lanes"> {
  const by_lane = new Map(counts.map((count) => [count.lane_id, count]));
  const full = lanes.map((lane) => {
    const { due, leased } = by_lane.get(lane.lane_id) ?? nothing;
    return { ...lane, due, leased };
  });
  const names = new Set([...sources, ...lanes.map((lane) => lane.source), ...cold.map((row) => row.source)]);
  const shaped = [...names].sort().map((source) => {
    const mine = lanes.filter((lane) => lane.source === source);
    const sum = mine.map((lane) => by_lane.get(lane.lane_id) ?? nothing).reduce(add, nothing);
    const rare = cold.find((row) => row.source === source);
    const my_rates = rates.filter((rate) => rate.source === source);
    const ended_per_minute = my_rates.reduce((all, rate) => all + rate.ended_per_minute, 0);
    return {
      source,
      followed: rare?.followed ?? 0,
      resources: Math.max(0, sum.resources - (rare?.gone ?? 0)),
      fresh: sum.fresh,
      fresh_percent: sum.living === 0 ? null : Math.floor((sum.fresh * 1000) / sum.living) / 10,
      due: sum.due,
      leased: sum.leased,
      parked: rare?.parked ?? 0,
      paused: rare?.paused ?? 0,
      gone: rare?.gone ?? 0,
      oldest_due_at: earliest(mine.map((lane) => lane.oldest_due_at)),
      messages: sum.messages,
      messages_parked: rare?.messages_parked ?? 0,
      pulls_per_minute: Math.round(my_rates.reduce((all, rate) => all + rate.per_minute, 0) * 10) / 10,
      eta_ms: sum.due === 0 || ended_per_minute === 0 ? null : Math.round((sum.due / ended_per_minute) * 60_000),
    };
  });
  return { sources: shaped, lanes: full };
}

function add(a: Omit<LaneCount, "lane_id">, b: Omit<LaneCount, "lane_id">): Omit<LaneCount, "lane_id"> {
  return {
    resources: a.resources + b.resources,
    living: a.living + b.living,
    fresh: a.fresh + b.fresh,
    due: a.due + b.due,
    leased: a.leased + b.leased,
    messages: a.messages + b.messages,
  };
}

/** The least of the times that are there; text of one shape compares as time does. */
function earliest(times: (string | null)[]): string | null {
  return times.reduce((least, at) => (least === null || (at !== null && at < least) ? at : least), null);
}
