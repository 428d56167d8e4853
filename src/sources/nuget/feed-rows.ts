/** What the answers read from the mirror: the feed, its packages and their versions. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Details } from "./leaf.ts";

export interface Feed {
  feed_id: bigint;
  url: string;
  content_url: string | null;
  fresh_at: string | null;
  /** How far its public cursor is, and whether events wait: where none do, nothing changes without moving it. */
  position: bigint | null;
  pending: boolean;
}

/** The feed that was followed first, or the one asked for. */
export async function readFeed(read: Queryable, feed_id: bigint | null): Promise<Feed | null> {
  const { rows } = await read.query<Feed>(sql`
    select f.feed_id, f.url, f.content_url, d.fresh_at, t.position,
           exists (select 1 from tidemark.message m where m.origin_id = f.feed_id and m.parked_at is null and m.position is not null) as pending
      from nuget.feed f
      join tidemark.due d on d.resource_id = f.feed_id
      left join tidemark.tidemark t on t.resource_id = f.feed_id
     where ${feed_id}::bigint is null or f.feed_id = ${feed_id}::bigint
     order by f.feed_id limit 1`);
  return rows[0] ?? null;
}

export interface VersionRow {
  id: string;
  version: string;
  full_version: string;
  version_key: string;
  stamp: string;
  leaf: string;
  listed: boolean;
  published: string | null;
  package_types: string[];
  details: Details;
}

/** Who asks: whether it knows SemVer 2, and wants prereleases or what is not listed. */
export interface Client {
  semver2: boolean;
  prerelease: boolean;
  unlisted: boolean;
}

const seen = ({ semver2, prerelease, unlisted }: Client): Sql =>
  sql`${semver2 ? empty : sql`and not v.semver2`} ${prerelease ? empty : sql`and not v.prerelease`} ${unlisted ? empty : sql`and v.listed`}`;

/** The versions of a package, oldest first, each with the id as it is spelt now. */
export async function readVersions(
  read: Queryable,
  feed_id: bigint,
  lower_id: string,
  client: Client,
): Promise<VersionRow[]> {
  const { rows } = await read.query<VersionRow>(sql`
    select p.id, v.version, v.full_version, v.version_key, v.stamp, v.leaf, v.listed, v.published, v.package_types, v.details
      from nuget.version v join nuget.package p on p.feed_id = v.feed_id and p.lower_id = v.lower_id
     where v.feed_id = ${feed_id}::bigint and v.lower_id = ${lower_id} and not v.deleted ${seen(client)}
     order by v.sort_key`);
  return rows;
}

/** Only their names, which is all that a restore asks for. */
export async function readVersionKeys(read: Queryable, feed_id: bigint, lower_id: string): Promise<string[]> {
  const { rows } = await read.query<{ version_key: string }>(sql`
    select v.version_key from nuget.version v
     where v.feed_id = ${feed_id}::bigint and v.lower_id = ${lower_id} and not v.deleted order by v.sort_key`);
  return rows.map((row) => row.version_key);
}

export interface CursorRow {
  internal: string | null;
  position: bigint | null;
  public: string | null;
  pending: number;
}

/** How far the catalog was read, and up to where everything is in the mirror: the last commit that nothing waits before. */
export async function readCursor(read: Queryable, feed_id: bigint): Promise<CursorRow | null> {
  const { rows } = await read.query<CursorRow>(sql`
    select r.cursor ->> 'stamp' as internal, t.position,
           coalesce((select c.stamp from nuget.commit c where c.feed_id = r.resource_id and c.ticks <= t.position order by c.ticks desc limit 1),
                    case when t.position = t.internal then r.cursor ->> 'stamp' end) as public,
           (select count(m.seq)::int from tidemark.message m where m.origin_id = r.resource_id and m.parked_at is null and m.position is not null) as pending
      from tidemark.resource r left join tidemark.tidemark t on t.resource_id = r.resource_id
     where r.resource_id = ${feed_id}::bigint`);
  return rows[0] ?? null;
}

export interface Skipped {
  package: string;
  version: string | null;
  leaf: string | null;
  stamp: string | null;
  reason: string;
  skipped_at: string;
}

/** Events that failed too often and were passed over. */
export async function readSkipped(read: Queryable, feed_id: bigint, most: number): Promise<Skipped[]> {
  const { rows } = await read.query<Skipped>(sql`
    select split_part(r.key, '/', 3) as package, m.payload ->> 'version' as version, m.payload ->> 'leaf' as leaf,
           m.payload ->> 'stamp' as stamp, s.reason, s.skipped_at
      from tidemark.skip s
      join tidemark.resource r on r.resource_id = s.resource_id
      left join tidemark.message m on m.resource_id = s.resource_id and m.seq = s.seq
     where s.origin_id = ${feed_id}::bigint
     order by s.position, s.resource_id, s.seq limit ${most}::int`);
  return rows;
}

export interface Anomaly {
  what: string;
  times: bigint;
  last_at: string;
  example: string;
}

export async function readAnomalies(read: Queryable, feed_id: bigint): Promise<Anomaly[]> {
  const { rows } = await read.query<Anomaly>(
    sql`select what, times, last_at, example from nuget.anomaly where feed_id = ${feed_id}::bigint order by what`,
  );
  return rows;
}
