/** The places in line of several resources at once, for lists; `engine/eta.ts` has the whole truth about one. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** Places beyond this one are all shown as this one. */
export const PLACES_MOST = 1_000;

interface Place {
  resource_id: bigint;
  place: number;
}

/**
 * The place of each of these that is due, in its own lane and after the asked twin of a routine one. Each count reads the index that
 * claims use, up to a bound; 0.1 ms for each where little is due.
 */
export async function readPlaces(db: Queryable, resource_ids: readonly bigint[]): Promise<Map<bigint, number>> {
  if (resource_ids.length === 0) return new Map();
  const { rows } = await db.query<Place>(sql`
    select d.resource_id, least(${PLACES_MOST}, 1 + mine.ahead + asked.ahead)::int as place
      from unnest(${resource_ids}::bigint[]) as w(resource_id)
      join tidemark.due d on d.resource_id = w.resource_id and d.lease_until is null and d.due_at <= tidemark.now()
      join tidemark.lane l on l.lane_id = d.lane_id
     cross join lateral (
       select count(*) as ahead from (
         (select 1 from tidemark.due o
           where not l.first_come and o.lane_id = d.lane_id and o.lease_until is null
             and o.due_at <= d.due_at and (o.due_at, o.resource_id) < (d.due_at, d.resource_id)
           limit ${PLACES_MOST})
         union all
         (select 1 from tidemark.due o
           where l.first_come and o.lane_id = d.lane_id and o.lease_until is null and o.due_at <= tidemark.now()
             and o.asked_at <= d.asked_at and (o.asked_at, o.resource_id) < (d.asked_at, d.resource_id)
           limit ${PLACES_MOST})) o) mine
     cross join lateral (
       select count(*) as ahead from (
         select 1 from tidemark.lane a
           join tidemark.due o on o.lane_id = a.lane_id and o.lease_until is null and o.due_at <= tidemark.now()
          where l.urgency = 'routine' and (a.source, a.name, a.upstream, a.urgency) = (l.source, l.name, l.upstream, 'asked')
          limit ${PLACES_MOST}) o) asked`);
  return new Map(rows.map((row) => [row.resource_id, row.place]));
}
