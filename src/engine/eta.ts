/** A resource's place in line and when its turn will have come: what is ahead divided by what was done of late. */
import sql from "sql-template-tag";
import type { Budget, Kind } from "../contract.ts";
import type { Queryable } from "../store/db.ts";
import { RATE_MINUTES } from "./overview.ts";

/** Beyond this many nobody counts places. */
const AHEAD_MOST = 100_000;
/** So many of those ahead are asked how much is left of them; the others are taken to be like them. */
const ASKED_MOST = 1_000;

export interface InLine {
  resource_id: bigint;
  source: string;
  kind: string;
  status: string;
  lane_id: number;
  first_come: boolean;
  due_at: string | null;
  asked_at: string | null;
  now: string;
  /** Until when nothing of its lane is pulled, because its upstream is closed. */
  closed_until: string | null;
}

/** What is ahead of a resource in its lane, itself included. */
export interface Ahead {
  /** Claimable resources ahead, counted up to a bound. */
  ahead: number;
  /** Leases that live in the lane now. */
  leased: number;
  /** Of how many of these, the resource itself included, progress was looked at … */
  looked_at: number;
  /** … what is left of it, as far as it is known … */
  remaining: number;
  /** … and how many of them have not said how much there is. */
  unknown: number;
}

export interface Line {
  /** 1 is next; null for a resource that is not waiting its turn. */
  place: number | null;
  eta_ms: number | null;
}

/** What was done lately: progress of the lane, and pulls of the kind that came to an end. */
export interface Rates {
  progress_per_ms: number;
  pulls_per_ms: number;
}

/** What the upstream allows, as far as it bounds pulls: `pulls` of them share a call. */
export interface Pace {
  calls_per_ms: number;
  burst: number;
  pulls: number;
}

/**
 * What a resource's upstream allows to all of its calls, of each of its budgets: an even pace, a window as often as it begins anew, one
 * call after the other with a gap. What each account, host or group is allowed says nothing about a line of many of them.
 */
export function pacesOf(kind: Kind, key: string, options: Record<string, unknown>): Pace[] {
  const upstream = typeof kind.upstream === "function" ? kind.upstream(key, options) : kind.upstream;
  const pulls = kind.together?.most ?? 1;
  const all = [...Object.values(upstream.budgets ?? {}), ...(upstream.budget ? [upstream.budget] : [])];
  return all.filter(({ by = "upstream" }) => by === "upstream").map((budget) => ({ ...paceOf(budget), pulls }));
}

function paceOf(budget: Budget): Omit<Pace, "pulls"> {
  switch (budget.shape) {
    case "pace":
      return { calls_per_ms: budget.per_second / 1000, burst: budget.burst };
    case "window":
      return { calls_per_ms: budget.most / budget.period_ms, burst: budget.most };
    case "gap":
      return { calls_per_ms: 1 / Math.max(1, budget.gap_ms), burst: 1 };
  }
}

/** The rate of late, but for those that wait no sooner than their calls are allowed: what a burst did is not done again at once. */
export function estimate(ahead: Ahead, rates: Rates, leased: boolean, paces: Pace[] = []): number | null {
  const eta_ms = atRate(ahead, rates, leased);
  if (eta_ms === null || leased) return eta_ms;
  const allowed_ms = paces.map(({ calls_per_ms, burst, pulls }) => {
    // At least one call for as many as can share it.
    const calls = Math.ceil((ahead.ahead + 1) / pulls);
    return Math.round((calls - burst) / calls_per_ms);
  });
  return Math.max(eta_ms, ...allowed_ms);
}

/**
 * ETA = remaining progress of all that is ahead ÷ the moving rate of the lane. Where nothing in the line reports
 * progress a pull is the unit; where some do and some do not, nothing is known and nothing is said.
 */
function atRate(ahead: Ahead, rates: Rates, leased: boolean): number | null {
  const count = ahead.ahead + ahead.leased + (leased ? 0 : 1);
  if (ahead.unknown === 0) {
    if (rates.progress_per_ms <= 0) return null;
    const all = (ahead.remaining * count) / Math.max(1, ahead.looked_at);
    return Math.round(all / rates.progress_per_ms);
  }
  if (ahead.unknown < ahead.looked_at || rates.pulls_per_ms <= 0) return null;
  return Math.round(count / rates.pulls_per_ms);
}

/** Place and ETA of a resource that is due or leased; the others are not in line. */
export async function readLine(db: Queryable, row: InLine, paces: Pace[]): Promise<Line> {
  if (row.status !== "due" && row.status !== "leased") return { place: null, eta_ms: null };
  const leased = row.status === "leased";
  const ahead = leased ? await readBeside(db, row) : await readAhead(db, row);
  const rates = await readRates(db, row);
  const eta_ms = estimate(ahead, rates, leased, paces);
  const closed_ms = row.closed_until === null ? 0 : Math.max(0, Date.parse(row.closed_until) - Date.parse(row.now));
  return { place: leased ? null : ahead.ahead + 1, eta_ms: eta_ms === null || leased ? eta_ms : eta_ms + closed_ms };
}

/**
 * Those ahead: all that is claimable in the asked twin of a routine lane, what comes earlier in the lane's own order, and what is
 * leased. Each part is read from the index that claims use, up to the bound.
 */
export async function readAhead(db: Queryable, row: InLine): Promise<Ahead> {
  const order = row.first_come ? sql`d.asked_at` : sql`d.due_at`;
  const at = row.first_come ? row.asked_at : row.due_at;
  const { rows } = await db.query<Ahead>(sql`
    with mine as (
      select lane_id, source, name, upstream, urgency from tidemark.lane where lane_id = ${row.lane_id}::int
    ), claimable as (
      (select d.resource_id from tidemark.due d
        where d.lane_id = ${row.lane_id}::int and d.lease_until is null and d.due_at <= tidemark.now()
          and (${order}, d.resource_id) < (${at}::timestamptz, ${row.resource_id}::bigint)
        limit ${AHEAD_MOST})
      union all
      (select d.resource_id
         from mine m
         join tidemark.lane a on (a.source, a.name, a.upstream, a.urgency) = (m.source, m.name, m.upstream, 'asked')
         join tidemark.due d on d.lane_id = a.lane_id and d.lease_until is null and d.due_at <= tidemark.now()
        where m.urgency = 'routine'
        limit ${AHEAD_MOST})
    ), held as (
      select d.resource_id
        from mine m
        join tidemark.lane a on (a.source, a.name, a.upstream) = (m.source, m.name, m.upstream)
        join tidemark.lease d on d.lane_id = a.lane_id and d.lease_until > tidemark.now()
    )
    select (select count(*) from claimable)::int as ahead,
           (select count(*) from held)::int as leased,
           count(*)::int as looked_at,
           coalesce(sum(greatest(0, r.progress_total - r.progress_done)), 0)::float8 as remaining,
           (count(*) filter (where r.progress_total is null or r.progress_done is null))::int as unknown
      from (select ${row.resource_id}::bigint as resource_id
            union all (select resource_id from held limit ${ASKED_MOST})
            union all (select resource_id from claimable limit ${ASKED_MOST})) w
      join tidemark.resource r on r.resource_id = w.resource_id`);
  return rows[0]!;
}

/** For one that is being pulled: it shares the lane's rate with the others that are, in equal parts. */
export async function readBeside(db: Queryable, row: InLine): Promise<Ahead> {
  const { rows } = await db.query<Ahead>(sql`
    select 0 as ahead, n.leased, 1 as looked_at,
           greatest(0, r.progress_total - r.progress_done)::float8 as remaining,
           case when r.progress_total is null or r.progress_done is null then 1 else 0 end as unknown
      from tidemark.resource r
     cross join (select count(*)::int as leased from tidemark.lease
                  where lane_id = ${row.lane_id}::int and lease_until > tidemark.now()) n
     where r.resource_id = ${row.resource_id}::bigint`);
  const beside = rows[0]!;
  return { ...beside, remaining: beside.remaining ?? 0 };
}

/** Moving rates: progress over both lanes of the pair, and pulls of the kind that ended. */
export async function readRates(db: Queryable, row: InLine): Promise<Rates> {
  const { rows } = await db.query<Rates>(sql`
    with mine as (
      select b.lane_id
        from tidemark.lane a join tidemark.lane b on (a.source, a.name, a.upstream) = (b.source, b.name, b.upstream)
       where a.lane_id = ${row.lane_id}::int
    )
    select coalesce((
             select (sum(p.done) / greatest(60000, extract(epoch from tidemark.now() - min(p.minute)) * 1000))::float8
               from tidemark.progress p
              where p.lane_id in (select lane_id from mine)
                and p.minute > tidemark.now() - ${RATE_MINUTES}::int * interval '1 minute'), 0) as progress_per_ms,
           coalesce((
             select (sum(c.pulls) / greatest(60000, extract(epoch from tidemark.now() - min(c.minute)) * 1000))::float8
               from tidemark.pull_count c
              where c.source = ${row.source} and c.kind = ${row.kind} and c.outcome in ('fresh', 'gone', 'failed')
                and c.minute > tidemark.now() - ${RATE_MINUTES}::int * interval '1 minute'), 0) as pulls_per_ms`);
  return rows[0]!;
}
