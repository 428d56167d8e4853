/** The statements behind what people page through: repositories, modules, and versions with the newest first. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";

/** What of a list is wanted; what is null is not asked for. */
export interface Narrowed {
  /** A path and what is below it, in whole parts. */
  prefix: string | null;
  /** Any part of the name, whatever its capitals. */
  q: string | null;
}

export interface Newest {
  path: string;
  version: string;
  published_at: string;
}

/** As the statements give it, to be put together. */
interface NewestColumns {
  newest_path: string | null;
  newest_version: string | null;
  newest_at: string | null;
}

export interface RepositoryShown {
  repository: string;
  resource_id: bigint;
  key: string;
  is_fork: boolean;
  is_archived: boolean;
  is_disabled: boolean;
  is_private: boolean;
  tags: number;
  modules: number;
  versions: number;
  conflicts: number;
  pushed_at: string | null;
  fresh_at: string | null;
  newest: Newest | null;
}

const repository_name = sql`(host || '/' || name) collate "C"`;

/** Repositories by name. The page is cut first: what is counted is counted for its rows alone. */
export async function listRepositories(
  read: Queryable,
  after: { name: string; resource_id: string },
  narrowed: Narrowed,
  most: number,
): Promise<RepositoryShown[]> {
  const { rows } = await read.query<Omit<RepositoryShown, "newest"> & NewestColumns>(sql`
    select p.repository, p.resource_id, p.key, p.is_fork, p.is_archived, p.is_disabled, p.is_private, p.tags, p.pushed_at, d.fresh_at,
           (select count(*)::int from go_modules.module m where m.resource_id = p.resource_id) as modules,
           (select count(*)::int from go_modules.version v where v.resource_id = p.resource_id and v.deleted_at is null) as versions,
           (select count(*)::int from go_modules.conflict c where c.resource_id = p.resource_id) as conflicts,
           n.path as newest_path, n.version as newest_version, n.published_at as newest_at
      from (select ${repository_name} as repository, resource_id, host || '/' || node_id as key, is_fork, is_archived, is_disabled, is_private,
                   greatest(tags, 0) as tags, pushed_at
              from go_modules.repository
             where (${repository_name}, resource_id) > (${after.name}, ${after.resource_id}::bigint)${narrowing(repository_name, narrowed)}
             order by ${repository_name}, resource_id limit ${most}) p
      left join tidemark.due d on d.resource_id = p.resource_id
      left join lateral (select path, version, published_at from go_modules.version v
                          where v.resource_id = p.resource_id and v.deleted_at is null order by published_at desc limit 1) n on true
     order by p.repository, p.resource_id`);
  return rows.map(withNewest);
}

export interface ModuleShown {
  path: string;
  repository: string | null;
  versions: number;
  newest: Newest | null;
}

/** Modules by path, with whoever holds the path. */
export async function listModules(
  read: Queryable,
  after: string,
  narrowed: Narrowed,
  most: number,
): Promise<ModuleShown[]> {
  const { rows } = await read.query<Omit<ModuleShown, "newest"> & NewestColumns>(sql`
    select p.path, r.host || '/' || r.name as repository, coalesce(n.versions, 0) as versions,
           n.path as newest_path, n.version as newest_version, n.published_at as newest_at
      from (select path, resource_id from go_modules.module
             where path > ${after}${narrowing(raw("path"), narrowed)} order by path limit ${most}) p
      left join go_modules.repository r on r.resource_id = p.resource_id
      left join lateral (select path, version, published_at, (count(*) over ())::int as versions from go_modules.version v
                          where v.path = p.path and v.deleted_at is null order by published_at desc limit 1) n on true
     order by p.path`);
  return rows.map(withNewest);
}

export interface VersionShown {
  path: string;
  version: string;
  repository: string | null;
  tag: string;
  commit_oid: string;
  published_at: string;
  deleted_at: string | null;
  moved_at: string | null;
  moved_oid: string | null;
}

export interface VersionsAsked {
  path: string | null;
  repository: string | null;
  prefix: string | null;
}

/** Versions, the one published last first, deleted ones too; off the index of stamps unless they are of one module or repository. */
export async function listVersions(
  read: Queryable,
  before: string,
  { path, repository, prefix }: VersionsAsked,
  most: number,
): Promise<VersionShown[]> {
  const of_path = path === null ? empty : sql` and path = ${path}`;
  const of_repository =
    repository === null
      ? empty
      : sql` and resource_id = any(array(select resource_id from go_modules.repository where ${repository_name} = ${repository}))`;
  const { rows } = await read.query<VersionShown>(sql`
    select p.path, p.version, r.host || '/' || r.name as repository, p.tag, p.commit_oid, p.published_at, p.deleted_at, p.moved_at, p.moved_oid
      from (select path, version, resource_id, tag, commit_oid, published_at, deleted_at, moved_at, moved_oid from go_modules.version
             where published_at < ${before}::timestamptz${of_path}${of_repository}${narrowing(raw("path"), { prefix, q: null })}
             order by published_at desc limit ${most}) p
      left join go_modules.repository r on r.resource_id = p.resource_id
     order by p.published_at desc`);
  return rows;
}

/** Names are compared byte by byte, and "0" comes right after "/". */
function narrowing(name: Sql, { prefix, q }: Narrowed): Sql {
  const below =
    prefix === null
      ? empty
      : sql` and (${name} = ${prefix} or (${name} >= ${`${prefix}/`} and ${name} < ${`${prefix}0`}))`;
  return q === null ? below : sql`${below} and position(lower(${q}) in lower(${name})) > 0`;
}

function withNewest<R extends NewestColumns>({ newest_path, newest_version, newest_at, ...row }: R) {
  const newest =
    newest_path === null || newest_version === null || newest_at === null
      ? null
      : { path: newest_path, version: newest_version, published_at: newest_at };
  return { ...row, newest };
}
