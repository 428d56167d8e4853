/** The tables of this source and the statements that keep them. */
import sql from "sql-template-tag";
import { migrationsBeside, type Queryable, type Tx, table } from "tidemark";

export const migrations = migrationsBeside(import.meta.url, "issues");

export const repositories = table("github_issues.repository", {
  columns: {
    resource_id: "bigint",
    host: "text",
    node_id: "text",
    name: "text",
    is_private: "boolean",
    is_archived: "boolean",
    is_disabled: "boolean",
    has_issues: "boolean",
    is_hidden: "boolean",
    seen_by: "text",
    issues: "int",
    newest: "text",
    initialised_at: "timestamptz",
  },
  key: ["resource_id"],
  owner: "resource_id",
});

/** Late answers never overwrite newer ones. */
export const issues = table("github_issues.issue", {
  columns: {
    resource_id: "bigint",
    number: "int",
    node_id: "text",
    title: "text",
    body: "text",
    state: "text",
    state_reason: "text",
    author: "text",
    created_at: "timestamptz",
    updated_at: "timestamptz",
    closed_at: "timestamptz",
    label_ids: "text[]",
    comments: "int",
    comments_after: "text",
    labels_after: "text",
  },
  key: ["resource_id", "number"],
  owner: "resource_id",
  newer: "updated_at",
});

export const comments = table("github_issues.comment", {
  columns: {
    comment_id: "text",
    resource_id: "bigint",
    number: "int",
    author: "text",
    association: "text",
    body: "text",
    created_at: "timestamptz",
    updated_at: "timestamptz",
  },
  key: ["comment_id"],
  owner: "resource_id",
  newer: "updated_at",
});

export const labels = table("github_issues.label", {
  columns: { label_id: "text", resource_id: "bigint", name: "text", color: "text" },
  key: ["label_id"],
  owner: "resource_id",
});

/** What goes with a repository that is gone for good. */
export const owned = [
  repositories,
  issues,
  comments,
  labels,
  { name: "github_issues.passage", owner: "resource_id" },
  { name: "github_issues.unembedded", owner: "resource_id" },
];

export interface RepositoryRow extends Record<string, unknown> {
  resource_id: bigint;
  host: string;
  node_id: string;
  name: string;
  is_private: boolean;
  is_archived: boolean;
  is_disabled: boolean;
  has_issues: boolean;
  is_hidden: boolean;
  seen_by: string | null;
  issues: number;
  newest: string;
  initialised_at: string | null;
}

export async function readRepositories(read: Queryable, resource_ids: bigint[]): Promise<Map<bigint, RepositoryRow>> {
  const { rows } = await read.query<RepositoryRow>(sql`
    select resource_id, host, node_id, name, is_private, is_archived, is_disabled, has_issues, is_hidden, seen_by, issues, newest, initialised_at
      from github_issues.repository where resource_id = any(${resource_ids}::bigint[])`);
  return new Map(rows.map((row) => [row.resource_id, row]));
}

/** What else is followed that is the same repository under another name. */
export async function findTwin(
  read: Queryable,
  host: string,
  node_id: string,
  resource_id: bigint,
): Promise<string | null> {
  const { rows } = await read.query<{ key: string }>(sql`
    select t.key from github_issues.repository r join tidemark.resource t on t.resource_id = r.resource_id
     where r.host = ${host} and r.node_id = ${node_id} and r.resource_id <> ${resource_id}::bigint and t.gone_at is null`);
  return rows[0]?.key ?? null;
}

/** A row of the same repository that is left from something that is gone: it makes room. */
export async function dropTwin(tx: Tx, host: string, node_id: string, resource_id: bigint): Promise<void> {
  await tx.query(sql`
    delete from github_issues.repository where host = ${host} and node_id = ${node_id} and resource_id <> ${resource_id}::bigint`);
}

/** Which of these have issues whose comments or labels are not all mirrored. */
export async function readIncomplete(read: Queryable, resource_ids: bigint[]): Promise<Set<bigint>> {
  const { rows } = await read.query<{ resource_id: bigint }>(sql`
    select w.resource_id from unnest(${resource_ids}::bigint[]) as w(resource_id)
     where exists (select 1 from github_issues.issue i
                    where i.resource_id = w.resource_id and (i.comments_after is not null or i.labels_after is not null))`);
  return new Set(rows.map((row) => row.resource_id));
}

export interface UnreadRow extends Record<string, unknown> {
  number: number;
  node_id: string;
  updated_at: string;
  comments: number;
  comments_after: string | null;
  labels_after: string | null;
  label_ids: string[];
}

/** Issues with more comments or labels than are mirrored. */
export async function readUnread(read: Queryable, resource_id: bigint, most: number): Promise<UnreadRow[]> {
  const { rows } = await read.query<UnreadRow>(sql`
    select number, node_id, updated_at, comments, comments_after, labels_after, label_ids from github_issues.issue
     where resource_id = ${resource_id}::bigint and (comments_after is not null or labels_after is not null)
     order by number limit ${most}::int`);
  return rows;
}

export type ReadRow = Pick<
  UnreadRow,
  "number" | "comments" | "comments_after" | "labels_after" | "label_ids" | "updated_at"
>;

/** How far the further comments and labels of issues were read. */
export async function noteRead(tx: Tx, resource_id: bigint, read: ReadRow[]): Promise<void> {
  const ids = read.map((r) => JSON.stringify(r.label_ids));
  await tx.query(sql`
    update github_issues.issue i
       set comments = u.comments, comments_after = u.comments_after, labels_after = u.labels_after,
           label_ids = array(select jsonb_array_elements_text(u.label_ids::jsonb))
      from unnest(${read.map((r) => r.number)}::int[], ${read.map((r) => r.comments)}::int[], ${read.map((r) => r.comments_after)}::text[],
                  ${read.map((r) => r.labels_after)}::text[], ${ids}::text[], ${read.map((r) => r.updated_at)}::timestamptz[])
             as u(number, comments, comments_after, labels_after, label_ids, updated_at)
     where i.resource_id = ${resource_id}::bigint and i.number = u.number and i.updated_at = u.updated_at`);
}

/** Comments of these issues that are not among those that GitHub has; of an issue that was written anew in the meantime none goes. */
export async function dropOtherComments(
  tx: Tx,
  resource_id: bigint,
  whole: { number: number; updated_at: string }[],
  kept: string[],
): Promise<void> {
  await tx.query(sql`
    delete from github_issues.comment c
     using unnest(${whole.map((w) => w.number)}::int[], ${whole.map((w) => w.updated_at)}::timestamptz[]) as w(number, updated_at),
           github_issues.issue i
     where c.resource_id = ${resource_id}::bigint and c.number = w.number and c.comment_id <> all(${kept}::text[])
       and i.resource_id = c.resource_id and i.number = c.number and i.updated_at <= w.updated_at`);
}

export async function countIssues(read: Queryable, resource_id: bigint): Promise<number> {
  const { rows } = await read.query<{ n: number }>(sql`
    select count(*)::int as n from github_issues.issue where resource_id = ${resource_id}::bigint`);
  return rows[0]!.n;
}
