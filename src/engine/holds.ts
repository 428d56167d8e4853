/** Leases seen from outside: how many live in a lane, which ended because their holder died, and when to look again. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** How many live leases a lane has over all workers. Call it in a statement of its own, after locking the lane. */
export async function countLive(db: Queryable, source: string, name: string, upstream: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(sql`
    select count(e.resource_id)::int as n
      from tidemark.lane l join tidemark.lease e on e.lane_id = l.lane_id and e.lease_until > tidemark.now()
     where l.source = ${source} and l.name = ${name} and l.upstream = ${upstream}`);
  return rows[0]?.n ?? 0;
}

/**
 * Only bounded lanes are locked while claiming: a count and a claim must not interleave with another's. False when another has it: one
 * that froze there must not hold up everybody's claims. One row stands for both urgencies.
 */
export async function lockLane(tx: Queryable, source: string, name: string, upstream: string): Promise<boolean> {
  const { rows } = await tx.query(sql`
    select lane_id from tidemark.lane
     where lane_id = (select min(lane_id) from tidemark.lane where source = ${source} and name = ${name} and upstream = ${upstream})
       for no key update skip locked`);
  return rows.length > 0;
}

export interface Expired {
  /** Every hold whose time had come was looked at; none was skipped because another has it locked, and may yet let it go as it was. */
  all: boolean;
  ended: { resource_id: bigint; failures: number }[];
}

/**
 * Ends the leases of the dead: their rows are due again at once, above every low-water mark, and one failure is
 * charged, or a resource that kills its worker would be claimed for ever. `since` is a low-water mark as in claims.
 *
 * Its holder renews a lease in the hot row alone, so a hold whose time came may list leases that live: then it is given the time
 * of the first of them to end, and where none is left it goes.
 */
export async function expire(db: Queryable, since: string, most: number): Promise<Expired> {
  type Looked = { looked_at: number; come: number; resource_id: bigint | null; failures: number };
  const { rows } = await db.query<Looked>(sql`
    with over as (
      select hold_id, resource_ids, lease_nos from tidemark.hold
       where until >= ${since}::timestamptz and until <= tidemark.now()
       order by until limit ${most} for update skip locked
    ), listed as materialized (
      select o.hold_id, d.resource_id, d.lease_until
        from over o
       cross join lateral unnest(o.resource_ids, o.lease_nos) as l(resource_id, lease_no)
        join tidemark.due d on d.resource_id = l.resource_id and d.lease_no = l.lease_no and d.lease_until is not null
    ), ended as (
      update tidemark.due d
         set lease_until = null, worker_id = null, due_at = greatest(tidemark.now(), d.not_before), failures = d.failures + 1
       where d.resource_id = any(array(
               select e.resource_id from tidemark.due e
                where e.resource_id = any(array(select resource_id from listed)) and e.lease_until <= tidemark.now()
                order by e.resource_id for update skip locked))
      returning d.resource_id, d.failures::int as failures
    ), kept as (
      update tidemark.hold h
         set until = k.until
        from (select l.hold_id, greatest(min(l.lease_until), tidemark.now() + interval '500 milliseconds') as until
                from listed l where not exists (select 1 from ended e where e.resource_id = l.resource_id)
               group by l.hold_id) k
       where h.hold_id = k.hold_id
      returning h.hold_id
    ), emptied as (
      delete from tidemark.hold where hold_id in (select hold_id from over) and hold_id not in (select hold_id from kept)
    )
    select o.looked_at, c.come, e.resource_id, e.failures
      from (select count(*)::int as looked_at from over) o
     cross join (select count(*)::int as come
                   from (select 1 from tidemark.hold where until >= ${since}::timestamptz and until <= tidemark.now() limit ${most + 1}) t) c
      left join ended e on true`);
  const { looked_at = 0, come = 0 } = rows[0] ?? {};
  return {
    all: come <= looked_at,
    ended: rows.flatMap(({ resource_id, failures }) => (resource_id === null ? [] : [{ resource_id, failures }])),
  };
}

/** Drops holds whose leases all ended. */
export async function dropHolds(db: Queryable, hold_ids: bigint[]): Promise<void> {
  if (hold_ids.length === 0) return;
  await db.query(sql`delete from tidemark.hold where hold_id = any(${hold_ids}::bigint[])`);
}

export interface Wake {
  /** Milliseconds until something falls due in one of the lanes, or null when nothing will. */
  due_ms: number | null;
  /** … until a lease that lives now may end. */
  expiry_ms: number | null;
}

/** When to look again: the earliest due row of an open lane, and the earliest end of a lease. */
export async function nextWake(
  db: Queryable,
  lanes: { lane_id: number; mark: string }[],
  since: string,
): Promise<Wake> {
  const { rows } = await db.query<Wake>(
    sql`select due_ms, expiry_ms from tidemark.next_wake(${lanes.map((l) => l.lane_id)}, ${lanes.map((l) => l.mark)}, ${since})`,
  );
  return rows[0] ?? { due_ms: null, expiry_ms: null };
}
