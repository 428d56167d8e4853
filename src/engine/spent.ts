/** What was spent of each allowance, what is kept and lent, who waits, and which upstreams are believed well, for those who look. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

export interface ShareStatus {
  /** Empty for calls that name no share. */
  share: string;
  /** How much of the budget is kept for it. */
  reserved: number;
  used: number | null;
  /** What it could take now. */
  left: number;
  /** It was refused a moment ago, and has to wait so long. */
  waiting: boolean;
  wait_ms: number;
}

export interface BudgetStatus {
  budget: string;
  upstream: string;
  shape: string;
  /** What it allows: in its window, in one burst, or at once. */
  room: number;
  per_second: number | null;
  period_ms: number | null;
  /** Of its window, or of the calls that may be out; null for a pace, which fills all the time. */
  used: number | null;
  left: number | null;
  /** What is kept for shares at this moment, and what full shares lend to the others. */
  reserved: number;
  lent: number;
  /** Everything that was ever taken. */
  total: number;
  window_until: string | null;
  closed_until: string | null;
  closed_reason: string | null;
  shares: ShareStatus[];
}

export interface BreakerStatus {
  upstream: string;
  breaker: "closed" | "open" | "probing";
  failing: number;
  strikes: number;
  closed_until: string | null;
  closed_reason: string | null;
}

const ROWS_MOST = 1_000;

/** Each allowance as it stands now; accounts are there only while they are closed, since they allow nothing of their own. */
export async function readBudgets(db: Queryable): Promise<BudgetStatus[]> {
  const { rows } = await db.query<BudgetStatus>(sql`
    select b.budget, b.upstream, b.shape, tidemark.budget_room(b) as room,
           nullif(b.per_ms, 0) * 1000 as per_second, nullif(b.period_ms, 0) as period_ms,
           case b.shape when 'window' then s.level + b.foreign_used when 'pace' then null else f.out end as used,
           case b.shape when 'window' then greatest(0, tidemark.budget_room(b) - s.level - b.foreign_used)
                        when 'pace' then greatest(0, s.level + b.lent) when 'account' then null else b.room - f.out end as left,
           case b.shape when 'window' then tidemark.budget_kept(b, 0) when 'pace' then coalesce(s.held, 0) else 0 end as reserved,
           b.lent, b.total,
           case when b.shape = 'window' and b.window_until > b.at then b.window_until end as window_until,
           case when b.closed_until > b.at then b.closed_until end as closed_until,
           case when b.closed_until > b.at then b.closed_reason end as closed_reason,
           s.shares
      from (select t from tidemark.budget t
             where t.shape <> 'account' or t.closed_until > tidemark.now()
             order by t.budget limit ${ROWS_MOST}) x
     cross join lateral tidemark.budget_at(x.t, tidemark.now()) b
     cross join lateral (select count(flight_id)::float8 as out from tidemark.flight f where f.budget = b.budget and f.until > b.at) f
     cross join lateral (
       select sum(l.level) as level, sum(greatest(0, l.level)) filter (where l.share <> '') as held,
              jsonb_agg(jsonb_build_object(
                'share', l.share, 'reserved', l.reserved, 'used', case when b.shape = 'window' then l.level end,
                'left', greatest(0, tidemark.budget_left(b, l.i::int)),
                'waiting', l.refused_at > b.at - interval '2 seconds',
                'wait_ms', case when l.refused_at > b.at - interval '2 seconds' then l.refused_ms else 0 end) order by l.i) as shares
         from unnest(b.share, b.reserved, b.level, b.refused_at, b.refused_ms)
              with ordinality as l(share, reserved, level, refused_at, refused_ms, i)) s
     order by b.budget`);
  return rows;
}

/** Upstreams that are not simply well. */
export async function readBreakers(db: Queryable): Promise<BreakerStatus[]> {
  const { rows } = await db.query<BreakerStatus>(sql`
    select upstream, breaker, cardinality(failing) as failing, strikes,
           case when closed_until > tidemark.now() then closed_until end as closed_until,
           case when closed_until > tidemark.now() then closed_reason end as closed_reason
      from tidemark.upstream
     where breaker <> 'closed' or failing <> '{}' or closed_until > tidemark.now()
     order by upstream limit ${ROWS_MOST}`);
  return rows;
}
