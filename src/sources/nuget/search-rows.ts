/** Searching the packages of a feed: by id first, then by tags, then by what is said of them. */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Details } from "./leaf.ts";
import { quoted } from "./package-row.ts";
import type { SearchRequest, Term } from "./search-request.ts";

export interface Found {
  id: string;
  lower_id: string;
  full_version: string;
  package_types: string[];
  details: Details;
  versions: { full_version: string; version_key: string }[];
}

/** Which of a package's newest versions such a client may see. */
const newestOf = ({ prerelease, semver2 }: Pick<SearchRequest, "prerelease" | "semver2">): Sql =>
  raw(`p.${prerelease ? "any" : "stable"}${semver2 ? "2" : ""}_key`);

/** The beginning of a word in one of its places: of the id, or of tags and title. */
const begins = (place: "i" | "t", word: string): Sql => sql`${`${quoted(`${place}/${word}`)}:*`}::tsquery`;
const stems = (word: string): Sql => sql`plainto_tsquery('english', ${word})`;

/** Where a word may stand, better places first: in the id; in tags or title, too; anywhere. */
const LEVELS = 3;

function queryOf({ field, word }: Term, level: number): Sql {
  switch (field) {
    case "id":
    case "packageid":
      return begins("i", word);
    case "tags":
      return begins("t", word);
    case "text":
      return sql`(${begins("t", word)} || ${stems(word)})`;
    case "any":
      if (level === 1) return begins("i", word);
      return sql`(${begins("i", word)} || ${begins("t", word)} ${level === 2 ? empty : sql`|| ${stems(word)}`})`;
  }
}

/** Everything that was asked for, with words in such places; null where nothing in particular was. */
function wordsQuery({ terms, package_type }: SearchRequest, level: number): Sql | null {
  const parts = terms.map((term) => queryOf(term, level));
  if (package_type !== null) parts.push(sql`${quoted(`y/${package_type}`)}::tsquery`);
  return parts.length === 0 ? null : sql`(${join(parts, " && ")})`;
}

function matching(feed_id: bigint, request: SearchRequest, query: Sql | null): Sql {
  const exact = request.terms.filter((term) => term.field === "packageid").map((term) => term.word);
  return sql`p.feed_id = ${feed_id}::bigint and p.any2_key is not null and ${newestOf(request)} is not null
    ${query ? sql`and p.search @@ ${query}` : empty}
    ${exact.length > 0 ? sql`and p.lower_id = any(${exact}::text[])` : empty}`;
}

/** Of more matches than these the database's estimate is told: nobody can page through so many, and counting them takes longer than finding them. */
export const COUNTED_MOST = 10_000;

/** Whether there are so few packages that one statement may look at all that match. */
export async function isSmall(read: Queryable): Promise<boolean> {
  const { rows } = await read.query<{ n: number }>(
    sql`select reltuples::float8 as n from pg_class where oid = 'nuget.package'::regclass`,
  );
  return rows[0]!.n <= COUNTED_MOST;
}

/** How many packages match. */
export async function countFound(
  read: Queryable,
  feed_id: bigint,
  request: SearchRequest,
  small: boolean,
): Promise<number> {
  const query = wordsQuery(request, LEVELS);
  const all = sql`from nuget.package p where ${matching(feed_id, request, query)}`;
  if (query && !small) {
    const { rows } = await read.query<{ "QUERY PLAN": { Plan: { "Plan Rows": number } }[] }>(
      sql`explain (format json) select p.lower_id ${all}`,
    );
    const estimate = rows[0]!["QUERY PLAN"][0]!.Plan["Plan Rows"];
    if (estimate > COUNTED_MOST) return estimate;
  }
  const { rows } = await read.query<{ n: number }>(sql`select count(p.lower_id)::int as n ${all}`);
  return rows[0]!.n;
}

interface Ranked {
  lower_id: string;
  version_key: string;
}

/** Of nothing in particular the newest come first; otherwise the id itself, ids that begin with it, and short ones. */
function inOrder({ terms }: SearchRequest): Sql {
  if (terms.length === 0) return sql`p.ticks desc, p.lower_id`;
  const whole = terms.map(({ word }) => word).join(" ");
  const beginning = whole.replace(/[\\%_]/g, "\\$&");
  return sql`p.lower_id = ${whole} desc, p.lower_id like ${`${beginning}.%`} desc, p.lower_id like ${`${beginning}%`} desc,
             length(p.lower_id), p.lower_id`;
}

const levelsOf = ({ terms }: SearchRequest): number => (terms.some(({ field }) => field === "any") ? LEVELS : 1);

/** The packages that match, best first, in one statement. */
function rankedAtOnce(feed_id: bigint, request: SearchRequest): Sql {
  const better = Array.from(
    { length: levelsOf(request) - 1 },
    (_, n) => sql`p.search @@ ${wordsQuery(request, n + 1)} desc,`,
  );
  return sql`
    (select p.lower_id, ${newestOf(request)} as version_key, row_number() over (order by ${better.length > 0 ? join(better, " ") : empty} ${inOrder(request)}) as n
       from nuget.package p where ${matching(feed_id, request, wordsQuery(request, LEVELS))}
      order by n limit ${request.take}::int offset ${request.skip}::int) r`;
}

/** The packages that match, best first: level by level, and no further than is asked for. */
async function ranked(read: Queryable, feed_id: bigint, request: SearchRequest): Promise<Ranked[]> {
  const { skip, take } = request;
  const found: Ranked[] = [];
  for (let level = 1; level <= levelsOf(request) && found.length < skip + take; level += 1) {
    const wanted = wordsQuery(request, level);
    // What a better level has was found there.
    const query = level === 1 ? wanted : sql`(${wanted} && !!${wordsQuery(request, level - 1)})`;
    const { rows } = await read.query<Ranked>(sql`
      select p.lower_id, ${newestOf(request)} as version_key from nuget.package p where ${matching(feed_id, request, query)}
       order by ${inOrder(request)} limit ${skip + take - found.length}::int`);
    found.push(...rows);
  }
  return found.slice(skip);
}

/** Them as a table; of few packages without another statement. */
async function tableOf(read: Queryable, feed_id: bigint, request: SearchRequest, small: boolean): Promise<Sql> {
  if (small) return rankedAtOnce(feed_id, request);
  const found = await ranked(read, feed_id, request);
  return sql`unnest(${found.map((one) => one.lower_id)}::text[], ${found.map((one) => one.version_key)}::text[])
             with ordinality as r(lower_id, version_key, n)`;
}

export async function search(
  read: Queryable,
  feed_id: bigint,
  request: SearchRequest,
  small: boolean,
): Promise<Found[]> {
  const { prerelease, semver2 } = request;
  const found = await tableOf(read, feed_id, request, small);
  const { rows } = await read.query<Found>(sql`
    select p.id, p.lower_id, v.full_version, v.package_types, v.details, l.versions
      from ${found}
      join nuget.package p on p.feed_id = ${feed_id}::bigint and p.lower_id = r.lower_id
      join nuget.version v on v.feed_id = ${feed_id}::bigint and v.lower_id = r.lower_id and v.version_key = r.version_key
     cross join lateral (
       select jsonb_agg(jsonb_build_object('full_version', o.full_version, 'version_key', o.version_key) order by o.sort_key) as versions
         from nuget.version o
        where o.feed_id = ${feed_id}::bigint and o.lower_id = r.lower_id and not o.deleted and o.listed
          and (${prerelease} or not o.prerelease) and (${semver2} or not o.semver2)) l
     order by r.n`);
  return rows;
}

/** Ids for whoever types one. */
export async function complete(
  read: Queryable,
  feed_id: bigint,
  request: SearchRequest,
  small: boolean,
): Promise<string[]> {
  const found = await tableOf(read, feed_id, request, small);
  const { rows } = await read.query<{ id: string }>(sql`
    select p.id from ${found} join nuget.package p on p.feed_id = ${feed_id}::bigint and p.lower_id = r.lower_id order by r.n`);
  return rows.map((row) => row.id);
}
