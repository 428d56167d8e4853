/** Metrics for Prometheus: what happened in this process, counted from its events, and what the database says of the whole. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Overview } from "../engine/overview.ts";
import type { Events } from "../events.ts";
import { BudgetMetrics, type Manners } from "./budget-metrics.ts";

const seconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 300];

/** Counts events from now on. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #whole: Whole;
  readonly #budgets: BudgetMetrics;

  constructor(events: Events) {
    collectDefaultMetrics({ register: this.#registry });
    countEvents(events, this.#registry);
    this.#whole = new Whole(this.#registry);
    this.#budgets = new BudgetMetrics(this.#registry, events);
  }

  get content_type(): string {
    return this.#registry.contentType;
  }

  /** The text of all metrics; without an overview (the database is away) those of this process alone. */
  render(overview: Overview | null, manners: Manners | null = null): Promise<string> {
    this.#whole.set(overview);
    this.#budgets.set(manners);
    return this.#registry.metrics();
  }
}

function countEvents(events: Events, registry: Registry): void {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `tidemark_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name: `tidemark_${name}`, help, labelNames, buckets: seconds, registers });

  const pulls = counter("pulls_total", "Pulls that ended, by how.", ["source", "kind", "outcome"]);
  const pull_seconds = histogram("pull_seconds", "How long pulls took.", ["source", "kind"]);
  const rows = counter("rows_changed_total", "Records put and dropped.", ["source", "kind"]);
  events.on("pull_ended", (e) => {
    pulls.inc({ source: e.source, kind: e.kind, outcome: e.outcome });
    pull_seconds.observe({ source: e.source, kind: e.kind }, e.ms / 1000);
    if (e.rows > 0) rows.inc({ source: e.source, kind: e.kind }, e.rows);
  });
  const claimed = counter("claimed_total", "Due resources that were leased.");
  events.on("claim", (e) => claimed.inc(e.count));
  const commits = counter("commits_total", "Transactions of pulls' batches and outcomes.");
  const commit_seconds = histogram("commit_seconds", "How long those took.", []);
  events.on("commit", (e) => {
    commits.inc();
    commit_seconds.observe(e.ms / 1000);
  });
  const calls = counter("upstream_calls_total", "Calls to upstreams; status 0 is no answer.", ["upstream", "status"]);
  const call_seconds = histogram("upstream_call_seconds", "How long upstreams took.", ["upstream"]);
  const cost = counter("upstream_cost_total", "What calls took from budgets.", ["upstream"]);
  const waited = counter("upstream_wait_seconds_total", "Time that calls waited for their budget.", ["upstream"]);
  const bytes = counter("upstream_bytes_total", "Bytes that upstreams sent.", ["upstream"]);
  events.on("upstream_call", (e) => {
    const { upstream } = e;
    calls.inc({ upstream, status: String(e.status) });
    call_seconds.observe({ upstream }, e.ms / 1000);
    cost.inc({ upstream }, e.cost);
    waited.inc({ upstream }, e.wait_ms / 1000);
    bytes.inc({ upstream }, e.bytes);
  });
  const lost = counter("leases_lost_total", "Commits or renewals that were refused because the lease had ended.");
  events.on("lease_lost", () => lost.inc());
  const expired = counter("leases_expired_total", "Leases of silent workers that were found ended.");
  events.on("lease_expired", (e) => expired.inc(e.count));
  const handed_back = counter("leases_handed_back_total", "Leases that were given back unused.");
  events.on("handed_back", (e) => handed_back.inc(e.count));
  const parked = counter("parked_total", "Resources that were parked.", ["source"]);
  events.on("parked", (e) => parked.inc({ source: e.source }));
  const messages = counter("messages_parked_total", "Messages that were parked.", ["source"]);
  events.on("message_parked", (e) => messages.inc({ source: e.source }));
  const store_lost = counter("store_lost_total", "Times that the database stopped answering.");
  events.on("store_lost", () => store_lost.inc());
  const surprises = counter("surprises_total", "Failures that nobody foresaw, outside any pull.");
  events.on("surprise", () => surprises.inc());
}

/** What the database says of all workers together. */
class Whole {
  readonly #gauges: Gauge<string>[] = [];
  readonly #due = this.#gauge("due_resources", "Resources that are due now.", [
    "source",
    "lane",
    "upstream",
    "urgency",
  ]);
  readonly #oldest = this.#gauge("oldest_due_seconds", "How long the most overdue resource has been due.", [
    "source",
    "lane",
    "upstream",
    "urgency",
  ]);
  readonly #leases = this.#gauge("leases", "Leases that live now.", ["source", "lane", "upstream", "urgency"]);
  readonly #resources = this.#gauge("resources", "Resources by what they are.", ["source", "is"]);
  readonly #messages = this.#gauge("messages_waiting", "Messages that wait to be handled.", ["source"]);
  readonly #workers = this.#gauge("workers", "Workers seen within the last minute.");
  readonly #slots = this.#gauge("slots", "Slots of those workers.", ["is"]);
  readonly #closed = this.#gauge("upstream_closed_seconds", "How long an upstream stays closed; 0 when it is open.", [
    "upstream",
  ]);

  constructor(registry: Registry) {
    for (const gauge of this.#gauges) registry.registerMetric(gauge);
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge<string> {
    const gauge = new Gauge({ name: `tidemark_${name}`, help, labelNames, registers: [] });
    this.#gauges.push(gauge);
    return gauge;
  }

  set(overview: Overview | null): void {
    for (const gauge of this.#gauges) gauge.reset();
    if (overview === null) {
      // A reset leaves one without labels at 0, which would be said of a database that nobody could ask.
      this.#workers.remove();
      return;
    }
    const now = Date.parse(overview.now);
    for (const lane of overview.lanes) {
      const labels = { source: lane.source, lane: lane.name, upstream: lane.upstream, urgency: lane.urgency };
      this.#due.set(labels, lane.due);
      this.#leases.set(labels, lane.leased);
      this.#oldest.set(labels, lane.oldest_due_at ? Math.max(0, now - Date.parse(lane.oldest_due_at)) / 1000 : 0);
    }
    for (const one of overview.sources) {
      const { source } = one;
      for (const is of ["followed", "resources", "fresh", "parked", "paused", "gone"] as const)
        this.#resources.set({ source, is: is === "resources" ? "all" : is }, one[is]);
      this.#messages.set({ source }, one.messages);
    }
    const alive = overview.workers.filter((worker) => now - Date.parse(worker.seen_at) < 60_000);
    this.#workers.set(alive.length);
    this.#slots.set(
      { is: "busy" },
      alive.reduce((all, worker) => all + worker.busy, 0),
    );
    this.#slots.set(
      { is: "all" },
      alive.reduce((all, worker) => all + worker.slots, 0),
    );
    for (const { upstream, closed_until } of overview.upstreams)
      this.#closed.set({ upstream }, closed_until ? Math.max(0, Date.parse(closed_until) - now) / 1000 : 0);
  }
}
