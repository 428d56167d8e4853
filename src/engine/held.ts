/** The leases that a worker holds: renewed while their pulls live, watched for those that hang, given back when it stops. */
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";
import { dropHolds } from "./holds.ts";
import type { LaneRow, Lanes } from "./lanes.ts";
import { type Claimer, handBack, type Lease, renew } from "./lease.ts";
import type { ActivePull } from "./pull.ts";

/** What this release cannot pull is looked at again after so long: by then one that can may have it. */
const UNKNOWN_MS = 60_000;

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
  #unsaid: Lease[] = [];
  /** How many leases each hold still lists, and the holds that list none any more. */
  readonly #holds = new Map<bigint, number>();
  #over: bigint[] = [];
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

  /** How this worker claims: what it is done with is dropped on the way. */
  claimer(worker_id: number): Claimer {
    return { worker_id, ttl_ms: this.#parts.ttl_ms, over: () => this.#over.splice(0) };
  }

  add(pull: ActivePull): void {
    const old = this.#pulls.get(pull.lease.resource_id);
    // Its lease ended, nobody has told it yet, and we were the first to claim again.
    if (old) {
      this.#lose(old);
      this.remove(old, false);
    }
    this.#pulls.set(pull.lease.resource_id, pull);
    this.#list(pull.lease);
    this.#count(pull, 1);
  }

  /** Gives back what another release made and this one does not know, uncharged. */
  async leave(leases: Lease[]): Promise<void> {
    if (leases.length === 0) return;
    for (const lease of leases) this.#list(lease);
    const count = await handBack(this.#parts.db, leases, UNKNOWN_MS);
    for (const lease of leases) this.#comeOff(lease);
    this.#parts.events.emit("handed_back", { count });
  }

  #list({ hold_id }: Lease): void {
    this.#holds.set(hold_id, (this.#holds.get(hold_id) ?? 0) + 1);
  }

  /**
   * Lets a pull go; false when it was let go before. A lease that the database knows has ended comes off its hold; any other is
   * given back as soon as the database answers.
   */
  remove(pull: ActivePull, ended: boolean): boolean {
    if (!this.has(pull)) return false;
    this.#pulls.delete(pull.lease.resource_id);
    this.#count(pull, -1);
    if (ended) this.#comeOff(pull.lease);
    else this.#unsaid.push(pull.lease);
    return true;
  }

  #comeOff({ hold_id }: Lease): void {
    const left = (this.#holds.get(hold_id) ?? 1) - 1;
    if (left > 0) this.#holds.set(hold_id, left);
    else if (this.#holds.delete(hold_id)) this.#over.push(hold_id);
  }

  #count(pull: ActivePull, by: number): void {
    const row = this.#parts.lanes.row(pull.lease.lane_id);
    if (row) this.#busy.set(row.pair, (this.#busy.get(row.pair) ?? 0) + by);
    if (row?.urgency === "asked") this.#asked += by;
  }

  /** Gives back what was left unsaid; one that was taken by another in the meantime is not touched. */
  async sayUnsaid(): Promise<void> {
    if (this.#unsaid.length === 0) return;
    const unsaid = this.#unsaid;
    const count = await handBack(this.#parts.db, unsaid);
    this.#unsaid = this.#unsaid.filter((h) => !unsaid.includes(h));
    for (const lease of unsaid) this.#comeOff(lease);
    if (count > 0) this.#parts.events.emit("handed_back", { count });
  }

  /** Renews the leases of pulls that began a while ago; those that are no longer ours end. */
  async renew(): Promise<void> {
    const { clock, db, ttl_ms } = this.#parts;
    const now = clock.elapsed_ms();
    const old = [...this.#pulls.values()].filter((p) => now - p.begun_ms > ttl_ms / 4 && !p.over);
    if (old.length === 0) return;
    const ours = await renew(
      db,
      old.map((p) => p.lease),
      ttl_ms,
    );
    for (const pull of old) if (!ours.has(pull.lease.resource_id) && this.has(pull)) this.#lose(pull);
  }

  #lose(pull: ActivePull): void {
    if (pull.over) return;
    const { source, kind, key, resource_id, lease_no } = pull.lease;
    this.#parts.events.emit("lease_lost", { source, kind, key, resource_id, lease_no });
    pull.abort(new TidemarkError("LeaseLost", `The lease on ${pull.name} ended.`));
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
      this.remove(pull, false);
    }
    await this.sayUnsaid();
    await dropHolds(this.#parts.db, this.#over.splice(0));
    return pulls.length;
  }
}
