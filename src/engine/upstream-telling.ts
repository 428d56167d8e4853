/** What calls tell the breaker of their upstream: each failure, and successes as often as somebody has to know of them. */
import type { Clock } from "../clock.ts";
import type { Upstream } from "../contract.ts";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";
import { tell } from "./breaker-row.ts";
import type { Grants } from "./grant.ts";
import type { Permit } from "./grant-permit.ts";
import type { Notices } from "./upstream-notices.ts";

/** How often a success is written down, and how often while somebody says that the upstream fails. */
const WELL_EVERY_MS = 10_000;
const WELL_DOUBTED_MS = 250;
/** A success that was not written down is, when a failure comes so soon after it. */
const WELL_LATELY_MS = 1_000;

export interface TellingParts {
  db: Db;
  clock: Clock;
  events: Events;
  grants: Grants;
  notices: Notices;
}

/** Who speaks: a resource (0 outside of pulls), and whether its call tests the upstream. */
interface Teller {
  resource: bigint;
  probe: boolean;
}

export class Telling {
  readonly #parts: TellingParts;
  readonly #well_ms = new Map<string, number>();
  /** Upstreams without a breaker: nobody is told anything of them, and who fails there is charged. */
  readonly #silent = new Set<string>();
  readonly #untold = new Map<string, { resource: bigint; at_ms: number }>();

  constructor(parts: TellingParts) {
    this.#parts = parts;
  }

  /** Remembers whether it has a breaker. */
  know({ name, breaker }: Upstream): void {
    if (breaker === false) this.#silent.add(name);
  }

  /** The upstream got no answer ready for us: whether that is charged, and how long to wait. */
  async down(
    upstream: string,
    teller: Teller,
    sentence: string,
    cause?: unknown,
    details?: Record<string, unknown>,
  ): Promise<TidemarkError> {
    const untold = this.#untold.get(upstream);
    this.#untold.delete(upstream);
    // Or three that fail now and then among thousands would look as if nobody had succeeded between them.
    if (untold && this.#parts.clock.elapsed_ms() - untold.at_ms < WELL_LATELY_MS)
      await this.tell(upstream, "succeeded", { resource: untold.resource, probe: false });
    const { charged, wait_ms } = await this.tell(upstream, "failed", teller, sentence);
    return new TidemarkError("UpstreamDown", sentence, {
      charged,
      ...(charged ? {} : { wait_ms }),
      ...(cause === undefined ? {} : { cause }),
      details: details ?? asTidemarkError(cause).details,
    });
  }

  async well(upstream: string, resource: bigint, { probe, failing }: Permit): Promise<void> {
    const now_ms = this.#parts.clock.elapsed_ms();
    const passed_ms = now_ms - (this.#well_ms.get(upstream) ?? Number.NEGATIVE_INFINITY);
    if (this.#untold.size > 10_000) this.#untold.clear();
    this.#untold.set(upstream, { resource, at_ms: now_ms });
    if (!probe && passed_ms < (failing > 0 ? WELL_DOUBTED_MS : WELL_EVERY_MS)) return;
    this.#untold.delete(upstream);
    if (this.#well_ms.size > 10_000) this.#well_ms.clear();
    this.#well_ms.set(upstream, now_ms);
    await this.tell(upstream, "succeeded", { resource, probe });
  }

  async tell(
    upstream: string,
    event: "succeeded" | "failed" | "refused" | "asked" | "left",
    teller: Teller,
    reason = "",
  ) {
    const { db, events, grants, notices } = this.#parts;
    if (this.#silent.has(upstream)) return { next: null, charged: true, wait_ms: 0 };
    const change = await tell(db, events, upstream, event, teller, reason);
    if (change.next && change.next.state !== "closed") {
      grants.void(upstream);
      await notices.tell(upstream);
    }
    return change;
  }
}
