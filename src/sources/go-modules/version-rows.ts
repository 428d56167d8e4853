/** The statements on versions: who may publish a path, what is published, and what became of it since. */
import sql from "sql-template-tag";
import type { Queryable, Tx } from "tidemark";

export interface Holder {
  path: string;
  resource_id: bigint;
}

export interface Claim {
  path: string;
  /** The path is that of the repository or below it. */
  at_home: boolean;
}

/** Who holds these paths, and whether this repository may take them. */
export async function readHolders(
  read: Queryable,
  resource_id: bigint,
  claims: Claim[],
): Promise<(Holder & { free: boolean })[]> {
  const { rows } = await read.query<Holder & { free: boolean }>(sql`
    select m.path, m.resource_id,
           m.resource_id <> ${resource_id}::bigint and ((c.at_home and not m.at_home)
             or not exists (select 1 from go_modules.repository r where r.resource_id = m.resource_id)) as free
      from unnest(${claims.map((c) => c.path)}::text[], ${claims.map((c) => c.at_home)}::boolean[]) as c(path, at_home)
      join go_modules.module m on m.path = c.path`);
  return rows;
}

/**
 * Takes the paths that nobody has; also those of a repository that is no longer followed, and, where this is the repository that the path
 * names, those of any that it does not name, which is in conflict from then on. Says who holds them now. Whoever commits first has it: the row
 * decides, not what was read before.
 */
export async function claimPaths(tx: Tx, resource_id: bigint, claims: Claim[]): Promise<Holder[]> {
  const paths = claims.map((c) => c.path);
  const { rows: before } = await tx.query<Holder>(sql`
    select path, resource_id from go_modules.module where path = any(${paths}::text[]) order by path for update`);
  await tx.query(sql`
    insert into go_modules.module as m (path, resource_id, at_home)
    select c.path, ${resource_id}::bigint, c.at_home
      from unnest(${paths}::text[], ${claims.map((c) => c.at_home)}::boolean[]) as c(path, at_home) order by c.path
    on conflict (path) do update set resource_id = excluded.resource_id, at_home = excluded.at_home
     where m.resource_id <> excluded.resource_id and ((excluded.at_home and not m.at_home)
             or not exists (select 1 from go_modules.repository r where r.resource_id = m.resource_id))`);
  await tx.query(sql`
    insert into go_modules.conflict (path, resource_id, held_by)
    select b.path, b.resource_id, m.resource_id
      from unnest(${before.map((h) => h.path)}::text[], ${before.map((h) => h.resource_id)}::bigint[]) as b(path, resource_id)
      join go_modules.module m on m.path = b.path and m.resource_id <> b.resource_id
      join go_modules.repository r on r.resource_id = b.resource_id order by b.path
    on conflict (path, resource_id) do nothing`);
  // Others that were in conflict before anybody had it are now in conflict with this one.
  await tx.query(sql`
    update go_modules.conflict c set held_by = m.resource_id from go_modules.module m
     where c.path = any(${paths}::text[]) and m.path = c.path and c.held_by is distinct from m.resource_id`);
  const { rows } = await tx.query<Holder>(sql`
    select path, resource_id from go_modules.module where path = any(${paths}::text[])`);
  return rows;
}

export interface VersionRow {
  path: string;
  version: string;
  resource_id: bigint;
  tag: string;
  commit_oid: string;
  moved_oid: string | null;
  deleted: boolean;
}

/** All that was ever published of these paths or from this repository. */
export async function readVersions(read: Queryable, resource_id: bigint, paths: string[]): Promise<VersionRow[]> {
  const { rows } = await read.query<VersionRow>(sql`
    select path, version, resource_id, tag, commit_oid, moved_oid, deleted_at is not null as deleted
      from go_modules.version where path = any(${paths}::text[]) or resource_id = ${resource_id}::bigint`);
  return rows;
}

export interface Key {
  path: string;
  version: string;
}

const path = (key: Key) => key.path;
const version = (key: Key) => key.version;

/** No longer available; the first moment at which that was seen stays. */
export async function markDeleted(tx: Tx, keys: Key[]): Promise<void> {
  await tx.query(sql`
    update go_modules.version v set deleted_at = tidemark.now()
      from unnest(${keys.map(path)}::text[], ${keys.map(version)}::text[]) as k(path, version)
     where v.path = k.path and v.version = k.version and v.deleted_at is null`);
}

/** There (again), in this repository; its stamp stays. */
export async function markThere(tx: Tx, resource_id: bigint, keys: (Key & { tag: string })[]): Promise<void> {
  await tx.query(sql`
    update go_modules.version v set deleted_at = null, resource_id = ${resource_id}::bigint, tag = k.tag
      from unnest(${keys.map(path)}::text[], ${keys.map(version)}::text[], ${keys.map((k) => k.tag)}::text[]) as k(path, version, tag)
     where v.path = k.path and v.version = k.version`);
}

/** Its tag is at another commit than it was first seen at. */
export async function markMoved(tx: Tx, keys: (Key & { oid: string })[]): Promise<void> {
  await tx.query(sql`
    update go_modules.version v set moved_at = tidemark.now(), moved_oid = k.oid
      from unnest(${keys.map(path)}::text[], ${keys.map(version)}::text[], ${keys.map((k) => k.oid)}::text[]) as k(path, version, oid)
     where v.path = k.path and v.version = k.version and v.moved_oid is distinct from k.oid`);
}

/** The repository is gone: nothing of it is available. */
export async function markAllDeleted(tx: Tx, resource_id: bigint): Promise<void> {
  await tx.query(sql`
    update go_modules.version set deleted_at = tidemark.now() where resource_id = ${resource_id}::bigint and deleted_at is null`);
}

export async function readConflicts(
  read: Queryable,
  resource_id: bigint,
): Promise<{ path: string; held_by: bigint | null }[]> {
  const { rows } = await read.query<{ path: string; held_by: bigint | null }>(sql`
    select path, held_by from go_modules.conflict where resource_id = ${resource_id}::bigint`);
  return rows;
}

/** The conflicts of a repository as they are now, with whoever holds the paths in this very transaction. */
export async function noteConflicts(tx: Tx, resource_id: bigint, paths: string[]): Promise<void> {
  await tx.query(sql`
    delete from go_modules.conflict where resource_id = ${resource_id}::bigint and path <> all(${paths}::text[])`);
  await tx.query(sql`
    insert into go_modules.conflict as c (path, resource_id, held_by)
    select p.path, ${resource_id}::bigint, m.resource_id
      from unnest(${paths}::text[]) as p(path) left join go_modules.module m on m.path = p.path order by p.path
    on conflict (path, resource_id) do update set held_by = excluded.held_by where c.held_by is distinct from excluded.held_by`);
}
