/** The public cursor of a posting resource: everything at or before it is in the mirror. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** How far a poster has read; made with its first commit, which read on from `from`. */
export async function moveInternal(tx: Queryable, resource_id: bigint, from: bigint, internal: bigint): Promise<void> {
  await tx.query(sql`
    insert into tidemark.tidemark (resource_id, internal, position)
    values (${resource_id}::bigint, ${internal}::bigint, least(${from}::bigint, ${internal}::bigint))
    on conflict (resource_id) do update set internal = greatest(tidemark.internal, excluded.internal)
     where tidemark.internal < excluded.internal`);
}

/** In one order, and in a statement before any of them moves. */
export async function lockTidemarks(tx: Queryable, origins: bigint[]): Promise<void> {
  await tx.query(sql`
    select resource_id from tidemark.tidemark where resource_id = any(${origins}::bigint[]) order by resource_id for update`);
}

/**
 * Moves tidemarks to just before the earliest message that is still pending, or to the end of what was read.
 *
 * The rows were locked in a statement before this one, which takes the minimum: taken in the same statement, two
 * commits that each still see the other's message would leave the tidemark standing for ever.
 */
export async function moveTidemarks(tx: Queryable, origins: bigint[]): Promise<void> {
  await tx.query(sql`
    update tidemark.tidemark t set position = n.position, moved_at = tidemark.now()
      from (select x.resource_id,
                   greatest(x.position, least(x.internal, coalesce(
                     (select m.position - 1 from tidemark.message m
                       where m.origin_id = x.resource_id and m.parked_at is null and m.position is not null
                       order by m.position limit 1), x.internal))) as position
              from tidemark.tidemark x where x.resource_id = any(${origins}::bigint[])) n
     where t.resource_id = n.resource_id and t.position < n.position`);
}

/** A position that arrives behind the internal cursor takes its place, and is counted as an anomaly. */
export async function countAnomalies(tx: Queryable, resource_id: bigint, n: number): Promise<void> {
  await tx.query(
    sql`update tidemark.tidemark set anomalies = anomalies + ${n} where resource_id = ${resource_id}::bigint`,
  );
}
