/** What tests of budgets stand on: a database on a virtual clock, declared budgets, and takes from all of them. */
import { declareBudgets, giveBack, type Taken, takeBudgets } from "../../src/engine/budget.ts";
import { type BudgetRow, budgetRow, flightsRow } from "../../src/engine/share.ts";
import type { Budget, Upstream } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";

interface More {
  demand?: number;
  ahead?: number;
  probe?: boolean;
  wanted_ms?: number;
}

export class BudgetRig {
  readonly #store: Db;
  db: Db;
  clock = new VirtualClock();
  rows: BudgetRow[] = [];

  constructor(store: Db) {
    this.#store = store;
    this.db = store;
  }

  async reset(): Promise<void> {
    await wipe(this.#store);
    this.clock = new VirtualClock();
    this.db = await setDatabaseClock(this.#store, this.clock);
  }

  async declare(budgets: Record<string, Budget>, more: Partial<Upstream> = {}): Promise<void> {
    const upstream: Upstream = { name: "u", budgets, ...more };
    this.rows = Object.entries(budgets).map(([name, budget]) => budgetRow(upstream, name, budget, null));
    if (more.concurrency) this.rows.push(flightsRow(upstream, more.concurrency));
    await declareBudgets(this.db, this.rows);
  }

  take(share = "", cost: number | number[] = 1, more: More = {}): Promise<Taken> {
    const need = this.rows.map((_, k) => (Array.isArray(cost) ? cost[k]! : cost));
    const zero = this.rows.map(() => 0);
    return takeBudgets(this.db, {
      upstream: "u",
      probe: more.probe ?? false,
      budgets: this.rows.map((r) => r.budget),
      share,
      need,
      demand: more.demand === undefined ? need : zero.map(() => more.demand!),
      ahead: zero.map(() => more.ahead ?? 0),
      back: zero,
      back_no: this.rows.map(() => 0n),
      back_age_ms: 0,
      flight_ms: 10_000,
      wanted_ms: more.wanted_ms ?? 0,
    });
  }

  /** Gives back what was taken so long ago. */
  async giveBack(units: number, age_ms: number, no = 0n, share = ""): Promise<void> {
    await giveBack(this.db, share, { budgets: this.rows.map((r) => r.budget), units: [units], nos: [no], age_ms });
  }

  /** How many calls go through before one is refused. */
  async drain(share = ""): Promise<{ n: number; wait_ms: number }> {
    for (let n = 0; ; n += 1) {
      const { wait_ms } = await this.take(share);
      if (wait_ms > 0) return { n, wait_ms };
    }
  }
}
