/** The right to work on a resource until a time: claim, renew, hand back and expire, one statement each. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** A claimed resource with all that a pull needs to begin. */
export interface Lease {
  resource_id: bigint;
  lease_no: bigint;
  lane_id: number;
  due_at: string;
  fresh_at: string | null;
  tried_at: string;
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
}

export interface Want {
  lane_id: number;
  /** Nothing due before this is looked at: what lies below was claimed already, and its dead entries are many. */
  mark: string;
  most: number;
  /** Once something is due, what falls due within this time may come along. */
  ahead_ms: number;
}

/**
 * Claims up to `most` due rows of each lane, most overdue first, in one statement.
 *
 * `= any(array(…))` runs the inner scan once, and the rows are taken by their place: a row that moved since is left for the
 * next claim. SKIP LOCKED never waits for another claimer. Which lanes are open was asked just before (`peek`), so a closed one is not scanned at all.
 */
export async function claim(db: Queryable, wants: Want[], ttl_ms: number, worker_id: number): Promise<Lease[]> {
  const until = wants.some((w) => w.ahead_ms > 0)
    ? sql`tidemark.now() + case
            when w.ahead_ms > 0 and exists (
              select 1 from tidemark.due e
               where e.lane_id = w.lane_id and e.lease_until is null and e.due_at >= w.mark and e.due_at <= tidemark.now())
            then w.ahead_ms else 0 end * interval '1 millisecond'`
    : sql`tidemark.now()`;
  const picked = sql`
    select c.tid
      from unnest(${wants.map((w) => w.lane_id)}::int[], ${wants.map((w) => w.mark)}::timestamptz[],
                  ${wants.map((w) => w.most)}::int[], ${wants.map((w) => w.ahead_ms)}::float8[]) as w(lane_id, mark, most, ahead_ms)
     cross join lateral (
       select d.ctid as tid
         from tidemark.due d
        where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at <= ${until}
        order by d.due_at
        limit w.most
          for update skip locked
     ) c`;
  return leased(db, picked, ttl_ms, worker_id);
}

/** Claims in a first-come lane: by place in line, whatever became due first. */
export function claimFirstCome(db: Queryable, lane_id: number, most: number, ttl_ms: number, worker_id: number) {
  const picked = sql`
    select d.ctid
      from tidemark.due d
     where d.lane_id = ${lane_id} and d.lease_until is null and d.asked_at is not null and d.due_at <= tidemark.now()
     order by d.asked_at
     limit ${most}
       for update skip locked`;
  return leased(db, picked, ttl_ms, worker_id);
}

async function leased(
  db: Queryable,
  picked: ReturnType<typeof sql>,
  ttl_ms: number,
  worker_id: number,
): Promise<Lease[]> {
  const { rows } = await db.query<Lease>(sql`
    update tidemark.due d
       set lease_no = d.lease_no + 1,
           lease_until = tidemark.now() + ${ttl_ms}::float8 * interval '1 millisecond',
           tried_at = tidemark.now(),
           worker_id = ${worker_id}
      from tidemark.resource r
     where d.ctid = any(array(${picked}))
       and r.resource_id = d.resource_id
    returning d.resource_id, d.lease_no, d.lane_id, d.due_at, d.fresh_at, d.tried_at, d.failures, d.mail_done, d.mail_seq,
              r.source, r.kind, r.key, r.options, r.cursor, r.generation, r.changed_at, r.viewed_at, r.progress_done,
              (r.error is not null or r.reason is not null or r.parked_at is not null or r.gone_at is not null) as marked,
              extract(epoch from tidemark.now())::float8 * 1000 as now_ms`);
  return rows;
}

/** How many live leases a lane has over all workers. Call it in a statement of its own, after locking the lane. */
export async function countLive(db: Queryable, source: string, name: string, upstream: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(sql`
    select count(d.resource_id)::int as n
      from tidemark.lane l join tidemark.due d on d.lane_id = l.lane_id and d.lease_until > tidemark.now()
     where l.source = ${source} and l.name = ${name} and l.upstream = ${upstream}`);
  return rows[0]?.n ?? 0;
}

/** Only bounded lanes are locked while claiming: a count and a claim must not interleave with another's. */
export async function lockLane(tx: Queryable, source: string, name: string, upstream: string): Promise<void> {
  await tx.query(sql`
    select lane_id from tidemark.lane
     where source = ${source} and name = ${name} and upstream = ${upstream} order by lane_id for update`);
}

/** A lane without a bound, or with room below it; a glance, which the claim repeats behind the lane's lock. */
export const hasRoom = sql`(l.fleet is null or l.fleet > (
  select count(e.resource_id) from tidemark.lane p join tidemark.due e on e.lane_id = p.lane_id and e.lease_until > tidemark.now()
   where (p.source, p.name, p.upstream) = (l.source, l.name, l.upstream)))`;

export interface Held {
  resource_id: bigint;
  lease_no: bigint;
}

/** Prolongs leases that are still ours and have not ended; says which those are. */
export async function renew(db: Queryable, held: Held[], ttl_ms: number): Promise<Set<bigint>> {
  const sorted = inOrder(held);
  const { rows } = await db.query<{ resource_id: bigint }>(sql`
    update tidemark.due d
       set lease_until = tidemark.now() + ${ttl_ms}::float8 * interval '1 millisecond'
      from unnest(${sorted.map((h) => h.resource_id)}::bigint[], ${sorted.map((h) => h.lease_no)}::bigint[]) as h(resource_id, lease_no)
     where d.resource_id = h.resource_id and d.lease_no = h.lease_no and coalesce(d.lease_until > tidemark.now(), false)
    returning d.resource_id`);
  return new Set(rows.map((r) => r.resource_id));
}

/** Gives leases back unused: due at once for anyone, and no attempt is charged. */
export async function handBack(db: Queryable, held: Held[]): Promise<number> {
  if (held.length === 0) return 0;
  const sorted = inOrder(held);
  const { count } = await db.query(sql`
    update tidemark.due d
       set lease_until = null, worker_id = null, due_at = greatest(tidemark.now(), d.not_before)
      from unnest(${sorted.map((h) => h.resource_id)}::bigint[], ${sorted.map((h) => h.lease_no)}::bigint[]) as h(resource_id, lease_no)
     where d.resource_id = h.resource_id and d.lease_no = h.lease_no and coalesce(d.lease_until, '-infinity') > '-infinity'`);
  return count;
}

/** The order in which everyone locks due rows. */
export function inOrder<T extends { resource_id: bigint }>(rows: T[]): T[] {
  return rows.toSorted((a, b) => (a.resource_id < b.resource_id ? -1 : a.resource_id > b.resource_id ? 1 : 0));
}

export interface Expired {
  resource_id: bigint;
  failures: number;
}

/**
 * Ends the leases of the dead: their rows are due again at once, above every low-water mark, and one failure is
 * charged, or a resource that kills its worker would be claimed for ever. `since` is a low-water mark as in claims.
 */
export async function expire(db: Queryable, lanes: number[], since: string, most: number): Promise<Expired[]> {
  const { rows } = await db.query<Expired>(sql`
    update tidemark.due d
       set lease_until = null, worker_id = null, due_at = greatest(tidemark.now(), d.not_before), failures = d.failures + 1
     where d.resource_id = any(array(
             select c.resource_id
               from unnest(${lanes}::int[]) as w(lane_id)
              cross join lateral (
                select e.resource_id from tidemark.due e
                 where e.lane_id = w.lane_id and e.lease_until >= ${since}::timestamptz and e.lease_until <= tidemark.now()
                 order by e.lease_until limit ${most} for update skip locked) c))
    returning d.resource_id, d.failures::int as failures`);
  return rows;
}

export interface Wake {
  /** Milliseconds until something falls due in one of the lanes, or null when nothing will. */
  due_ms: number | null;
  /** … until a lease that lives now ends. */
  expiry_ms: number | null;
}

/** When to look again: the earliest due row of an open lane, and the earliest end of a lease. */
export async function nextWake(
  db: Queryable,
  lanes: { lane_id: number; mark: string }[],
  all_lanes: number[],
  since: string,
): Promise<Wake> {
  const { rows } = await db.query<Wake>(sql`
    select (select extract(epoch from min(greatest(c.due_at, u.closed_until)) - tidemark.now())::float8 * 1000
              from unnest(${lanes.map((l) => l.lane_id)}::int[], ${lanes.map((l) => l.mark)}::timestamptz[]) as w(lane_id, mark)
              join tidemark.lane l on l.lane_id = w.lane_id
              join tidemark.upstream u on u.upstream = l.upstream
             cross join lateral (
               select d.due_at from tidemark.due d
                where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at < 'infinity'
                order by d.due_at limit 1) c
             where ${hasRoom}) as due_ms,
           (select extract(epoch from min(c.lease_until) - tidemark.now())::float8 * 1000
              from unnest(${all_lanes}::int[]) as w(lane_id)
             cross join lateral (
               select e.lease_until from tidemark.due e
                where e.lane_id = w.lane_id and e.lease_until >= ${since}::timestamptz
                order by e.lease_until limit 1) c) as expiry_ms`);
  return rows[0] ?? { due_ms: null, expiry_ms: null };
}
