/** Budgets and breakers as metrics, with a bounded number of labels however many hosts and accounts there are. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { BreakerStatus, BudgetStatus } from "../engine/spent.ts";
import type { Events } from "../events.ts";

/** Budgets beyond these are told together, as "others". */
const LABELS_MOST = 200;

export interface Manners {
  budgets: BudgetStatus[];
  breakers: BreakerStatus[];
}

export class BudgetMetrics {
  readonly #gauges: Gauge<string>[] = [];
  readonly #room = this.#gauge("budget_room", "What a budget allows: in its window, in one burst, or at once.", [
    "budget",
  ]);
  readonly #used = this.#gauge("budget_used", "What is spent of a window, or out of calls at once.", ["budget"]);
  readonly #left = this.#gauge("budget_left", "What is left of a budget now.", ["budget"]);
  readonly #reserved = this.#gauge("budget_reserved", "What is kept for shares now.", ["budget"]);
  readonly #lent = this.#gauge("budget_lent", "What full shares lend to others now.", ["budget"]);
  readonly #closed = this.#gauge("budget_closed", "Whether a budget is closed.", ["budget"]);
  readonly #waiting = this.#gauge("budget_waiting", "Shares that were refused within the last two seconds.", [
    "budget",
  ]);
  readonly #total = this.#gauge("budget_taken", "What was taken from a budget since it was first declared.", [
    "budget",
  ]);
  readonly #breakers = this.#gauge("breakers", "Upstreams that are not believed well.", ["is"]);

  constructor(registry: Registry, events: Events) {
    for (const gauge of this.#gauges) registry.registerMetric(gauge);
    const registers = [registry];
    const changes = new Counter({
      name: "tidemark_breaker_changes_total",
      help: "Changes of breakers, by what they became.",
      labelNames: ["to"],
      registers,
    });
    events.on("breaker_changed", ({ to }) => changes.inc({ to }));
    const closings = new Counter({
      name: "tidemark_closings_total",
      help: "Times that an upstream asked us to wait.",
      registers,
    });
    events.on("upstream_closed", () => closings.inc());
    const revoked = new Counter({
      name: "tidemark_credentials_revoked_total",
      help: "Tokens that were refused and dropped.",
      registers,
    });
    events.on("credential_revoked", () => revoked.inc());
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge<string> {
    const gauge = new Gauge({ name: `tidemark_${name}`, help, labelNames, registers: [] });
    this.#gauges.push(gauge);
    return gauge;
  }

  set(manners: Manners | null): void {
    for (const gauge of this.#gauges) gauge.reset();
    if (!manners) return;
    for (const [n, one] of manners.budgets.entries()) {
      const budget = n < LABELS_MOST ? one.budget : "others";
      this.#room.inc({ budget }, one.room);
      this.#used.inc({ budget }, one.used ?? 0);
      this.#left.inc({ budget }, one.left ?? 0);
      this.#reserved.inc({ budget }, one.reserved);
      this.#lent.inc({ budget }, one.lent);
      this.#closed.inc({ budget }, one.closed_until === null ? 0 : 1);
      this.#waiting.inc({ budget }, one.shares.filter((share) => share.waiting).length);
      this.#total.inc({ budget }, Math.max(0, one.total));
    }
    for (const is of ["open", "probing"] as const)
      this.#breakers.set({ is }, manners.breakers.filter((one) => one.breaker === is).length);
  }
}
