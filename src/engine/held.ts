/** The leases that a worker holds: renewed while their pulls live, watched for those that hang, given back when it stops. */
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";
import type { LaneRow, Lanes } from "./lanes.ts";
import { type Held, handBack, renew } from "./lease.ts";
import type { ActivePull } from "./pull.ts";

export interface HeldParts {
  db: Db;
  clock: Clock;
  events: Events;
  lanes: Lanes;
  ttl_ms: number;
  pull_timeout_ms: number;
}

export class HeldLeases {
  readonly #parts: HeldParts;
  readonly #pulls = new Map<bigint, ActivePull>();
  readonly #busy = new Map<string, number>();
  /** Leases whose pull ended without a word to the database: given back as soon as it answers. */
  #unsaid: Held[] = [];
  #asked = 0;

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#pulls.size;
  }

  get asked(): number {
    return this.#asked;
  }

  busy(row: LaneRow): number {
    return this.#busy.get(row.pair) ?? 0;
  }

  has(pull: ActivePull): boolean {
    return this.#pulls.get(pull.lease.resource_id) === pull;
  }

  add(pull: ActivePull): void {
    this.#pulls.set(pull.lease.resource_id, pull);
    this.#count(pull, 1);
  }

  /** Lets a pull go; false when it was let go before. */
  remove(pull: ActivePull): boolean {
    if (!this.has(pull)) return false;
    this.#pulls.delete(pull.lease.resource_id);
    this.#count(pull, -1);
    return true;
  }

  #count(pull: ActivePull, by: number): void {
    const row = this.#parts.lanes.row(pull.lease.lane_id);
    if (row) this.#busy.set(row.pair, (this.#busy.get(row.pair) ?? 0) + by);
    if (row?.urgency === "asked") this.#asked += by;
  }

  /** Remembers a lease that could not be given up properly. */
  leaveUnsaid(pull: ActivePull): void {
    this.#unsaid.push({ resource_id: pull.lease.resource_id, lease_no: pull.lease.lease_no });
  }

  /** Gives back what was left unsaid; one that was taken by another in the meantime is not touched. */
  async sayUnsaid(): Promise<void> {
    if (this.#unsaid.length === 0) return;
    const unsaid = this.#unsaid;
    const count = await handBack(this.#parts.db, unsaid);
    this.#unsaid = this.#unsaid.filter((h) => !unsaid.includes(h));
    if (count > 0) this.#parts.events.emit("handed_back", { count });
  }

  /** Renews the leases of pulls that began a while ago; those that are no longer ours end. */
  async renew(): Promise<void> {
    const { clock, db, ttl_ms, events } = this.#parts;
    const now = clock.elapsed_ms();
    const old = [...this.#pulls.values()].filter((p) => now - p.begun_ms > ttl_ms / 4);
    if (old.length === 0) return;
    const ours = await renew(
      db,
      old.map((p) => p.lease),
      ttl_ms,
    );
    for (const pull of old) {
      if (ours.has(pull.lease.resource_id) || !this.has(pull)) continue;
      const { source, kind, key, resource_id, lease_no } = pull.lease;
      events.emit("lease_lost", { source, kind, key, resource_id, lease_no });
      pull.abort(new TidemarkError("LeaseLost", `The lease on ${pull.name} ended.`));
    }
  }

  /** Pulls that have committed nothing for too long. */
  hanging(): ActivePull[] {
    const { clock, pull_timeout_ms } = this.#parts;
    const now = clock.elapsed_ms();
    return [...this.#pulls.values()].filter((p) => now - p.alive_ms > pull_timeout_ms);
  }

  /** Ends everything now and gives the leases back, uncharged. */
  async giveUp(): Promise<number> {
    const pulls = [...this.#pulls.values()];
    for (const pull of pulls) {
      pull.abort(new TidemarkError("LeaseLost", "The worker is stopping."));
      this.leaveUnsaid(pull);
      this.remove(pull);
    }
    await this.sayUnsaid();
    return pulls.length;
  }
}
