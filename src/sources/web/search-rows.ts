/** Searching pages: candidates from the vectors of one partition or of all, the best of them by rank, and what they look like. */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import { type Range, rangeOf } from "./domain64.ts";
import type { SearchRequest } from "./search-request.ts";

/** So many matches are ranked: of a word that is everywhere, some from each partition, not all. */
export const CANDIDATES_MOST = 2_000;
const PER_PARTITION_LEAST = 20;
/** What stands around a word that was found, in characters that no page has a use for; made into <mark> when all else is escaped. */
export const MARK = ["\ue000", "\ue001"] as const;
/** In the place of < and >, which the parser would take for markup. */
export const ANGLES = ["\ue002", "\ue003"] as const;
const WEIGHTS = "{0.1, 0.2, 0.4, 1.0}";
const SNIPPET_FROM_MOST = 50_000;

/** Where a scope lies; null where nothing has that name. */
export async function findScope(read: Queryable, [tld, domain, subdomain]: string[]): Promise<Range | "all" | null> {
  if (tld === undefined) return "all";
  const { rows } = await read.query<{ tld_id: number; domain_no: number | null; subdomain_no: number | null }>(sql`
    select t.tld_id::int as tld_id, d.domain_no, s.subdomain_no from web.tld t
      left join web.domain d on d.tld_id = t.tld_id and d.domain = ${domain ?? null}
      left join web.subdomain s on s.tld_id = t.tld_id and s.domain_no = d.domain_no and s.subdomain = ${subdomain ?? null}
     where t.tld = ${tld}`);
  const [found] = rows;
  if (!found || (domain !== undefined && found.domain_no === null)) return null;
  if (domain === undefined) return rangeOf({ tld: found.tld_id });
  if (subdomain === undefined) return rangeOf({ tld: found.tld_id, domain: found.domain_no! });
  // The domain's own host has no subdomain, and the number 0.
  const subdomain_no = subdomain === "_" ? 0 : found.subdomain_no;
  return subdomain_no === null
    ? null
    : rangeOf({ tld: found.tld_id, domain: found.domain_no!, subdomain: subdomain_no });
}

const queryOf = (q: string): Sql => sql`websearch_to_tsquery('english', ${q})`;

/** A query that says only what must not be there would match everything. */
export async function isSearchable(read: Queryable, q: string): Promise<boolean> {
  const { rows } = await read.query<{ tree: string }>(sql`select querytree(${queryOf(q)}) as tree`);
  return rows[0]!.tree !== "" && rows[0]!.tree !== "T";
}

const within = ({ from, until }: Range): Sql =>
  sql`s.domain64 >= ${from}::bigint ${until === null ? empty : sql`and s.domain64 < ${until}::bigint`}`;

/** In a domain or subdomain: the planner, or the executor, leaves one partition over of what the two numbers allow. */
export const candidatesIn = (q: string, range: Range, most: number): Sql => sql`
  select s.tableoid, s.domain64, s.page_id, s.part, s.words from web.search s where s.words @@ ${queryOf(q)} and ${within(range)} limit ${most}::int`;

/** Over many partitions: as many from each, or the first ones would give all. */
async function candidatesOver(
  read: Queryable,
  q: string,
  range: Range | "all",
): Promise<{ candidates: Sql; each: number }> {
  const { rows } = await read.query<{ name: string }>(sql`
    select p.name from web.partition p
     ${range === "all" ? empty : sql`where p.from_no >= ${range.from}::bigint ${range.until === null ? empty : sql`and p.from_no < ${range.until}::bigint`}`}
     order by p.name`);
  const each = Math.max(PER_PARTITION_LEAST, Math.ceil(CANDIDATES_MOST / Math.max(1, rows.length)));
  if (rows.length === 0) return { candidates: candidatesIn(q, { from: 0n, until: 0n }, 0), each };
  const parts = rows.map(
    ({ name }) =>
      sql`(select s.tableoid, s.domain64, s.page_id, s.part, s.words from ${raw(`web.${name}`)} s where s.words @@ ${queryOf(q)} limit ${each}::int)`,
  );
  return { candidates: join(parts, " union all "), each };
}

export interface Found {
  page_id: bigint;
  score: string;
  scheme: string;
  host: string;
  path: string;
  domain64: bigint;
  part: number;
  title: string | null;
  snippet: string;
  content_type: string;
  last_modified: string | null;
  last_fetched: string | null;
  last_changed: string | null;
  ranked: number;
  /** A partition gave as many as it was asked for: there may be more. */
  capped: boolean;
}

/** `narrow`: the scope is a domain or less, and so lies in one partition. */
export async function search(
  read: Queryable,
  { q, after, limit }: SearchRequest,
  range: Range | "all",
  narrow: boolean,
): Promise<Found[]> {
  const { candidates, each } =
    narrow && range !== "all"
      ? { candidates: candidatesIn(q, range, CANDIDATES_MOST), each: CANDIDATES_MOST }
      : await candidatesOver(read, q, range);
  const { rows } = await read.query<Found>(sql`
    with c as materialized (${candidates}), best as (
      select distinct on (c.page_id) c.page_id, c.domain64, c.part, ts_rank(${WEIGHTS}::real[], c.words, ${queryOf(q)}, 1)::float8 as score
        from c order by c.page_id, ts_rank(${WEIGHTS}::real[], c.words, ${queryOf(q)}, 1) desc, c.part
    ), page as (
      select b.page_id, b.domain64, b.part, b.score from best b
       ${after === null ? empty : sql`where (b.score, b.page_id) < (${after.score}::float8, ${after.page_id}::bigint)`}
       order by b.score desc, b.page_id desc limit ${limit + 1}::int
    )
    select p.page_id, p.score::text as score, sc.scheme, h.host, g.path, p.domain64, p.part, ct.content_type,
           g.last_modified, g.last_fetched, g.last_changed, (select count(c.page_id)::int from c) as ranked,
           (select max(f.n) from (select count(c.page_id) as n from c group by c.tableoid) f) >= ${each}::int as capped,
           w.texts[array_position(w.tags, 1)] as title,
           ts_headline('english', translate(left(t.said, ${SNIPPET_FROM_MOST}::int), ${`<>${MARK.join("")}`}, ${ANGLES.join("")}), ${queryOf(q)},
                       ${`StartSel=${MARK[0]}, StopSel=${MARK[1]}, MaxFragments=2, MaxWords=25, MinWords=8, FragmentDelimiter=" … "`}) as snippet
      from page p
      join web.guestbook g on g.page_id = p.page_id
      join web.host h on h.host_id = g.host_id
      join web.scheme sc on sc.scheme_id = g.scheme_id
      join web.content_type ct on ct.content_type_id = g.content_type_id
      join web.content w on w.page_id = p.page_id
     cross join lateral (
       select coalesce(case when p.part > 0 then (array_agg(x.said order by x.n) filter (where x.tag_id = 23))[p.part]
                            else string_agg(x.said, ' ' order by x.n) filter (where x.tag_id not in (1, 22)) end, '') as said
         from unnest(w.tags, w.texts) with ordinality as x(tag_id, said, n)) t
     order by p.score desc, p.page_id desc`);
  return rows;
}

/** How many match, as the planner guesses it. */
export async function estimate(read: Queryable, q: string, range: Range | "all"): Promise<number> {
  const { rows } = await read.query<{ "QUERY PLAN": { Plan: { "Plan Rows": number } }[] | string }>(sql`
    explain (format json) select s.page_id from web.search s where s.words @@ ${queryOf(q)} ${range === "all" ? empty : sql`and ${within(range)}`}`);
  const plan = rows[0]!["QUERY PLAN"];
  const parsed = (typeof plan === "string" ? JSON.parse(plan) : plan) as { Plan: { "Plan Rows": number } }[];
  return parsed[0]!.Plan["Plan Rows"];
}

/** When the least fresh of the hosts in a scope was last known to be true. */
export async function readFreshness(read: Queryable, range: Range | "all"): Promise<string | null> {
  const { rows } = await read.query<{ fresh_at: string | null }>(sql`
    select min(d.fresh_at) as fresh_at from web.host s join tidemark.due d on d.resource_id = s.resource_id
     ${range === "all" ? empty : sql`where ${within(range)}`}`);
  return rows[0]!.fresh_at;
}
