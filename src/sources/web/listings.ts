/** Which hosts are crawled and how far, and which pages of a host are known: what people look at when something is not found. */
import sql from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { HostListing, PageListing } from "./answers.ts";

interface Listing<T> {
  results: T[];
  next: string | null;
  fresh_at: string | null;
}

const oldest = (rows: { fresh_at: string | null }[]): string | null =>
  rows.reduce<string | null>(
    (least, { fresh_at }) => (fresh_at !== null && (least === null || fresh_at < least) ? fresh_at : least),
    null,
  );

export async function listHosts(read: Queryable, after: string | null, limit: number): Promise<Listing<HostListing>> {
  const { rows } = await read.query<HostListing>(sql`
    select h.host, h.domain64::text as domain64, h.known, h.fetched, h.refused, h.delay_ms, h.crawl_delay_ms, h.robots_status::int as robots_status,
           h.robots_at, s.status, s.fresh_at, nullif(s.due_at, 'infinity') as next_at
      from web.host h join tidemark.status s on s.resource_id = h.resource_id
     where h.host > ${after ?? ""} order by h.host limit ${limit + 1}::int`);
  const results = rows.slice(0, limit);
  return { results, next: rows.length > limit ? results.at(-1)!.host : null, fresh_at: oldest(results) };
}

/** In the order of their paths. */
export async function listPages(
  read: Queryable,
  host: string,
  after: string | null,
  limit: number,
): Promise<Listing<PageListing>> {
  const { rows } = await read.query<PageListing>(sql`
    select g.path, s.scheme || '://' || h.host || g.path as url, g.status::int as status, c.texts[array_position(c.tags, 1)] as title, g.reason,
           g.last_fetched, g.last_changed, nullif(g.next_fetch, 'infinity') as next_fetch, g.interval_s,
           exists (select 1 from web.search v where v.domain64 = g.domain64 and v.page_id = g.page_id) as found
      from web.host h join web.guestbook g on g.host_id = h.host_id join web.scheme s on s.scheme_id = g.scheme_id
      left join web.content c on c.page_id = g.page_id
     where h.host = ${host} and g.path > ${after ?? ""} order by g.path limit ${limit + 1}::int`);
  const results = rows.slice(0, limit);
  const fresh_at = oldest(results.map(({ last_fetched }) => ({ fresh_at: last_fetched })));
  return { results, next: rows.length > limit ? results.at(-1)!.path : null, fresh_at };
}
