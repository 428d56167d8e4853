/** What an upstream declares about its budgets, as the rows that the database keeps: buckets, shares and lives of grants, purely. */
import type { Budget, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";

/** The declared part of a row of tidemark.budget. */
export interface BudgetRow {
  budget: string;
  upstream: string;
  shape: "pace" | "window" | "gap" | "flights" | "account";
  room: number;
  /** pace: as declared; the room is smaller. */
  burst: number | null;
  per_ms: number;
  period_ms: number;
  life_ms: number;
  share: string[];
  reserved: number[];
  capacity: number[];
}

/** A grant that is older is not spent any more: another worker's closing is obeyed after that at the latest. */
export const LIFE_MS_MAX = 500;
/** Below it nothing is drawn ahead, and the room is the whole burst … */
const LIFE_MS_MIN = 100;
/** … but for as long as a call may be on its way the bucket does not fill: that time is lost for the pace, so it is short. */
const LIFE_MS_ALONE = 20;
const ROUNDING = 1e-9;

function invalid(sentence: string): never {
  throw new TidemarkError("InputInvalid", sentence);
}

/** The shares and what each has reserved; the last one, "", is of calls that name none and has what the others leave. */
export function sharesOf(upstream: Upstream): { share: string[]; reserved: number[] } {
  const declared = Object.entries(upstream.shares ?? {});
  for (const [name, part] of declared)
    if (!(part > 0 && part <= 1) || name === "")
      invalid(`The share "${name}" of ${upstream.name} must be a fraction above 0 and at most 1, not ${part}.`);
  const sum = declared.reduce((all, [, part]) => all + part, 0);
  if (sum > 1 + ROUNDING) invalid(`The shares of ${upstream.name} sum up to ${sum}; they may sum up to 1.`);
  const rest = sum > 1 - ROUNDING ? 0 : 1 - sum;
  return { share: [...declared.map(([name]) => name), ""], reserved: [...declared.map(([, part]) => part), rest] };
}

/**
 * How much each share's bucket holds: its part of the room, but at least one call, or a small share could never make one.
 * Together they hold no more than the room, or the burst would be larger than declared.
 */
export function capacities(room: number, reserved: number[]): number[] {
  const beyond = reserved.map((part) => Math.max(0, part * room - 1));
  const sum = beyond.reduce((all, more) => all + more, 0);
  const factor = sum === 0 ? 0 : Math.min(1, Math.max(0, room - reserved.length) / sum);
  return reserved.map((_, i) => 1 + beyond[i]! * factor);
}

/** The name of a budget's row: the upstream's own, or one for each key behind it. */
export function budgetName(upstream: Upstream, name: string, key: string | null): string {
  const own = name === "" ? upstream.name : `${upstream.name}/${name}`;
  return key === null ? own : `${own}:${key}`;
}

export function budgetRow(upstream: Upstream, name: string, budget: Budget, key: string | null): BudgetRow {
  const own = { budget: budgetName(upstream, name, key), upstream: upstream.name };
  const row = { ...own, burst: null, per_ms: 0, period_ms: 0 };
  const shares = sharesOf(upstream);
  switch (budget.shape) {
    case "pace":
      return { ...row, ...paced(row.budget, budget.per_second / 1000, budget.burst, shares.reserved), ...shares };
    case "window": {
      const { most, period_ms } = budget;
      if (!(most >= 1 && period_ms >= 1)) invalid(`The window of ${row.budget} needs an allowance and a period.`);
      const least = Math.min(...shares.reserved.filter((part) => part > 0));
      if (most * least < 1 - ROUNDING && shares.share.length > 1)
        invalid(`The smallest share of ${row.budget} is less than one call in a window of ${most}.`);
      const capacity = shares.reserved.map((part) => part * most);
      return { ...row, shape: "window", room: most, period_ms, life_ms: LIFE_MS_MAX, capacity, ...shares };
    }
    case "gap":
      if (!(budget.gap_ms >= 0)) invalid(`The gap of ${row.budget} must not be negative.`);
      return { ...row, shape: "gap", room: 1, period_ms: budget.gap_ms, ...alone };
  }
}

const alone = { life_ms: LIFE_MS_MAX, share: [""], reserved: [1], capacity: [1] };

/**
 * A call may leave as late as its grant lives, and what is in the buckets and what is out are never more than the burst. With the room
 * smaller than the burst by what flows in during such a life, buckets go on filling while calls are out.
 */
function paced(name: string, per_ms: number, burst: number, reserved: number[]) {
  if (!(per_ms > 0)) invalid(`The pace of ${name} must be above 0.`);
  const buckets = reserved.length === 1 ? 1 : reserved.length;
  if (!(burst >= buckets)) invalid(`The burst of ${name} must be at least ${buckets}: one call for each share.`);
  const life_ms = Math.min(LIFE_MS_MAX, (burst - buckets) / per_ms);
  const ahead = life_ms >= LIFE_MS_MIN;
  // Never below one call for each share by a rounding: a bucket that holds less than a call never gives one.
  const room = ahead ? Math.max(buckets, burst - per_ms * life_ms) : burst;
  return {
    shape: "pace" as const,
    room,
    burst,
    per_ms,
    life_ms: ahead ? life_ms : LIFE_MS_ALONE,
    capacity: reserved.length === 1 ? [room] : capacities(room, reserved),
  };
}

/** Calls that are out at once, over all workers. */
export function flightsRow(upstream: Upstream, most: number): BudgetRow {
  if (!(Number.isInteger(most) && most >= 1))
    invalid(`The concurrency of ${upstream.name} must be a whole number from 1.`);
  const budget = `${upstream.name}/at once`;
  return {
    budget,
    upstream: upstream.name,
    shape: "flights",
    room: most,
    burst: null,
    per_ms: 0,
    period_ms: 0,
    ...alone,
  };
}

/** No allowance of its own, but it can be closed: what an upstream says to one account holds for all that it does. */
export function accountRow(upstream: Upstream, account: string): BudgetRow {
  const budget = `${upstream.name}@${account}`;
  return { budget, upstream: upstream.name, shape: "account", room: 0, burst: null, per_ms: 0, period_ms: 0, ...alone };
}
