/** What happened of late, for those who look back: pulls by the minute, and how much was fresh, noted once a minute. */
import sql from "sql-template-tag";
import type { Queryable, Tx } from "../store/db.ts";
import { readOverview } from "./overview.ts";

/** More moments than these no screen shows. */
const MOMENTS_MOST = 180;
export const HISTORY_HOURS_MOST = 168;

/** Notes how much of each source is fresh, unless somebody has done so in this minute; the count of what was noted. */
export async function noteFreshness(tx: Tx): Promise<number> {
  const { rows } = await tx.query(
    sql`select 1 as one from tidemark.freshness where minute = date_trunc('minute', tidemark.now()) limit 1`,
  );
  if (rows.length > 0) return 0;
  const { sources } = await readOverview(tx);
  const { count } = await tx.query(sql`
    insert into tidemark.freshness (source, minute, fresh_percent, due)
    select s.source, date_trunc('minute', tidemark.now()), s.fresh_percent, s.due
      from unnest(${sources.map((s) => s.source)}::text[], ${sources.map((s) => s.fresh_percent)}::float8[],
                  ${sources.map((s) => s.due)}::bigint[]) as s(source, fresh_percent, due)
    on conflict (minute, source) do nothing`);
  return count;
}

export async function dropOldFreshness(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    delete from tidemark.freshness where ctid = any(array(
      select ctid from tidemark.freshness where minute < tidemark.now() - interval '7 days' limit ${most}))`);
  return count;
}

export interface SourceHistory {
  source: string;
  /** All that ended between this moment and the next, whichever way; those that changed something; those that failed. */
  pulls: number[];
  changed: number[];
  failed: number[];
  /** On average; null where nothing was noted. */
  fresh_percent: (number | null)[];
  due: (number | null)[];
}

export interface History {
  now: string;
  step_ms: number;
  /** When each step begins; the last one is not over. */
  moments: string[];
  sources: SourceHistory[];
}

/** The last hours in equal steps of whole minutes, so wide that a screen can show them. */
export async function readHistory(db: Queryable, hours: number): Promise<History> {
  const step_minutes = Math.ceil((hours * 60) / MOMENTS_MOST);
  const { now, moments } = await readMoments(db, hours, step_minutes);
  const pulls = await readPullSteps(db, moments[0]!, step_minutes);
  const freshness = await readFreshnessSteps(db, moments[0]!, step_minutes);
  const names = [...new Set([...pulls, ...freshness].map((row) => row.source))].sort();
  const sources = names.map((source) => {
    const pulled = new Map(pulls.filter((row) => row.source === source).map((row) => [row.moment, row]));
    const noted = new Map(freshness.filter((row) => row.source === source).map((row) => [row.moment, row]));
    return {
      source,
      pulls: moments.map((at) => pulled.get(at)?.pulls ?? 0),
      changed: moments.map((at) => pulled.get(at)?.changed ?? 0),
      failed: moments.map((at) => pulled.get(at)?.failed ?? 0),
      fresh_percent: moments.map((at) => noted.get(at)?.fresh_percent ?? null),
      due: moments.map((at) => noted.get(at)?.due ?? null),
    };
  });
  return { now, step_ms: step_minutes * 60_000, moments, sources };
}

async function readMoments(db: Queryable, hours: number, step: number): Promise<{ now: string; moments: string[] }> {
  const { rows } = await db.query<{ now: string; moment: string }>(sql`
    select n.now, m.moment
      from (select tidemark.now() as now) n
     cross join lateral generate_series(
       ${bin(sql`n.now - ${hours}::int * interval '1 hour'`, step)}, n.now, ${step}::int * interval '1 minute') as m(moment)
     order by m.moment`);
  return { now: rows[0]!.now, moments: rows.map((row) => row.moment) };
}

interface PullStep {
  source: string;
  moment: string;
  pulls: number;
  changed: number;
  failed: number;
}

async function readPullSteps(db: Queryable, from: string, step: number): Promise<PullStep[]> {
  const { rows } = await db.query<PullStep>(sql`
    select source, ${bin(sql`minute`, step)} as moment, sum(pulls)::float8 as pulls, sum(changed)::float8 as changed,
           coalesce(sum(pulls) filter (where outcome = 'failed'), 0)::float8 as failed
      from tidemark.pull_count where minute >= ${from}::timestamptz
     group by 1, 2`);
  return rows;
}

interface FreshnessStep {
  source: string;
  moment: string;
  fresh_percent: number | null;
  due: number;
}

async function readFreshnessSteps(db: Queryable, from: string, step: number): Promise<FreshnessStep[]> {
  const { rows } = await db.query<FreshnessStep>(sql`
    select source, ${bin(sql`minute`, step)} as moment, avg(fresh_percent) as fresh_percent, avg(due)::float8 as due
      from tidemark.freshness where minute >= ${from}::timestamptz
     group by 1, 2`);
  return rows;
}

/** The beginning of the step that a time is in. */
function bin(at: ReturnType<typeof sql>, step_minutes: number) {
  return sql`date_bin(${step_minutes}::int * interval '1 minute', ${at}, 'epoch')`;
}
