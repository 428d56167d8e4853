/** Which resource brought forth which, and what becomes of those that nobody wants any more. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { lockDue } from "./resources.ts";

/** Notes that a listing of this generation saw these children. */
export async function seeChildren(
  tx: Queryable,
  parent_id: bigint,
  children: bigint[],
  generation: bigint,
): Promise<number> {
  if (children.length === 0) return 0;
  const { count } = await tx.query(sql`
    insert into tidemark.edge (parent_id, child_id, seen_generation)
    select ${parent_id}::bigint, c.child_id, ${generation}::bigint from unnest(${children}::bigint[]) as c(child_id)
    on conflict (parent_id, child_id) do update set seen_generation = excluded.seen_generation
     where edge.seen_generation < excluded.seen_generation`);
  return count;
}

/** Options that a listing gives its children anew; what is followed keeps the options that a person gave it. */
export async function updateOptions(
  tx: Queryable,
  children: { resource_id: bigint; options: string }[],
): Promise<void> {
  if (children.length === 0) return;
  await tx.query(sql`
    update tidemark.resource r set options = c.options::jsonb
      from unnest(${children.map((c) => c.resource_id)}::bigint[], ${children.map((c) => c.options)}::text[]) as c(resource_id, options)
     where r.resource_id = c.resource_id and r.followed_at is null and r.options is distinct from c.options::jsonb`);
}

/** What came to life by a message is its poster's child for good: no listing ends that, only the poster's own end. */
export async function bindPosted(tx: Queryable, parentOf: Map<bigint, bigint>): Promise<void> {
  if (parentOf.size === 0) return;
  await tx.query(sql`
    insert into tidemark.edge (parent_id, child_id, seen_generation)
    select b.parent_id, b.child_id, 9223372036854775807
      from unnest(${[...parentOf.values()]}::bigint[], ${[...parentOf.keys()]}::bigint[]) as b(parent_id, child_id)
    on conflict (parent_id, child_id) do nothing`);
}

/** The end of a complete listing: children that it did not see lose their edge. Says whose. */
export async function dropUnseen(tx: Queryable, parent_id: bigint, generation: bigint): Promise<bigint[]> {
  const { rows } = await tx.query<{ child_id: bigint }>(sql`
    delete from tidemark.edge where parent_id = ${parent_id}::bigint and seen_generation < ${generation}::bigint
    returning child_id`);
  return rows.map((r) => r.child_id);
}

/**
 * Those of the candidates that are neither followed nor anyone's child become gone for good (nobody looks again), and so do their children in turn. Their
 * leases are revoked by number. Their records go later, in bounded batches.
 */
export async function orphan(tx: Queryable, candidates: bigint[], reason: string): Promise<bigint[]> {
  const all: bigint[] = [];
  let next = candidates;
  while (next.length > 0) {
    // First the due rows, as everyone locks them, in a statement of its own: whoever follows or lists one of these at the
    // same time holds that lock, and what they did is seen by the next statement only.
    await lockDue(
      tx,
      next.toSorted((a, b) => (a < b ? -1 : 1)),
    );
    const { rows } = await tx.query<{ resource_id: bigint }>(sql`
      update tidemark.resource r set gone_at = coalesce(r.gone_at, tidemark.now()), reason = ${reason}, parked_at = null, paused_at = null
       where r.resource_id = any(${next}::bigint[]) and r.followed_at is null
         and (r.gone_at is null or exists (
               select 1 from tidemark.due d where d.resource_id = r.resource_id and d.due_at < 'infinity'))
         and not exists (select 1 from tidemark.edge e where e.child_id = r.resource_id)
      returning r.resource_id`);
    const orphans = rows.map((r) => r.resource_id);
    if (orphans.length === 0) break;
    all.push(...orphans);
    await tx.query(sql`
      update tidemark.due set lease_no = lease_no + 1, lease_until = null, worker_id = null, due_at = 'infinity', asked_at = null
       where resource_id = any(${orphans}::bigint[])`);
    const { rows: left } = await tx.query<{ child_id: bigint }>(sql`
      delete from tidemark.edge where parent_id = any(${orphans}::bigint[]) returning child_id`);
    next = left.map((r) => r.child_id);
  }
  return all;
}
