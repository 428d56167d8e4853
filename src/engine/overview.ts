/** Everything that is going on, in numbers: sources, lanes, upstreams and workers, read in a few bounded statements. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { type ColdCount, readCold, sampled } from "./cold-counts.ts";

/** Above this size a table is sampled instead of counted: 32 MB of the hot one are about 180,000 resources, and a scan 0.1 s. */
const SCANNED_BYTES_MAX = 32 * 1024 * 1024;
/** The span of the moving rates. */
export const RATE_MINUTES = 15;
const WORKERS_MOST = 1_000;
/** What is due in a lane is counted exactly up to here. */
const DUE_COUNTED_MOST = 1_000;

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
  messages: number;
}

/** How large the two tables are; their statistics may never have been gathered, their size is always known. */
export async function tableBytes(db: Queryable): Promise<{ due: number; resource: number }> {
  const { rows } = await db.query<{ due: number; resource: number }>(sql`
    select pg_relation_size('tidemark.due')::float8 as due, pg_relation_size('tidemark.resource')::float8 as resource`);
  return rows[0]!;
}

const percentOf = (bytes: number): number => Math.min(100, (SCANNED_BYTES_MAX * 100) / Math.max(1, bytes));

/** Counts by lane in one scan of the narrow table: no join, and the wide table is not touched. */
export async function countByLane(db: Queryable, percent: number): Promise<LaneCount[]> {
  const { rows } = await db.query<LaneCount>(sql`
    select d.lane_id,
           count(*)::float8 as resources,
           (count(*) filter (where d.due_at < 'infinity'))::float8 as living,
           (count(*) filter (where d.due_at < 'infinity' and d.fresh_at is not null and d.failures = 0
                               and (d.due_at > n.at or d.lease_until > n.at)))::float8 as fresh,
           (count(*) filter (where d.due_at <= n.at and (d.lease_until is null or d.lease_until <= n.at)))::float8 as due,
           sum(d.mail_seq - d.mail_done)::float8 as messages
      from tidemark.due d ${sampled(percent)}
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
    messages: scale(row.messages),
  }));
}

export interface LaneFacts extends LaneStatus {
  /** Its count of what is due stopped at the bound. */
  due_capped: boolean;
}

/** Every lane with what is due, up to a bound, since when, and how many leases live: each from the index that claims use. */
export async function readLanes(db: Queryable): Promise<LaneFacts[]> {
  const { rows } = await db.query<LaneFacts>(sql`
    select l.lane_id, l.source, l.name, l.upstream, l.urgency, l.first_come, l.fleet,
           c.due, c.due >= ${DUE_COUNTED_MOST} as due_capped, c.oldest_due_at, h.leased
      from tidemark.lane l
     cross join lateral (
       select count(*)::float8 as due, min(o.due_at) as oldest_due_at
         from (select d.due_at from tidemark.due d
                where d.lane_id = l.lane_id and d.lease_until is null and d.due_at <= tidemark.now()
                order by d.due_at limit ${DUE_COUNTED_MOST}) o) c
     cross join lateral (
       select count(*)::float8 as leased from tidemark.lease e
        where e.lane_id = l.lane_id and e.lease_until > tidemark.now()) h
     order by l.source, l.name, l.upstream, l.urgency`);
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

/** The whole overview, in less than a second however much is followed: what would take longer is taken from a sample. */
export async function readOverview(db: Queryable, sources: Iterable<string> = []): Promise<Overview> {
  const bytes = await tableBytes(db);
  const percent = percentOf(bytes.due);
  const counts = await countByLane(db, percent);
  const lanes = await readLanes(db);
  const names = [...new Set([...sources, ...lanes.map((lane) => lane.source)])].sort();
  const cold = await readCold(db, names, percentOf(bytes.resource));
  const rates = await readPullRates(db);
  const upstreams = await readUpstreams(db);
  const workers = await readWorkers(db);
  const now = await readNow(db);
  const shaped = shapeOverview({ sources: names, counts, lanes, cold, rates });
  return { now, estimated: percent < 100, ...shaped, upstreams, workers };
}

interface Read {
  sources: string[];
  counts: LaneCount[];
  lanes: LaneFacts[];
  cold: ColdCount[];
  rates: PullRate[];
}

const nothing: Omit<LaneCount, "lane_id"> = { resources: 0, living: 0, fresh: 0, due: 0, messages: 0 };

/** Puts what was read together by lane and by source. */
export function shapeOverview({ sources, counts, lanes, cold, rates }: Read): Pick<Overview, "sources" | "lanes"> {
  const by_lane = new Map(counts.map((count) => [count.lane_id, count]));
  const full = lanes.map(({ due_capped, ...lane }) => {
    const scanned = by_lane.get(lane.lane_id)?.due ?? 0;
    return { ...lane, due: due_capped ? Math.max(lane.due, scanned) : lane.due };
  });
  const shaped = sources.map((source) => {
    const mine = full.filter((lane) => lane.source === source);
    const due = mine.reduce((all, lane) => all + lane.due, 0);
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
      due,
      leased: mine.reduce((all, lane) => all + lane.leased, 0),
      parked: rare?.parked ?? 0,
      paused: rare?.paused ?? 0,
      gone: rare?.gone ?? 0,
      oldest_due_at: earliest(mine.map((lane) => lane.oldest_due_at)),
      messages: sum.messages,
      messages_parked: rare?.messages_parked ?? 0,
      pulls_per_minute: Math.round(my_rates.reduce((all, rate) => all + rate.per_minute, 0) * 10) / 10,
      eta_ms: due === 0 || ended_per_minute === 0 ? null : Math.round((due / ended_per_minute) * 60_000),
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
    messages: a.messages + b.messages,
  };
}

/** The least of the times that are there; text of one shape compares as time does. */
function earliest(times: (string | null)[]): string | null {
  return times.reduce((least, at) => (least === null || (at !== null && at < least) ? at : least), null);
}
