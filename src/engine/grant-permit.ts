/** What a call takes, the right to make it, and being put off. */
import { TidemarkError } from "../errors.ts";
import type { Taken } from "./budget.ts";
import type { BudgetRow } from "./share.ts";

/** What a call takes: the same budgets and the same share stand in one line. */
export interface Wish {
  upstream: string;
  budgets: BudgetRow[];
  /** What it costs of each. */
  costs: number[];
  share: string;
}

/** The right to make one call, until a time of this process. */
export interface Permit {
  wish: Wish;
  nos: bigint[];
  /** When it was asked for, and until when the call may leave. */
  asked_ms: number;
  until_ms: number;
  flights: bigint[];
  probe: boolean;
  waited_ms: number;
  /** How many resources were failing there when the grant was drawn. */
  failing: number;
}

/** As many are out as may be. */
export function busyOut({ upstream, budget }: Pick<BudgetRow, "upstream" | "budget">, wait_ms: number): TidemarkError {
  return new TidemarkError("UpstreamBusy", `As many calls to ${budget} are out as may be at once.`, {
    wait_ms,
    details: { upstream, budget, why: "out" },
  });
}

/** Being put off, as an error that ends a pull with `later`. */
export function busy(wish: Pick<Wish, "upstream" | "share">, taken: Taken, wait_ms: number): TidemarkError {
  const of = wish.share === "" ? "" : ` in its share "${wish.share}"`;
  const sentences = {
    spent: `The allowance of ${taken.refused} is spent${of}.`,
    out: `As many calls to ${taken.refused} are out as may be at once.`,
    closed: taken.said ?? `${taken.refused} is closed.`,
    shut: taken.said ?? `${wish.upstream} is closed.`,
    probe: `${wish.upstream} is believed down, and one call is testing it.`,
  };
  return new TidemarkError("UpstreamBusy", sentences[taken.why ?? "spent"], {
    wait_ms,
    details: { upstream: wish.upstream, budget: taken.refused, why: taken.why },
  });
}
