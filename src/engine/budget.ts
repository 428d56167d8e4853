/** An allowance of calls to one upstream over all workers, kept in the database and taken one statement at a time. */
import sql from "sql-template-tag";
import type { Budget } from "../contract.ts";
import type { Queryable } from "../store/db.ts";

/**
 * Takes `cost` from a budget, or says how long to wait without taking anything.
 *
 * A pace is a generic cell rate: `spent_until` runs ahead of the clock by what was taken, at most by the burst. A window
 * counts from its first call. The row is locked by the update itself, so two takers never take the same allowance.
 */
export async function take(
  db: Queryable,
  name: string,
  upstream: string,
  budget: Budget,
  cost: number,
): Promise<number> {
  await db.query(
    sql`insert into tidemark.budget (budget, upstream) values (${name}, ${upstream}) on conflict (budget) do nothing`,
  );
  const statement = budget.shape === "pace" ? pace(name, budget, cost) : window(name, budget, cost);
  const { rows } = await db.query<{ wait_ms: number }>(statement);
  if (rows.length > 0) return 0;
  const { rows: state } = await db.query<{ spent_ms: number; window_ms: number }>(sql`
    select extract(epoch from greatest(spent_until, tidemark.now()) - tidemark.now())::float8 * 1000 as spent_ms,
           extract(epoch from greatest(window_until, tidemark.now()) - tidemark.now())::float8 * 1000 as window_ms
      from tidemark.budget where budget = ${name}`);
  const { spent_ms, window_ms } = state[0] ?? { spent_ms: 0, window_ms: 0 };
  if (budget.shape === "window") return Math.max(1, window_ms);
  return Math.max(1, spent_ms + (cost * 1000) / budget.per_second - (budget.burst * 1000) / budget.per_second);
}

function pace(name: string, budget: Extract<Budget, { shape: "pace" }>, cost: number) {
  const cost_ms = (cost * 1000) / budget.per_second;
  const burst_ms = (budget.burst * 1000) / budget.per_second;
  return sql`
    update tidemark.budget
       set spent_until = greatest(spent_until, tidemark.now()) + ${cost_ms}::float8 * interval '1 millisecond', used = used + ${cost}
     where budget = ${name}
       and greatest(spent_until, tidemark.now()) + ${cost_ms}::float8 * interval '1 millisecond'
           <= tidemark.now() + ${burst_ms}::float8 * interval '1 millisecond'
    returning 0::float8 as wait_ms`;
}

function window(name: string, budget: Extract<Budget, { shape: "window" }>, cost: number) {
  return sql`
    update tidemark.budget
       set used = case when window_until <= tidemark.now() then ${cost}::float8 else used + ${cost} end,
           window_until = case when window_until <= tidemark.now()
                               then tidemark.now() + ${budget.period_ms}::float8 * interval '1 millisecond' else window_until end
     where budget = ${name}
       and (window_until <= tidemark.now() or used + ${cost} <= ${budget.calls}::float8)
    returning 0::float8 as wait_ms`;
}
