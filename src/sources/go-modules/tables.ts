/** The tables of this source and the statements on them. */
import sql from "sql-template-tag";
import { feed, migrationsBeside, type Queryable, type Tx, table } from "tidemark";

export const migrations = migrationsBeside(import.meta.url, "modules", "pages", "sight", "lines");

export const repositories = table("go_modules.repository", {
  columns: {
    resource_id: "bigint",
    host: "text",
    node_id: "text",
    name: "text",
    root: "text",
    pushed_at: "timestamptz",
    head_oid: "text",
    is_fork: "boolean",
    is_archived: "boolean",
    is_disabled: "boolean",
    is_private: "boolean",
    has_go: "boolean",
    tags: "int",
    listing_no: "bigint",
    seen_by: "text",
  },
  key: ["resource_id"],
  owner: "resource_id",
});

export const tags = table("go_modules.tag", {
  columns: { resource_id: "bigint", name: "text", oid: "text", commit_oid: "text" },
  key: ["resource_id", "name"],
  owner: "resource_id",
});

export const gomods = table("go_modules.gomod", {
  columns: { resource_id: "bigint", commit_oid: "text", dir: "text", module_path: "text" },
  key: ["resource_id", "commit_oid", "dir"],
  owner: "resource_id",
});

const version = table("go_modules.version", {
  columns: { path: "text", version: "text", resource_id: "bigint", tag: "text", commit_oid: "text" },
  key: ["path", "version"],
});
export const versions = feed("go_modules.version", version);

/** What goes with a repository that is gone for good; its versions stay, marked by a trigger. */
export const owned = [
  repositories,
  tags,
  { name: "go_modules.seen", owner: "resource_id" },
  gomods,
  { name: "go_modules.module", owner: "resource_id" },
  { name: "go_modules.conflict", owner: "resource_id" },
];

export interface RepositoryRow extends Record<string, unknown> {
  resource_id: bigint;
  host: string;
  node_id: string;
  name: string;
  root: string;
  pushed_at: string | null;
  head_oid: string | null;
  is_fork: boolean;
  is_archived: boolean;
  is_disabled: boolean;
  is_private: boolean;
  has_go: boolean;
  tags: number;
  listing_no: bigint;
  seen_by: string | null;
}

export async function readRepositories(
  read: Queryable,
  host: string,
  ids: string[],
): Promise<Map<string, RepositoryRow>> {
  const { rows } = await read.query<RepositoryRow>(sql`
    select resource_id, host, node_id, name, root, pushed_at, head_oid, is_fork, is_archived, is_disabled, is_private, has_go, tags, listing_no, seen_by
      from go_modules.repository where host = ${host} and node_id = any(${ids}::text[])`);
  return new Map(rows.map((row) => [row.node_id, row]));
}

export interface TagRow extends Record<string, unknown> {
  resource_id: bigint;
  name: string;
  oid: string;
  commit_oid: string | null;
}

/** Those of the tags named that are mirrored, by repository and name: one statement for a whole page of repositories. */
export async function readTags(read: Queryable, wanted: { resource_id: bigint; name: string }[]): Promise<TagRow[]> {
  const { rows } = await read.query<TagRow>(sql`
    select t.resource_id, t.name, t.oid, t.commit_oid
      from unnest(${wanted.map((w) => w.resource_id)}::bigint[], ${wanted.map((w) => w.name)}::text[]) as w(resource_id, name)
      join go_modules.tag t on t.resource_id = w.resource_id and t.name = w.name`);
  return rows;
}

export async function readAllTags(read: Queryable, resource_id: bigint): Promise<TagRow[]> {
  const { rows } = await read.query<TagRow>(sql`
    select resource_id, name, oid, commit_oid from go_modules.tag where resource_id = ${resource_id}::bigint`);
  return rows;
}

export async function countTags(read: Queryable, resource_id: bigint): Promise<number> {
  const { rows } = await read.query<{ n: number }>(sql`
    select count(name)::int as n from go_modules.tag where resource_id = ${resource_id}::bigint`);
  return rows[0]!.n;
}

export async function countSeen(read: Queryable, resource_id: bigint): Promise<number> {
  const { rows } = await read.query<{ n: number }>(sql`
    select count(name)::int as n from go_modules.seen where resource_id = ${resource_id}::bigint`);
  return rows[0]!.n;
}

/** A listing that looks for what is gone begins: nothing is seen yet. */
export async function forgetSeen(tx: Tx, resource_id: bigint): Promise<void> {
  await tx.query(sql`delete from go_modules.seen where resource_id = ${resource_id}::bigint`);
}

export async function noteSeen(tx: Tx, resource_id: bigint, names: string[]): Promise<void> {
  await tx.query(sql`
    insert into go_modules.seen (resource_id, name)
    select ${resource_id}::bigint, n.name from unnest(${names}::text[]) as n(name) on conflict (resource_id, name) do nothing`);
}

/** The end of a whole listing: tags that it did not meet are gone. */
export async function dropUnseen(tx: Tx, resource_id: bigint): Promise<void> {
  await tx.query(sql`
    delete from go_modules.tag t where t.resource_id = ${resource_id}::bigint
       and not exists (select 1 from go_modules.seen s where s.resource_id = t.resource_id and s.name = t.name)`);
  await forgetSeen(tx, resource_id);
}

export interface GomodRow extends Record<string, unknown> {
  commit_oid: string;
  dir: string;
  module_path: string | null;
}

export async function readGomods(read: Queryable, resource_id: bigint): Promise<GomodRow[]> {
  const { rows } = await read.query<GomodRow>(sql`
    select commit_oid, dir, module_path from go_modules.gomod where resource_id = ${resource_id}::bigint`);
  return rows;
}
