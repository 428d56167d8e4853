/** Searching the packages of a feed: by id first, then by what is said of them. */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Details } from "./leaf.ts";
import { quoted } from "./package-row.ts";
import type { SearchRequest, Term } from "./search-request.ts";

/** So many are ranked; of a word that more packages have, those whose id begins with it are always among them. */
const RANKED_MOST = 2_000;

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

/** The beginning of a word, and where it may be. */
const lexeme = (word: string, where: string): string => `${quoted(word)}:*${where}`;

function queryOf({ field, word }: Term): Sql {
  const as = (where: string) => sql`${lexeme(word, where)}::tsquery`;
  switch (field) {
    case "id":
    case "packageid":
      return as("A");
    case "tags":
      return as("B");
    case "text":
      return sql`(plainto_tsquery('simple', ${word}) || plainto_tsquery('english', ${word}))`;
    case "any":
      return sql`(${as("AB")} || plainto_tsquery('english', ${word}))`;
  }
}

function matching(feed_id: bigint, request: SearchRequest): Sql {
  const { terms, package_type } = request;
  const exact = terms.filter((term) => term.field === "packageid").map((term) => term.word);
  return sql`p.feed_id = ${feed_id}::bigint and p.any2_key is not null and ${newestOf(request)} is not null
    ${terms.length > 0 ? sql`and p.search @@ (${join(terms.map(queryOf), " && ")})` : empty}
    ${exact.length > 0 ? sql`and p.lower_id = any(${exact}::text[])` : empty}
    ${package_type === null ? empty : sql`and ${package_type} = any(array(select lower(t) from unnest(p.package_types) t))`}`;
}

export async function countFound(read: Queryable, feed_id: bigint, request: SearchRequest): Promise<number> {
  const { rows } = await read.query<{ n: number }>(
    sql`select count(p.lower_id)::int as n from nuget.package p where ${matching(feed_id, request)}`,
  );
  return rows[0]!.n;
}

/** The ids that match, best first: the id itself, ids that begin with it, then by where the words are. */
function ranked(feed_id: bigint, request: SearchRequest): Sql {
  const { terms, skip, take } = request;
  const where = matching(feed_id, request);
  if (terms.length === 0)
    return sql`select p.feed_id, p.lower_id, ${newestOf(request)} as version_key, row_number() over (order by p.ticks desc, p.lower_id) as n
                 from nuget.package p where ${where} order by p.ticks desc, p.lower_id limit ${take}::int offset ${skip}::int`;
  const whole = terms.map(({ word }) => word).join(" ");
  const beginning = whole.replace(/[\\%_]/g, "\\$&");
  return sql`
    select p.feed_id, p.lower_id, ${newestOf(request)} as version_key,
           row_number() over (order by p.lower_id = ${whole} desc, p.lower_id like ${`${beginning}.%`} desc, p.lower_id like ${`${beginning}%`} desc,
                                       case when p.lower_id like ${`${beginning}%`} then length(p.lower_id) end,
                                       ts_rank('{0, 0.2, 0.6, 1}', p.search, q.query, 1) desc, length(p.lower_id), p.lower_id) as n
      from (
        (select p.lower_id from nuget.package p
          where ${where} and p.lower_id >= ${whole} and p.lower_id < ${`${whole}\u{10ffff}`} order by p.lower_id limit ${RANKED_MOST}::int)
        union
        (select p.lower_id from nuget.package p where ${where} limit ${RANKED_MOST}::int)) c
      join nuget.package p on p.feed_id = ${feed_id}::bigint and p.lower_id = c.lower_id
     cross join (select ${join(terms.map(queryOf), " && ")} as query) q
     order by n limit ${take}::int offset ${skip}::int`;
}

export async function search(read: Queryable, feed_id: bigint, request: SearchRequest): Promise<Found[]> {
  const { prerelease, semver2 } = request;
  const { rows } = await read.query<Found>(sql`
    select p.id, p.lower_id, v.full_version, v.package_types, v.details, l.versions
      from (${ranked(feed_id, request)}) r
      join nuget.package p on p.feed_id = r.feed_id and p.lower_id = r.lower_id
      join nuget.version v on v.feed_id = r.feed_id and v.lower_id = r.lower_id and v.version_key = r.version_key
     cross join lateral (
       select jsonb_agg(jsonb_build_object('full_version', o.full_version, 'version_key', o.version_key) order by o.sort_key) as versions
         from nuget.version o
        where o.feed_id = r.feed_id and o.lower_id = r.lower_id and not o.deleted and o.listed
          and (${prerelease} or not o.prerelease) and (${semver2} or not o.semver2)) l
     order by r.n`);
  return rows;
}

/** Ids for whoever types one. */
export async function complete(read: Queryable, feed_id: bigint, request: SearchRequest): Promise<string[]> {
  const { rows } = await read.query<{ id: string }>(sql`
    select p.id from (${ranked(feed_id, request)}) r join nuget.package p on p.feed_id = r.feed_id and p.lower_id = r.lower_id order by r.n`);
  return rows.map((row) => row.id);
}
