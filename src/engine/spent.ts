/** What was spent of each allowance, for those who look. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

export interface BudgetStatus {
  budget: string;
  upstream: string;
  used: number;
  spent_until: string | null;
  window_until: string | null;
  closed_until: string | null;
  closed_reason: string | null;
}

/** What was spent of each allowance, and whether its upstream is closed. */
export async function readBudgets(db: Queryable): Promise<BudgetStatus[]> {
  const { rows } = await db.query<BudgetStatus>(sql`
    select b.budget, b.upstream, b.used,
           nullif(b.spent_until, '-infinity') as spent_until, nullif(b.window_until, '-infinity') as window_until,
           case when u.closed_until > tidemark.now() then u.closed_until end as closed_until,
           case when u.closed_until > tidemark.now() then u.closed_reason end as closed_reason
      from tidemark.budget b left join tidemark.upstream u on u.upstream = b.upstream
     order by b.budget limit 1000`);
  return rows;
}
