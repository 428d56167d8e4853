/** What the API says about budgets and breakers, in words and tables for people. */
import { formatDuration } from "../duration.ts";
import type { BreakerStatus, BudgetStatus } from "../engine/spent.ts";
import { type Output, paint, table } from "./output.ts";

export interface BudgetsAnswer {
  now: string;
  budgets: BudgetStatus[];
  breakers: BreakerStatus[];
}

/** More rows than these say less. */
const ROWS_MOST = 30;

const figure = (n: number | null): string => (n === null ? "–" : String(Math.round(n * 10) / 10));

/** Each budget: what is used, left, kept and lent, until when it is closed and why, who waits; then who is believed down. */
export function budgetWords(output: Output, { now, budgets, breakers }: BudgetsAnswer): string[] {
  const rows = budgets
    .slice(0, ROWS_MOST)
    .map((b) => [
      b.budget,
      allows(b),
      figure(b.used),
      figure(b.left),
      figure(b.reserved),
      figure(b.lent),
      waiting(b),
      b.closed_until === null ? "" : `for ${length(now, b.closed_until)}: ${b.closed_reason ?? ""}`,
    ]);
  const more =
    budgets.length > ROWS_MOST ? [`… and ${budgets.length - ROWS_MOST} more budgets: see /api/budgets.`] : [];
  const heads = ["budget", "allows", "used", "left", "kept", "lent", "waiting", "closed"];
  const down = breakers
    .filter((one) => one.breaker !== "closed")
    .map((one) => {
      const what = one.breaker === "open" ? "is believed down" : "is believed down, and one call is testing it";
      return paint(
        output,
        "yellow",
        `${one.upstream} ${what}: ${one.closed_reason ?? "several resources failed there"}`,
      );
    });
  return [...(rows.length === 0 ? [] : ["", ...table(heads, rows), ...more]), ...down];
}

function allows(b: BudgetStatus): string {
  if (b.shape === "pace") return `${figure(b.per_second)}/s`;
  if (b.shape === "window") return `${figure(b.room)} in ${formatDuration(b.period_ms ?? 0, 1)}`;
  if (b.shape === "gap") return `one, then ${formatDuration(b.period_ms ?? 0, 1)}`;
  return b.shape === "flights" ? `${figure(b.room)} at once` : "–";
}

function waiting(b: BudgetStatus): string {
  const names = b.shares.filter((share) => share.waiting).map((share) => share.share || "(no share)");
  return names.join(", ");
}

const length = (now: string, at: string): string => formatDuration(Math.max(0, Date.parse(at) - Date.parse(now)), 1);
