/** Resources as others name them: made when first mentioned, found again by (source, kind, key). */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { forgetValidators } from "./validators.ts";

export interface NewResource {
  source: string;
  kind: string;
  key: string;
  options: string | null;
  lane_id: number;
  first_come: boolean;
}

const byName = (a: NewResource, b: NewResource) => {
  const left = `${a.source}\u0000${a.kind}\u0000${a.key}`;
  const right = `${b.source}\u0000${b.kind}\u0000${b.key}`;
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Makes the resources that are not there yet, due at once. In order of their names, so that two makers never wait in a circle. */
export async function makeResources(tx: Queryable, given: NewResource[]): Promise<number> {
  if (given.length === 0) return 0;
  const rows = given.toSorted(byName);
  const { count } = await tx.query(sql`
    with made as (
      insert into tidemark.resource (source, kind, key, options)
      select g.source, g.kind, g.key, g.options::jsonb
        from unnest(${rows.map((r) => r.source)}::text[], ${rows.map((r) => r.kind)}::text[], ${rows.map((r) => r.key)}::text[],
                    ${rows.map((r) => r.options)}::text[]) as g(source, kind, key, options)
      on conflict (source, kind, key) do nothing
      returning resource_id, source, kind, key
    )
    insert into tidemark.due (resource_id, lane_id, due_at, asked_at)
    select m.resource_id, g.lane_id, tidemark.now(), case when g.first_come then tidemark.now() end
      from made m
      join unnest(${rows.map((r) => r.source)}::text[], ${rows.map((r) => r.kind)}::text[], ${rows.map((r) => r.key)}::text[],
                  ${rows.map((r) => r.lane_id)}::int[], ${rows.map((r) => r.first_come)}::boolean[])
           as g(source, kind, key, lane_id, first_come)
        on (m.source, m.kind, m.key) = (g.source, g.kind, g.key)`);
  return count;
}

export interface Found {
  resource_id: bigint;
  kind: string;
  key: string;
}

/** The ids of those that are there. */
export async function findResources(
  db: Queryable,
  source: string,
  refs: { kind: string; key: string }[],
): Promise<Map<string, bigint>> {
  if (refs.length === 0) return new Map();
  const { rows } = await db.query<Found>(sql`
    select r.resource_id, r.kind, r.key
      from unnest(${refs.map((r) => r.kind)}::text[], ${refs.map((r) => r.key)}::text[]) as g(kind, key)
      join tidemark.resource r on r.source = ${source} and r.kind = g.kind and r.key = g.key`);
  return new Map(rows.map((r) => [nameOf(r), r.resource_id]));
}

/** A resource's name within its source. */
export const nameOf = (ref: { kind: string; key: string }): string => `${ref.kind}\u0000${ref.key}`;

export interface DueLock {
  resource_id: bigint;
  lease_no: bigint;
  alive: boolean;
}

/** Locks due rows in the order of their ids: the first thing that any transaction over several resources does. */
export async function lockDue(tx: Queryable, ids: bigint[]): Promise<Map<bigint, DueLock>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<DueLock>(sql`
    select resource_id, lease_no, coalesce(lease_until > tidemark.now(), false) as alive
      from tidemark.due where resource_id = any(${ids}::bigint[])
     order by resource_id for update`);
  return new Map(rows.map((r) => [r.resource_id, r]));
}

/**
 * Makes these due now, unless a lease lives (then the holder's end decides), a floor says later, or they are gone for good.
 * Rows must be locked.
 */
export async function makeDue(tx: Queryable, ids: bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`
    update tidemark.due set due_at = greatest(tidemark.now(), not_before)
     where resource_id = any(${ids}::bigint[]) and lease_until is null
       and due_at > tidemark.now() and due_at < 'infinity'`);
}

/** Brings back what was gone and is mentioned again. Its records went, so it begins anew, at the end of the line. */
export async function reviveGone(tx: Queryable, ids: bigint[]): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<{ resource_id: bigint }>(sql`
    with back as (
      update tidemark.resource set gone_at = null, reason = null, cursor = null, error = null
       where resource_id = any(${ids}::bigint[]) and gone_at is not null
      returning resource_id
    )
    update tidemark.due d
       set due_at = greatest(tidemark.now(), nullif(d.not_before, 'infinity')), not_before = coalesce(nullif(d.not_before, 'infinity'), '-infinity'),
           failures = 0,
           asked_at = case when l.first_come then tidemark.now() end
      from back, tidemark.lane l where d.resource_id = back.resource_id and l.lane_id = d.lane_id
    returning d.resource_id`);
  const back = rows.map((r) => r.resource_id);
  if (back.length > 0) await forgetValidators(tx, back);
  return back;
}
