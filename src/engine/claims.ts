/** What a worker claims next: which lanes have something due, how the free slots are shared among them, where to begin looking. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Db, Queryable, Tx } from "../store/db.ts";
import { countLive, lockLane } from "./holds.ts";
import type { LaneRow, Lanes } from "./lanes.ts";
import { type Claimer, claim, claimFirstCome, type Lease, type Want } from "./lease.ts";

const BEGINNING = "-infinity";
/** Rows made due below the mark (by a late commit, or handed back) are found at the latest then. */
const RESCAN_MS = 10_000;
/** This part of the slots is kept for what people asked for. */
const ASKED_RESERVE = 0.1;

export interface ClaimParts {
  db: Db;
  lanes: Lanes;
  clock: Clock;
  slots: number;
  /** Upstreams that this worker alone cannot call. */
  barred?(upstream: string): boolean;
}

/** What a worker is busy with: how many pulls of a lane, and how many that people asked for. */
export interface Busy {
  busy(row: LaneRow): number;
  readonly asked: number;
}

interface Marked {
  lane_id: number;
  mark: string;
}

interface Peeked {
  lane_id: number;
  /** A moment that no row becomes due before any more, but by a late commit. */
  settled_at: string;
}

export class Claims {
  readonly #parts: ClaimParts;
  readonly #marks = new Map<number, string>();
  #rescanned_ms = Number.NEGATIVE_INFINITY;
  #turn = 0;
  /** Before this moment nothing is left that was due or whose lease had ended, but for late commits. */
  settled_at = BEGINNING;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  mark(lane_id: number): string {
    return this.#marks.get(lane_id) ?? BEGINNING;
  }

  /** The lanes that could take something into `free` slots, and from where on each is looked at. */
  marked(free: number, held: Busy): Marked[] {
    const { lanes, slots, barred } = this.#parts;
    const routine = free - this.#reserve(free, held);
    return lanes
      .rows()
      .filter((row) => !barred?.(row.upstream))
      .filter((row) => lanes.slots(row, slots) > held.busy(row) && (row.urgency === "asked" ? free : routine) > 0)
      .map(({ lane_id }) => ({ lane_id, mark: this.mark(lane_id) }));
  }

  #reserve(free: number, { asked }: Busy): number {
    const { slots } = this.#parts;
    return Math.max(0, Math.min(free, Math.ceil(slots * ASKED_RESERVE) - asked, slots - 1));
  }

  /** Claims what fits into `free` slots: asked before routine, each lane its fair part. */
  async next(free: number, held: Busy, by: Claimer): Promise<Lease[]> {
    const { lanes, slots, clock, db } = this.#parts;
    if (clock.elapsed_ms() - this.#rescanned_ms > RESCAN_MS) {
      this.#marks.clear();
      this.#rescanned_ms = clock.elapsed_ms();
    }
    const peeked = await peek(db, this.marked(free, held));
    if (peeked[0]) this.settled_at = peeked[0].settled_at;
    const leases: Lease[] = [];
    const taken = new Map<string, number>();
    const room = (row: LaneRow) => lanes.slots(row, slots) - held.busy(row) - (taken.get(row.pair) ?? 0);
    const reserve = this.#reserve(free, held);
    for (const urgency of ["asked", "routine"] as const) {
      const active = peeked.flatMap((p) => lanes.row(p.lane_id) ?? []).filter((r) => r.urgency === urgency);
      const left = free - leases.length - (urgency === "routine" ? reserve : 0);
      const parts = shareOut(left, active.map(room), this.#turn++);
      const wants = active.map((row, i) => ({ row, most: parts[i]! })).filter((w) => w.most > 0);
      for (const lease of await this.#claim(wants, peeked, by)) {
        leases.push(lease);
        const name = lanes.row(lease.lane_id)!.pair;
        taken.set(name, (taken.get(name) ?? 0) + 1);
      }
    }
    return leases;
  }

  async #claim(wants: { row: LaneRow; most: number }[], peeked: Peeked[], by: Claimer): Promise<Lease[]> {
    const { db, lanes } = this.#parts;
    const plain: Want[] = [];
    const leases: Lease[] = [];
    for (const { row, most } of wants) {
      if (row.fleet !== null) leases.push(...(await this.#claimBounded(row, most, by)));
      else if (row.first_come) leases.push(...(await claimInLine(db, row.lane_id, most, by)));
      else plain.push({ lane_id: row.lane_id, mark: this.mark(row.lane_id), most, ahead_ms: lanes.ahead_ms(row) });
    }
    if (plain.length === 0) return leases;
    const claimed = await claim(db, plain, by);
    for (const want of plain) this.#moveMark(want, claimed, peeked);
    return [...leases, ...claimed];
  }

  /**
   * Counted in a statement after the lane's lock: counted in the same one, two workers would both see room. The server ends it
   * when this process freezes in between.
   */
  #claimBounded(row: LaneRow, most: number, by: Claimer): Promise<Lease[]> {
    const { source, name, upstream, lane_id } = row;
    const work = async (tx: Tx) => {
      if (!(await lockLane(tx, source, name, upstream))) return [];
      const room = Math.min(most, row.fleet! - (await countLive(tx, source, name, upstream)));
      if (room <= 0) return [];
      return row.first_come ? claimInLine(tx, lane_id, room, by) : claimFromBeginning(tx, lane_id, room, by);
    };
    return this.#parts.db.transaction(work, { idle_ms: by.ttl_ms / 3 });
  }

  #moveMark(want: Want, claimed: Lease[], peeked: Peeked[]): void {
    const { lanes } = this.#parts;
    if (lanes.row(want.lane_id)?.urgency !== "routine") return;
    const settled = peeked.find((p) => p.lane_id === want.lane_id)?.settled_at ?? BEGINNING;
    const mine = claimed.filter((l) => l.lane_id === want.lane_id);
    const newest = mine[0]?.newest_due_at ?? BEGINNING;
    const mark = mine.length < want.most || newest > settled ? settled : newest;
    if (mark > this.mark(want.lane_id)) this.#marks.set(want.lane_id, mark);
  }
}

/** By place in line. Where nothing that is due has a place, it is older than the lane's order, and goes by its due moment. */
async function claimInLine(db: Queryable, lane_id: number, most: number, by: Claimer): Promise<Lease[]> {
  const leases = await claimFirstCome(db, lane_id, most, by);
  return leases.length > 0 ? leases : claimFromBeginning(db, lane_id, most, by);
}

function claimFromBeginning(db: Queryable, lane_id: number, most: number, by: Claimer): Promise<Lease[]> {
  return claim(db, [{ lane_id, mark: BEGINNING, most, ahead_ms: 0 }], by);
}

/** Parts of `free` for those with room, as even as can be; the odd ones go round by turns. */
export function shareOut(free: number, rooms: number[], turn: number): number[] {
  const parts = rooms.map(() => 0);
  let left = Math.max(0, free);
  for (;;) {
    const hungry = rooms.flatMap((room, i) => (parts[i]! < room ? [i] : []));
    if (hungry.length === 0 || left === 0) return parts;
    const each = Math.floor(left / hungry.length);
    if (each === 0) {
      for (let n = 0; n < left; n += 1) parts[hungry[(turn + n) % hungry.length]!]! += 1;
      return parts;
    }
    for (const i of hungry) {
      const given = Math.min(each, rooms[i]! - parts[i]!);
      parts[i]! += given;
      left -= given;
    }
  }
}

/** Which lanes have something due now, in an open upstream: one index probe a lane. */
async function peek(db: Queryable, lanes: Marked[]): Promise<Peeked[]> {
  if (lanes.length === 0) return [];
  const { rows } = await db.query<Peeked>(
    sql`select lane_id, settled_at from tidemark.peek(${lanes.map((l) => l.lane_id)}, ${lanes.map((l) => l.mark)})`,
  );
  return rows;
}
