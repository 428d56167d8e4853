/** Claiming by hand: what a worker does with due rows, one step at a time. */
import sql from "sql-template-tag";
import { Claims } from "../../src/engine/claims.ts";
import { expire } from "../../src/engine/holds.ts";
import type { Lease } from "../../src/engine/lease.ts";
import { endOf } from "../../src/engine/outcome.ts";
import type { Outcome, Source } from "../../src/index.ts";
import type { TestStore } from "../postgres.ts";
import { Rig } from "./rig.ts";

export const TTL = 30_000;
export const one = { worker_id: 1, ttl_ms: TTL };
export const idle = { busy: () => 0, asked: 0 };
export const keys = (leases: Lease[]) => leases.map((l) => l.key).sort();

export class Claiming {
  readonly rig: Rig;
  claims!: Claims;

  private constructor(rig: Rig) {
    this.rig = rig;
  }

  static async open(open: () => Promise<TestStore>): Promise<Claiming> {
    return new Claiming(await Rig.open(open));
  }

  async reset(source: Source): Promise<void> {
    await this.rig.reset(source);
    this.claims = this.newClaims();
  }

  async end(): Promise<void> {
    await this.rig.db.query(sql`update tidemark.due set lease_until = null`);
    await this.rig.end();
  }

  newClaims(): Claims {
    const { db, lanes, clock } = this.rig;
    return new Claims({ db, lanes, clock, slots: 100 });
  }

  next(free = 100, worker_id = 1, from = this.claims): Promise<Lease[]> {
    return from.next(free, idle, { worker_id, ttl_ms: TTL });
  }

  /** Ends the leases of the dead; says which those were. */
  async expired() {
    return (await expire(this.rig.db, "-infinity", 100)).ended;
  }

  async holds(): Promise<{ hold_id: bigint }[]> {
    return (await this.rig.db.query<{ hold_id: bigint }>(sql`select hold_id from tidemark.hold`)).rows;
  }

  endWith(lease: Lease, outcome: Outcome) {
    const { lanes } = this.rig;
    const pair = lanes.known(lanes.spec("toy", lease.kind, lease.key, {}, { at: 0, done: false }))!;
    const end = endOf(outcome, lease, lanes.kind("toy", lease.kind), false, lease.now_ms);
    const { resource_id, lease_no, place, mail_done } = lease;
    const first_come = lanes.row(lease.lane_id)!.first_come;
    const lane_id = end.keep_place ? lease.lane_id : pair.routine;
    return { resource_id, lease_no, place, lane_id, first_come, mail_done, end };
  }
}
