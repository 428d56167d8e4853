/** The statements of a sweep: what is mirrored in a stretch of time, and what becomes of what is no longer there. */
import sql from "sql-template-tag";
import type { Queryable, Tx } from "tidemark";

export interface SweptRepository {
  resource_id: bigint;
  node_id: string;
  initialised_at: string | null;
  is_hidden: boolean;
}

/** The repository of the same key. */
export async function sweptRepository(read: Queryable, key: string): Promise<SweptRepository | null> {
  const { rows } = await read.query<SweptRepository>(sql`
    select r.resource_id, r.node_id, r.initialised_at, r.is_hidden
      from tidemark.resource t join github_issues.repository r on r.resource_id = t.resource_id
     where t.source = 'github-issues' and t.kind = 'repository' and t.key = ${key} and t.gone_at is null`);
  return rows[0] ?? null;
}

/** Issues that were filed after the one moment and up to the other; null is without end. */
export async function readBetween(
  read: Queryable,
  resource_id: bigint,
  from: string | null,
  to: string | null,
): Promise<{ number: number; node_id: string }[]> {
  const { rows } = await read.query<{ number: number; node_id: string }>(sql`
    select number, node_id from github_issues.issue
     where resource_id = ${resource_id}::bigint and created_at > coalesce(${from}::timestamptz, '-infinity')
       and created_at <= coalesce(${to}::timestamptz, 'infinity')`);
  return rows;
}

export interface MirroredCounts {
  number: number;
  reactions: number;
  comments: number;
  updated_at: string;
}

export async function readSwept(
  read: Queryable,
  resource_id: bigint,
  numbers: number[],
): Promise<Map<number, MirroredCounts>> {
  const { rows } = await read.query<MirroredCounts>(sql`
    select number, reactions, comments, updated_at from github_issues.issue
     where resource_id = ${resource_id}::bigint and number = any(${numbers}::int[])`);
  return new Map(rows.map((row) => [row.number, row]));
}

/** They and all that hangs on them. */
export async function dropIssues(tx: Tx, resource_id: bigint, numbers: number[]): Promise<void> {
  if (numbers.length === 0) return;
  await tx.query(sql`
    delete from github_issues.passage where resource_id = ${resource_id}::bigint and number = any(${numbers}::int[])`);
  await tx.query(sql`
    delete from github_issues.comment where resource_id = ${resource_id}::bigint and number = any(${numbers}::int[])`);
  await tx.query(sql`
    delete from github_issues.issue where resource_id = ${resource_id}::bigint and number = any(${numbers}::int[])`);
}

/** Reactions as they were counted; comments that are missing are read from the beginning. */
export async function noteSwept(
  tx: Tx,
  resource_id: bigint,
  swept: { number: number; reactions: number; is_short: boolean }[],
): Promise<void> {
  if (swept.length === 0) return;
  await tx.query(sql`
    update github_issues.issue i
       set reactions = s.reactions, comments_after = case when s.is_short then '' else i.comments_after end
      from unnest(${swept.map((s) => s.number)}::int[], ${swept.map((s) => s.reactions)}::int[], ${swept.map((s) => s.is_short)}::boolean[])
             as s(number, reactions, is_short)
     where i.resource_id = ${resource_id}::bigint and i.number = s.number`);
}

/** Labels that were deleted. */
export async function forgetLabels(tx: Tx, resource_id: bigint, met: string[]): Promise<void> {
  await tx.query(sql`
    delete from github_issues.label where resource_id = ${resource_id}::bigint and label_id <> all(${met}::text[])`);
}
