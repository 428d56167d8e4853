/** Whether calls that were made stayed within a budget, as a pure function of when they were made. */
import type { Budget } from "../contract.ts";

export interface Call {
  at_ms: number;
  cost: number;
  /** How long its answer took. */
  ms?: number;
  /** In the how manieth window it was let go. */
  window?: number;
}

/** Half a microsecond of rounding is nobody's fault. */
const ROUNDING = 1e-6;

/**
 * The first stretch of time that holds more than its allowance, as a sentence; null when there is none. Where the upstream `tells` when its
 * windows end, those are the windows.
 */
export function overspent(calls: Call[], budget: Budget, tells = false): string | null {
  switch (budget.shape) {
    case "window":
      return tells ? toldOverspent(calls, budget.most) : windowOverspent(calls, budget.most, budget.period_ms);
    case "pace":
      return paceOverspent(calls, budget.per_second, budget.burst);
    case "gap":
      return gapBroken(calls, budget.gap_ms);
  }
}

/** One call at a time, and the next only some time after the answer. */
function gapBroken(calls: Call[], gap_ms: number): string | null {
  for (const [i, { at_ms }] of calls.entries()) {
    const before = calls[i - 1];
    const free_ms = before ? before.at_ms + (before.ms ?? 0) + gap_ms : Number.NEGATIVE_INFINITY;
    if (at_ms < free_ms - ROUNDING) return `a call at ${at_ms} ms, and the gap ends at ${free_ms} ms`;
  }
  return null;
}

function toldOverspent(calls: Call[], most: number): string | null {
  const spent = new Map<number, number>();
  for (const { window = 0, cost } of calls) {
    const sum = (spent.get(window) ?? 0) + cost;
    spent.set(window, sum);
    if (sum > most + ROUNDING) return `${sum} spent of ${most} in window ${window}`;
  }
  return null;
}

/** In any stretch of its period, wherever that begins: where nobody told us, no window of ours is the upstream's. */
function windowOverspent(calls: Call[], most: number, period_ms: number): string | null {
  let first = 0;
  let spent = 0;
  for (const { at_ms, cost } of calls) {
    spent += cost;
    while (at_ms - calls[first]!.at_ms >= period_ms - ROUNDING) {
      spent -= calls[first]!.cost;
      first += 1;
    }
    if (spent > most + ROUNDING) return `${spent} spent of ${most} between ${calls[first]!.at_ms} ms and ${at_ms} ms`;
  }
  return null;
}

/** In any stretch of time: the burst, and the rate times its length. */
function paceOverspent(calls: Call[], per_second: number, burst: number): string | null {
  for (const [i, first] of calls.entries()) {
    let spent = 0;
    for (const { at_ms, cost } of calls.slice(i)) {
      spent += cost;
      const allowed = burst + ((at_ms - first.at_ms) * per_second) / 1000;
      if (spent > allowed + ROUNDING) return `${spent} spent of ${allowed} between ${first.at_ms} ms and ${at_ms} ms`;
    }
  }
  return null;
}
