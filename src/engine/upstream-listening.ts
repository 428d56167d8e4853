/** What upstreams say about themselves, taken to heart: real costs settled, budgets corrected, and closed for every worker. */
import type { Clock } from "../clock.ts";
import type { Answer, FetchRequest, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";
import { saidOf, type Verdict } from "./answer.ts";
import { correctBudget, type Said } from "./budget.ts";
import type { Grants } from "./grant.ts";
import type { Admitted } from "./upstream-admission.ts";
import { type Closing, close, readShut } from "./upstream-closing.ts";
import type { Notices } from "./upstream-notices.ts";
import { isNarrow } from "./upstream-wish.ts";

/** How often an answer's figures are written down while nothing in them is alarming. */
const CORRECT_EVERY_MS = 1_000;
/** A shorter wait is not worth closing an upstream for. */
const CLOSE_BEHIND_MS = 2_000;

export interface ListeningParts {
  db: Db;
  clock: Clock;
  events: Events;
  grants: Grants;
  notices: Notices;
}

export class Listening {
  readonly #parts: ListeningParts;
  readonly #corrected = new Map<string, { at_ms: number; no: bigint }>();
  readonly #closed_ms = new Map<string, number>();

  constructor(parts: ListeningParts) {
    this.#parts = parts;
  }

  /** After an answer: what the call really cost, and what the upstream says is left. */
  async settle(costOf: FetchRequest["settle"], admitted: Admitted, answer: Answer): Promise<void> {
    const { permit, wish } = admitted;
    const real = answer.status < 400 && costOf ? costOf(answer) : null;
    const back = wish.costs.map((cost, k) => {
      const name = wish.names[k] ?? null;
      const named =
        real === null || name === null ? null : typeof real === "number" ? (k === 0 ? real : null) : real[name];
      // What is no cost, the upstream's mistake or the source's, leaves the estimate: it would spoil the budget for everybody.
      const spent = typeof named === "number" && Number.isFinite(named) && named >= 0 ? named : cost;
      return name === null ? 0 : cost - spent;
    });
    await this.#parts.grants.settle(permit, back);
    const names = wish.names.filter((name) => name !== null);
    for (const said of saidOf(answer.headers, names)) {
      const k = wish.names.indexOf(said.budget);
      await this.#correct(wish.budgets[k]!.budget, permit.nos[k]!, said);
    }
  }

  async #correct(budget: string, no: bigint, said: Said): Promise<void> {
    const { db, clock, grants, notices } = this.#parts;
    const last = this.#corrected.get(budget);
    const alarming = said.remaining !== null && said.remaining <= (said.limit ?? 0) / 20;
    if (last && last.no === no && clock.elapsed_ms() - last.at_ms < CORRECT_EVERY_MS && !alarming) return;
    if (this.#corrected.size > 10_000) this.#corrected.clear();
    this.#corrected.set(budget, { at_ms: clock.elapsed_ms(), no });
    await correctBudget(db, budget, no, said);
    if (said.remaining !== 0) return;
    grants.void(budget);
    await notices.tell(budget);
  }

  /** Closes what the answer is about: a budget that is spent, the account, the host or group, or the upstream. Says for how long. */
  async close(upstream: Upstream, admitted: Admitted, said: Extract<Verdict, { verdict: "busy" }>): Promise<number> {
    const { wait_ms, sentence: reason } = said;
    const waits = await Promise.all(
      targetsOf(upstream, admitted, said.about).map((target) => this.#close({ ...target, wait_ms, reason })),
    );
    return Math.max(...waits);
  }

  /** … or all of it, where nothing narrower was called. */
  closeAll(name: string, { wait_ms, sentence: reason }: Extract<Verdict, { verdict: "busy" }>): Promise<number> {
    return this.#close({ what: "upstream", name, wait_ms, reason });
  }

  /** Throws while the upstream is closed. */
  async requireOpen(name: string): Promise<void> {
    const shut = await readShut(this.#parts.db, name);
    if (shut) throw new TidemarkError("UpstreamBusy", shut.reason || `${name} is closed.`, { wait_ms: shut.wait_ms });
  }

  async #close(closing: Closing): Promise<number> {
    const { db, events, grants, notices } = this.#parts;
    const wait_ms = await close(db, closing);
    grants.void(closing.name);
    await notices.tell(closing.name);
    events.emit("upstream_closed", {
      upstream: closing.name,
      reason: closing.reason,
      wait_ms,
      error_code: "UpstreamBusy",
    });
    return wait_ms;
  }

  /**
   * When every call would be refused for a while, the lanes of the upstream need not be scanned. Not where another share, budget, host or
   * group may still have something.
   */
  async closeBehind(upstream: Upstream, request: FetchRequest, error: TidemarkError): Promise<void> {
    const { clock, db } = this.#parts;
    const { wait_ms = 0, details, message } = error;
    const all = request.budgets === undefined && !Object.values(upstream.budgets ?? {}).some(isNarrow);
    const spent = details.why === "closed" || (details.why === "spent" && upstream.shares === undefined);
    if (!all || !spent || wait_ms < CLOSE_BEHIND_MS) return;
    if (upstream.budget && isNarrow(upstream.budget)) return;
    const now_ms = clock.elapsed_ms();
    if ((this.#closed_ms.get(upstream.name) ?? 0) > now_ms) return;
    if (this.#closed_ms.size > 10_000) this.#closed_ms.clear();
    this.#closed_ms.set(upstream.name, now_ms + Math.min(wait_ms, CLOSE_BEHIND_MS));
    await close(db, { what: "upstream", name: upstream.name, wait_ms, reason: message });
  }
}

function targetsOf(
  upstream: Upstream,
  { wish, credential }: Admitted,
  about: string | null,
): Pick<Closing, "what" | "name">[] {
  const named = about === null ? -1 : wish.names.indexOf(about);
  if (named >= 0) return [{ what: "budget", name: wish.budgets[named]!.budget }];
  if (credential) return [{ what: "budget", name: `${upstream.name}@${credential.account}` }];
  if (wish.narrow.length > 0) return wish.narrow.map((name) => ({ what: "budget", name }));
  return [{ what: "upstream", name: upstream.name }];
}
