/** Who is let out: picks the credential with most left, and takes what the call costs, before anything is sent. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { FetchRequest, Upstream } from "../contract.ts";
import { hasCode, TidemarkError } from "../errors.ts";
import type { Found, Sending } from "../outbound/call.ts";
import type { Queryable } from "../store/db.ts";
import { endFlights } from "./budget.ts";
import type { Credential } from "./credential.ts";
import type { Grants } from "./grant.ts";
import type { Permit } from "./grant-permit.ts";
import { type NamedWish, spentOnly, wishOf } from "./upstream-wish.ts";

/** How long a ranking of accounts is believed. */
const RANKED_MS = 500;
/** How long a redirect waits for its turn. Ending the pull there would begin it anew, and it would never get further. */
const HOP_WAIT_MS = 10_000;

/** What a call was let go with; the permit is replaced where it grew too old. */
export interface Admitted {
  permit: Permit;
  wish: NamedWish;
  credential: Credential | null;
}

export interface AdmissionParts {
  db: Queryable;
  clock: Clock;
  grants: Grants;
}

export class Admission {
  readonly #parts: AdmissionParts;
  readonly #ranked = new Map<string, { at_ms: number; order: number[] }>();

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** One permit; or the reason of whoever would let us out soonest. */
  async admit(
    upstream: Upstream,
    target: URL,
    request: FetchRequest,
    pool: Credential[] | null,
    signal: AbortSignal,
    address: string | null = null,
  ): Promise<Admitted> {
    if (pool === null) return this.#take(wishOf(upstream, target, request, null, address), null, signal);
    let soonest: TidemarkError | null = null;
    for (const credential of await this.#rank(upstream, target, request, pool)) {
      const wish = wishOf(upstream, target, request, credential.account, address);
      try {
        return await this.#take(wish, credential, signal);
      } catch (thrown) {
        const { why } = hasCode(thrown, "UpstreamBusy") ? thrown.details : { why: "shut" };
        if (why === "shut" || why === "probe" || !(thrown instanceof TidemarkError)) throw thrown;
        if (!soonest || (thrown.wait_ms ?? 0) < (soonest.wait_ms ?? 0)) soonest = thrown;
      }
    }
    throw soonest ?? new TidemarkError("UpstreamForbids", `There is no credential for ${upstream.name}.`);
  }

  /** A permit that was waited for too long is given back and asked for again. */
  async #take(wish: NamedWish, credential: Credential | null, signal: AbortSignal): Promise<Admitted> {
    const { grants, clock, db } = this.#parts;
    for (;;) {
      const permit = await grants.take(wish, signal);
      if (clock.elapsed_ms() < permit.until_ms || permit.probe) return { permit, wish, credential };
      await grants.settle(permit, wish.costs);
      // Or a database that answers slowly would soon count as many calls as may be out, and none of them were made.
      if (permit.flights.length > 0) await endFlights(db, permit.flights);
    }
  }

  /**
   * Right before a request is written, on a connection that stands. A permit that outlived its grant meanwhile goes back and another is
   * asked for. A redirect, and a call that is sent again, takes for itself.
   */
  async atTheDoor(upstream: Upstream, request: FetchRequest, admitted: Admitted, sending: Sending): Promise<void> {
    const { grants, clock } = this.#parts;
    const { url, sent, signal } = sending;
    if (sent > 0) {
      const wish = spentOnly(wishOf(upstream, url, request, admitted.credential?.account ?? null));
      for (;;) {
        const permit = await grants.take(wish, signal, HOP_WAIT_MS);
        if (clock.elapsed_ms() < permit.until_ms) return;
        await grants.settle(permit, wish.costs);
      }
    }
    while (clock.elapsed_ms() >= admitted.permit.until_ms) {
      const { permit } = admitted;
      const wish = spentOnly(admitted.wish);
      const back = permit.wish.budgets.map((b, k) => (wish.budgets.includes(b) ? permit.wish.costs[k]! : 0));
      await grants.settle(permit, back);
      const next = permit.probe ? await grants.testAgain(wish) : await grants.take(wish, signal);
      // Its place among those that are out it has kept.
      admitted.permit = { ...next, flights: permit.flights, waited_ms: permit.waited_ms + next.waited_ms };
      admitted.wish = wish;
    }
  }

  async #rank(upstream: Upstream, target: URL, request: FetchRequest, pool: Credential[]): Promise<Credential[]> {
    if (pool.length < 2) return pool;
    const { db, clock } = this.#parts;
    const wishes = pool.map((c) => wishOf(upstream, target, request, c.account));
    const key = `${request.share ?? ""}\u0000${wishes.map((w) => w.budgets.map((b) => b.budget).join()).join()}`;
    const known = this.#ranked.get(key);
    // The order is remembered, not the tokens: one that was refused may have left its account to another.
    if (known && clock.elapsed_ms() - known.at_ms < RANKED_MS) return known.order.map((i) => pool[i]!);
    const left = await readLeft(
      db,
      wishes.flatMap((w) => w.budgets.map((b) => b.budget)),
      request.share ?? "",
    );
    const scores = wishes.map((w) => Math.min(...w.budgets.map((b) => left.get(b.budget) ?? 1)));
    const order = pool.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]!);
    if (this.#ranked.size > 1_000) this.#ranked.clear();
    this.#ranked.set(key, { at_ms: clock.elapsed_ms(), order });
    return order.map((i) => pool[i]!);
  }
}

/** Which part of each budget is left for a share; below none where it is closed. */
async function readLeft(db: Queryable, budgets: string[], share: string): Promise<Map<string, number>> {
  const { rows } = await db.query<{ budget: string; part: number }>(sql`
    select b.budget,
           case when b.closed_until > tidemark.now() then -1 when b.room = 0 then 1
                else least(1, tidemark.budget_left(tidemark.budget_at(b, tidemark.now()),
                                coalesce(array_position(b.share, ${share}), cardinality(b.share))) / b.room) end as part
      from tidemark.budget b where b.budget = any(${budgets}::text[])`);
  return new Map(rows.map((row) => [row.budget, row.part]));
}

/** One of the addresses of a host, the same whatever order they come in; null where none was found. */
export const addressOf = (found: Found | { thrown: unknown }): string | null =>
  "addresses" in found ? (found.addresses.map(({ address }) => address).sort()[0] ?? null) : null;

/** Where a request goes, and whom it is for: not the same where a host is reached elsewhere than its name leads. */
export function sentTo(named: URL, { reached_at }: FetchRequest): { target: URL; as_host: string } {
  const target = reached_at === undefined ? named : new URL(`${named.pathname}${named.search}`, reached_at);
  return { target, as_host: named.host };
}
