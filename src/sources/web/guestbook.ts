/** The guestbook: which pages are due, what a visit changes in it, and which addresses are new. */
import sql from "sql-template-tag";
import type { Queryable, Tx } from "tidemark";
import type { DuePage, Visit } from "./page-row.ts";

/** Those that are most overdue first; by the index on (resource_id, next_fetch). */
export async function readDue(read: Queryable, resource_id: bigint, most: number): Promise<DuePage[]> {
  const { rows } = await read.query<DuePage>(sql`
    select g.page_id, s.scheme, g.path, g.etag, g.modified, g.status::int as status, g.failures::int as failures, g.depth::int as depth,
           g.extractor::int as extractor, g.unchanged::int as unchanged, g.interval_s, g.noindex, g.canonical, g.reason, g.content_hash,
           exists (select 1 from web.content c where c.page_id = g.page_id) as has_content
      from web.guestbook g join web.scheme s on s.scheme_id = g.scheme_id
     where g.resource_id = ${resource_id}::bigint and g.next_fetch <= tidemark.now()
     order by g.next_fetch, g.page_id limit ${most}::int`);
  return rows;
}

/** Content is put and dropped with the same commit, before this. */
export async function writeVisits(tx: Tx, resource_id: bigint, visits: Visit[]): Promise<void> {
  if (visits.length === 0) return;
  const of = <T>(pick: (visit: Visit) => T): T[] => visits.map(pick);
  const types = [...new Set(of((v) => v.content_type).filter((type) => type !== null))];
  // Numbers are given only to types that are new: a conflict would use one up.
  await tx.query(sql`
    insert into web.content_type (content_type)
    select t.type from unnest(${types}::text[]) as t(type) where not exists (select 1 from web.content_type c where c.content_type = t.type)
    on conflict (content_type) do nothing`);
  await tx.query(sql`
    update web.guestbook g
       set status = v.status, failures = v.failures, interval_s = v.interval_s, extractor = v.extractor, unchanged = least(v.unchanged, 30000), noindex = v.noindex,
           next_fetch = case when v.wait_ms is null then 'infinity' else tidemark.now() + v.wait_ms * interval '1 millisecond' end,
           last_fetched = case when v.confirmed then tidemark.now() else g.last_fetched end,
           last_changed = case when g.content_hash is distinct from v.hash then tidemark.now() else g.last_changed end,
           last_modified = coalesce(to_timestamp(v.last_modified_ms / 1000), g.last_modified),
           content_type_id = coalesce(t.content_type_id, g.content_type_id),
           content_length = case when v.confirmed and v.status <> 304 then v.content_length else g.content_length end,
           etag = v.etag, modified = v.modified, canonical = v.canonical, reason = v.reason, content_hash = v.hash
      from unnest(${of((v) => v.page.page_id)}::bigint[], ${of((v) => v.status)}::int[], ${of((v) => Math.min(v.failures, 30_000))}::int[],
                  ${of((v) => Math.round(v.interval_ms / 1000))}::int[], ${of((v) => v.wait_ms)}::float8[], ${of((v) => v.extractor)}::int[],
                  ${of((v) => v.unchanged)}::int[], ${of((v) => v.noindex)}::boolean[], ${of((v) => v.confirmed)}::boolean[],
                  ${of((v) => v.last_modified_ms)}::float8[], ${of((v) => v.content_type)}::text[], ${of((v) => v.content_length)}::int[],
                  ${of((v) => v.etag)}::text[], ${of((v) => v.modified)}::text[], ${of((v) => v.canonical)}::text[], ${of((v) => v.reason?.slice(0, 300) ?? null)}::text[],
                  ${of((v) => v.hash)}::bytea[])
           as v(page_id, status, failures, interval_s, wait_ms, extractor, unchanged, noindex, confirmed, last_modified_ms, content_type,
                content_length, etag, modified, canonical, reason, hash)
      left join web.content_type t on t.content_type = v.content_type
     where g.page_id = v.page_id`);
  const first = visits.filter((v) => v.page.status === 0).length;
  if (first > 0)
    await tx.query(
      sql`update web.host set fetched = fetched + ${first}::int where resource_id = ${resource_id}::bigint`,
    );
}

/** Whatever of these changed, or stands for others, or is a copy of another, is found by what it says now. */
export async function indexPages(tx: Tx, ids: bigint[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await tx.query<{ page_id: bigint }>(sql`
    select g.page_id from web.guestbook p join web.guestbook g on g.host_id = p.host_id and g.canonical = p.path
     where p.page_id = any(${ids}::bigint[])`);
  const all = [...new Set([...ids, ...rows.map((row) => row.page_id)])];
  await tx.query(sql`select web.index_pages(${all}::bigint[]) as written`);
}

/** Copies of a text that is no longer what these pages say: one of them takes their place. */
export async function readCopies(tx: Queryable, visits: Visit[]): Promise<bigint[]> {
  const left = visits.filter(
    ({ page, hash }) => page.content_hash !== null && (hash === null || Buffer.compare(page.content_hash, hash) !== 0),
  );
  if (left.length === 0) return [];
  const { rows } = await tx.query<{ page_id: bigint }>(sql`
    select distinct on (c.host_id, c.content_hash) c.page_id
      from unnest(${left.map(({ page }) => page.page_id)}::bigint[], ${left.map(({ page }) => page.content_hash)}::bytea[]) as v(page_id, hash)
      join web.guestbook g on g.page_id = v.page_id
      join web.guestbook c on c.host_id = g.host_id and c.content_hash = v.hash
     order by c.host_id, c.content_hash, c.page_id`);
  return rows.map((row) => row.page_id);
}

export interface Discovered {
  path: string;
  scheme: "http" | "https";
  depth: number;
  shape: bigint | null;
  /** How many of that shape are taken in. */
  most: number;
  /** When a sitemap says that it changed. */
  lastmod_ms: number | null;
}

export interface Caps {
  pages: number;
  first_interval_ms: number;
}

export async function discover(tx: Tx, resource_id: bigint, found: Discovered[], caps: Caps): Promise<void> {
  if (found.length === 0) return;
  const of = <T>(pick: (one: Discovered) => T): T[] => found.map(pick);
  await tx.query(sql`
    select web.discover(${resource_id}::bigint, ${of((f) => f.path)}::text[], ${of((f) => (f.scheme === "https" ? 1 : 2))}::int[],
      ${of((f) => f.depth)}::int[], ${of((f) => f.shape)}::bigint[], ${of((f) => f.most)}::int[],
      array_fill(null::timestamptz, array[${found.length}::int]),
      ${of((f) => (f.lastmod_ms === null ? null : new Date(f.lastmod_ms).toISOString()))}::timestamptz[],
      ${caps.pages}::int, ${Math.round(caps.first_interval_ms / 1000)}::int) as taken`);
}

/** A sitemap says that these changed since they were visited: they are due now. What it said before says nothing new. */
export async function hint(tx: Tx, resource_id: bigint, found: Discovered[]): Promise<void> {
  const told = found.filter((one) => one.lastmod_ms !== null);
  if (told.length === 0) return;
  await tx.query(sql`
    update web.guestbook g
       set hinted_at = u.at, next_fetch = case when u.at > g.last_fetched then least(g.next_fetch, tidemark.now()) else g.next_fetch end
      from unnest(${told.map((f) => f.path)}::text[], ${told.map((f) => new Date(f.lastmod_ms!).toISOString())}::timestamptz[]) as u(path, at), web.host h
     where h.resource_id = ${resource_id}::bigint and g.host_id = h.host_id and g.path = u.path and g.next_fetch < 'infinity'
       and u.at > coalesce(g.hinted_at, '-infinity')`);
}
