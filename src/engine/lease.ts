/** The right to work on a resource until a time: claim, renew and hand back, one statement each. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** A claimed resource with all that a pull needs to begin. */
export interface Lease {
  resource_id: bigint;
  lease_no: bigint;
  /** The list that this lease stands on, with those claimed beside it. */
  hold_id: bigint;
  lane_id: number;
  fresh_at: string | null;
  /** When this claim was made, by the database's clock. */
  tried_at: string;
  /** The latest due moment that the claim took in this lane. */
  newest_due_at: string;
  failures: number;
  mail_done: bigint;
  mail_seq: bigint;
  source: string;
  kind: string;
  key: string;
  options: Record<string, unknown> | null;
  cursor: unknown;
  generation: bigint;
  changed_at: string | null;
  viewed_at: string | null;
  progress_done: bigint | null;
  /** The cold row carries an error, a reason or a parking that success has to clear. */
  marked: boolean;
  now_ms: number;
  /** Where its hot row was put; it may have moved since. */
  place: string;
}

export interface Want {
  lane_id: number;
  /** Nothing due before this is looked at: what lies below was claimed already, and its dead entries are many. */
  mark: string;
  most: number;
  /** Once something is due, what falls due within this time may come along. */
  ahead_ms: number;
}

/** Who claims and for how long. */
export interface Claimer {
  worker_id: number;
  ttl_ms: number;
  /** Takes its holds that are over: they are dropped with the same statement. */
  over?(): bigint[];
}

/**
 * Claims up to `most` due rows of each lane, most overdue first, in one statement.
 *
 * SKIP LOCKED never waits for another claimer, and the rows are taken by their place. Which lanes are open was asked just
 * before (`peek`), so a closed one is not scanned at all.
 */
export function claim(db: Queryable, wants: Want[], by: Claimer): Promise<Lease[]> {
  return leased(db, wants, by, false);
}

/** Claims in a first-come lane: by place in line, whatever became due first. */
export function claimFirstCome(db: Queryable, lane_id: number, most: number, by: Claimer): Promise<Lease[]> {
  return leased(db, [{ lane_id, mark: "-infinity", most, ahead_ms: 0 }], by, true);
}

async function leased(db: Queryable, wants: Want[], by: Claimer, by_place: boolean): Promise<Lease[]> {
  const { rows } = await db.query<Lease>(sql`
    select resource_id, lease_no, place, fresh_at, failures, mail_done, mail_seq, source, kind, key, options, cursor, generation,
           changed_at, viewed_at, progress_done, marked, lane_id, hold_id, newest_due_at, tried_at, now_ms
      from tidemark.claim(${by.worker_id}, ${by.ttl_ms}, ${by.over?.() ?? []},
      ${wants.map((w) => w.lane_id)}, ${wants.map((w) => w.mark)}, ${wants.map((w) => w.most)}, ${wants.map((w) => w.ahead_ms)}, ${by_place})`);
  return rows;
}

export interface Held {
  resource_id: bigint;
  lease_no: bigint;
}

/** Prolongs leases that are still ours and have not ended; says which those are. */
export async function renew(db: Queryable, held: Held[], ttl_ms: number): Promise<Set<bigint>> {
  const sorted = inOrder(held);
  const { rows } = await db.query<{ resource_id: bigint }>(sql`
    with ours as materialized (${locked(sorted)})
    update tidemark.due d
       set lease_until = tidemark.now() + ${ttl_ms}::float8 * interval '1 millisecond'
      from ours
     where d.resource_id = ours.resource_id and coalesce(d.lease_until > tidemark.now(), false)
    returning d.resource_id`);
  return new Set(rows.map((r) => r.resource_id));
}

/** Gives leases back unused: due for anyone, at once unless said, and no attempt is charged. */
export async function handBack(db: Queryable, held: Held[], after_ms = 0): Promise<number> {
  if (held.length === 0) return 0;
  const sorted = inOrder(held);
  const { count } = await db.query(sql`
    with ours as materialized (${locked(sorted)})
    update tidemark.due d
       set lease_until = null, worker_id = null,
           due_at = greatest(tidemark.now() + ${after_ms}::float8 * interval '1 millisecond', d.not_before)
      from ours
     where d.resource_id = ours.resource_id and coalesce(d.lease_until, '-infinity') > '-infinity'`);
  return count;
}

/** Before they are changed: an update alone takes them as they lie where it reads a small table from end to end, and meets a commit in a circle. */
const locked = (sorted: Held[]): Sql => sql`
  select d.resource_id
    from tidemark.due d
    join unnest(${sorted.map((h) => h.resource_id)}::bigint[], ${sorted.map((h) => h.lease_no)}::bigint[]) as h(resource_id, lease_no)
      on d.resource_id = h.resource_id and d.lease_no = h.lease_no
   order by d.resource_id for update of d`;

/** The order in which everyone locks due rows. */
export function inOrder<T extends { resource_id: bigint }>(rows: T[]): T[] {
  return rows.toSorted((a, b) => (a.resource_id < b.resource_id ? -1 : a.resource_id > b.resource_id ? 1 : 0));
}
