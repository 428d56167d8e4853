/** The statements that readers of the mirror ask with: the feed, what is in it, what moved, who disagrees. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { IndexRequest } from "./index-request.ts";

export interface IndexPage {
  /** As they are sent; null where there are none. */
  lines: string | null;
  fresh_at: string | null;
}

/** A page of the feed and how fresh it is, in one statement: neither can be of another moment. */
export async function readIndex(read: Queryable, request: IndexRequest): Promise<IndexPage> {
  const { rows } = await read.query<IndexPage>(sql`
    select (${freshAt()}) as fresh_at, string_agg(p.line, '' order by p.published_at) as lines from (${indexPage(request)}) p`);
  return rows[0]!;
}

/**
 * Without a prefix it is read off the index of available versions (or of all) from `since` on, and nothing else is touched: deleted
 * versions are not even skipped. A prefix of a host and an owner is read off the index of owners the same way. Of other prefixes the
 * planner reads the range in the primary key and sorts it, or goes by time where nearly everything matches.
 */
export function indexPage({ since, most, all, prefix }: IndexRequest): Sql {
  const available = all ? empty : sql` and deleted_at is null`;
  if (prefix?.split("/").length === 2)
    // In the index's own order and from a place in it: told by equality, the planner takes the versions of an owner for spread evenly over time.
    return sql`
    select line, published_at from go_modules.version
     where (${owner}, published_at) >= (${prefix}, ${since}::timestamptz) and ${owner} <= ${prefix}${available}
     order by ${owner}, published_at limit ${most}`;
  return sql`
    select line, published_at from go_modules.version
     where published_at >= ${since}::timestamptz${available}${prefix === null ? empty : below(prefix)}
     order by published_at limit ${most}`;
}

const owner = sql`(split_part(path, '/', 1) || '/' || split_part(path, '/', 2))`;

/** Paths are compared byte by byte, and "0" comes right after "/". */
const below = (prefix: string): Sql =>
  sql` and (path = ${prefix} or (path >= ${`${prefix}/`} and path < ${`${prefix}0`}))`;

/**
 * Since when nothing is missing: the oldest look at anything that is followed or found. What is parked or paused is left out, because its
 * own status says so and it would stand still for ever; null until everything has been looked at once.
 */
export function freshAt(): Sql {
  return sql`
    select case when bool_and(d.fresh_at is not null) then min(d.fresh_at) end as fresh_at
      from tidemark.resource r join tidemark.due d on d.resource_id = r.resource_id
     where r.source = 'go-modules' and r.gone_at is null and r.parked_at is null and r.paused_at is null`;
}

/** Asked before what it is told with, which then is at least as fresh. */
export async function readFreshAt(read: Queryable): Promise<string | null> {
  const { rows } = await read.query<{ fresh_at: string | null }>(freshAt());
  return rows[0]?.fresh_at ?? null;
}

export interface Totals extends Record<string, unknown> {
  repositories: number;
  modules: number;
  versions: number;
  versions_deleted: number;
  versions_moved: number;
  conflicts: number;
}

export async function readTotals(read: Queryable): Promise<Totals> {
  const { rows } = await read.query<Totals>(sql`
    select (select count(*)::int from go_modules.repository) as repositories,
           (select count(*)::int from go_modules.module) as modules,
           (select count(*)::int from go_modules.version where deleted_at is null) as versions,
           (select count(*)::int from go_modules.version where deleted_at is not null) as versions_deleted,
           (select count(*)::int from go_modules.version where moved_at is not null) as versions_moved,
           (select count(*)::int from go_modules.conflict) as conflicts`);
  return rows[0]!;
}

export interface IndexEntry extends Record<string, unknown> {
  path: string;
  version: string;
  published_at: string;
}

export async function readNewest(read: Queryable, most: number): Promise<IndexEntry[]> {
  const { rows } = await read.query<IndexEntry>(sql`
    select path, version, published_at from go_modules.version where deleted_at is null order by published_at desc limit ${most}`);
  return rows;
}

/** Where in the order of (path, …) to go on; the beginning is before every path. */
export interface After {
  path: string;
  rest: string;
}

export interface Moved extends Record<string, unknown> {
  path: string;
  version: string;
  tag: string;
  commit_oid: string;
  moved_oid: string;
  moved_at: string;
  deleted_at: string | null;
}

/** Versions whose tag was seen at another commit than the one they were published with. */
export async function readMoved(read: Queryable, after: After, most: number): Promise<Moved[]> {
  const { rows } = await read.query<Moved>(sql`
    select path, version, tag, commit_oid, moved_oid, moved_at, deleted_at from go_modules.version
     where moved_at is not null and (path, version) > (${after.path}, ${after.rest}) order by path, version limit ${most}`);
  return rows;
}

export interface Conflict extends Record<string, unknown> {
  path: string;
  resource_id: bigint;
  repository: string | null;
  held_by: string | null;
}

/** Paths that a repository declares and another one holds, with the names of both. */
export async function readDisputes(read: Queryable, after: After, most: number): Promise<Conflict[]> {
  const { rows } = await read.query<Conflict>(sql`
    select c.path, c.resource_id, r.host || '/' || r.name as repository, h.host || '/' || h.name as held_by
      from go_modules.conflict c
      left join go_modules.repository r on r.resource_id = c.resource_id
      left join go_modules.repository h on h.resource_id = c.held_by
     where (c.path, c.resource_id) > (${after.path}, ${after.rest === "" ? "0" : after.rest}::bigint)
     order by c.path, c.resource_id limit ${most}`);
  return rows;
}
