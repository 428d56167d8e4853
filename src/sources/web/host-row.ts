/** Hosts in the database: what is known of each, and what its robots.txt said. */
import sql from "sql-template-tag";
import type { Pull, Queryable, Tx } from "tidemark";
import { partsOf } from "./names.ts";

export interface HostRow {
  host_id: number;
  domain64: bigint;
  host: string;
  scheme: "http" | "https";
  robots: string | null;
  robots_status: number | null;
  robots_due: boolean;
  /** How long robots.txt could not be had. */
  robots_down_ms: number | null;
  recheck_after: bigint | null;
  crawl_delay_ms: number | null;
  known: number;
  fetched: number;
}

export async function readHost(read: Queryable, resource_id: bigint): Promise<HostRow | null> {
  const { rows } = await read.query<HostRow>(sql`
    select h.host_id, h.domain64, h.host, s.scheme, h.robots, h.robots_status::int as robots_status, h.robots_until <= tidemark.now() as robots_due,
           extract(epoch from tidemark.now() - h.robots_down_at)::float8 * 1000 as robots_down_ms, h.recheck_after, h.crawl_delay_ms, h.known, h.fetched
      from web.host h join web.scheme s on s.scheme_id = h.scheme_id where h.resource_id = ${resource_id}::bigint`);
  return rows[0] ?? null;
}

/** Machines of one's own network and those with a port speak plainly, most often; the rest of the world does not. */
const usualScheme = (host: string): number => (/:\d+$/.test(host) || partsOf(host).tld === "local" ? 2 : 1);

export async function makeHost(tx: Tx, { resource_id, key }: Pull["resource"]): Promise<void> {
  const { tld, domain, subdomain } = partsOf(key);
  await tx.query(
    sql`select web.make_host(${resource_id}::bigint, ${key}, ${tld}, ${domain}, ${subdomain}, ${usualScheme(key)}::int)::text as made`,
  );
}

export interface RobotsSaid {
  status: number;
  text: string;
  for_ms: number;
  crawl_delay_ms: number | null;
  delay_ms: number;
}

/** New rules hold for pages that are known already: those are looked at again. */
export async function writeRobots(tx: Tx, resource_id: bigint, said: RobotsSaid): Promise<void> {
  await tx.query(sql`
    update web.host
       set recheck_after = case when robots is distinct from ${said.text} then 0 else recheck_after end,
           robots = ${said.text}, robots_status = ${said.status}::int, robots_at = tidemark.now(), robots_down_at = null,
           robots_until = tidemark.now() + ${said.for_ms}::float8 * interval '1 millisecond',
           crawl_delay_ms = ${said.crawl_delay_ms}::int, delay_ms = ${said.delay_ms}::int
     where resource_id = ${resource_id}::bigint`);
}

/** It could not be had. A host that was never reached one way is tried the other way next. */
export async function writeRobotsDown(tx: Tx, resource_id: bigint, unreachable: boolean): Promise<void> {
  await tx.query(sql`
    update web.host
       set robots_down_at = coalesce(robots_down_at, tidemark.now()),
           scheme_id = case when ${unreachable} and robots_at is null then 3 - scheme_id else scheme_id end
     where resource_id = ${resource_id}::bigint`);
}

export async function writeRecheck(tx: Tx, resource_id: bigint, after: bigint | null): Promise<void> {
  await tx.query(sql`update web.host set recheck_after = ${after}::bigint where resource_id = ${resource_id}::bigint`);
}

/** A page that did not answer so often is no trouble of the moment. */
const RETRIES_WAITED_FOR = 3;

export interface Waits {
  /** Until the next of its pages, its sitemaps or its robots.txt is due. */
  wait_ms: number;
  /** Until a page is tried again that did not answer lately; null where there is none. */
  retry_ms: number | null;
}

export async function readWaits(read: Queryable, resource_id: bigint): Promise<Waits> {
  const { rows } = await read.query<Waits>(sql`
    select (select extract(epoch from min(g.next_fetch) - tidemark.now())::float8 * 1000 from web.guestbook g
             where g.resource_id = ${resource_id}::bigint and g.next_fetch < tidemark.now() + interval '10 minutes'
               and g.status = 0 and g.failures between 1 and ${RETRIES_WAITED_FOR}::int) as retry_ms,
           greatest(0, extract(epoch from least(
             (select h.robots_until from web.host h where h.resource_id = ${resource_id}::bigint),
             (select min(s.next_fetch) from web.sitemap s where s.resource_id = ${resource_id}::bigint),
             (select g.next_fetch from web.guestbook g where g.resource_id = ${resource_id}::bigint order by g.next_fetch limit 1))
           - tidemark.now())::float8 * 1000) as wait_ms`);
  return rows[0]!;
}
