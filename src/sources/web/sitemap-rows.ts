/** Sitemaps in the database: which there are, and when each is read. */
import sql from "sql-template-tag";
import type { Queryable, Tx } from "tidemark";

export interface SitemapRow {
  sitemap_id: bigint;
  url: string;
  depth: number;
  failures: number;
  etag: string | null;
  modified: string | null;
}

/** Those of one host; more are not read. */
const SITEMAPS_MOST = 2_000;

export async function rememberSitemaps(tx: Tx, resource_id: bigint, urls: string[], depth: number): Promise<void> {
  const short = [...new Set(urls)].filter((url) => url.length <= 2_000);
  if (short.length === 0) return;
  await tx.query(sql`
    insert into web.sitemap (resource_id, url, depth, next_fetch)
    select ${resource_id}::bigint, u.url, ${depth}::int, tidemark.now()
      from unnest(${short}::text[]) with ordinality as u(url, n)
     where (select count(s.sitemap_id) from web.sitemap s where s.resource_id = ${resource_id}::bigint) + u.n <= ${SITEMAPS_MOST}::int
     order by u.n
    on conflict (resource_id, url) do nothing`);
}

export async function readDueSitemap(read: Queryable, resource_id: bigint): Promise<SitemapRow | null> {
  const { rows } = await read.query<SitemapRow>(sql`
    select sitemap_id, url, depth::int as depth, failures::int as failures, etag, modified from web.sitemap
     where resource_id = ${resource_id}::bigint and next_fetch <= tidemark.now() order by next_fetch, sitemap_id limit 1`);
  return rows[0] ?? null;
}

export interface SitemapRead {
  sitemap_id: bigint;
  status: number;
  failures: number;
  urls: number | null;
  etag: string | null;
  modified: string | null;
  wait_ms: number;
}

export async function writeSitemap(tx: Tx, read: SitemapRead): Promise<void> {
  await tx.query(sql`
    update web.sitemap
       set status = ${read.status}::int, failures = ${read.failures}::int, urls = coalesce(${read.urls}::int, urls), etag = ${read.etag}, modified = ${read.modified},
           last_fetched = tidemark.now(), next_fetch = tidemark.now() + ${read.wait_ms}::float8 * interval '1 millisecond'
     where sitemap_id = ${read.sitemap_id}::bigint`);
}
