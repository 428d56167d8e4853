/** The statements that fetch what a search shows of the issues that it found. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Place } from "./paging.ts";
import type { Candidate } from "./ranking.ts";

/** What weighs in besides relevance. */
export interface AgedRow extends Candidate {
  comments: number;
  state: string;
  updated_at: string;
}

export async function readAged(read: Queryable, these: Candidate[], conditions: Sql): Promise<AgedRow[]> {
  const { rows } = await read.query<AgedRow>(sql`
    select i.resource_id, i.number, i.comments, i.state, i.updated_at
      from unnest(${these.map((t) => t.resource_id)}::bigint[], ${these.map((t) => t.number)}::int[]) as t(resource_id, number)
      join github_issues.issue i on i.resource_id = t.resource_id and i.number = t.number
      join github_issues.repository r on r.resource_id = i.resource_id
     where ${conditions}`);
  return rows;
}

export interface ShownRow extends AgedRow {
  host: string;
  repository: string;
  title: string;
  state_reason: string | null;
  author: string | null;
  labels: string[];
  reactions: number;
  created_at: string;
  closed_at: string | null;
  snippet: string;
  repository_fresh_at: string | null;
}

const HEADLINE = 'StartSel=**, StopSel=**, MaxFragments=2, MinWords=6, MaxWords=24, FragmentDelimiter=" … "';
/** So much of a body is looked through for a snippet. */
const SNIPPET_LETTERS = 8_000;

const shown = (text: string): Sql => sql`
    i.resource_id, i.number, r.host, r.name as repository, i.title, i.state, i.state_reason, i.author, i.comments, i.reactions,
    i.created_at, i.updated_at, i.closed_at, d.fresh_at as repository_fresh_at,
    array(select l.name from github_issues.label l where l.label_id = any(i.label_ids) order by lower(l.name)) as labels,
    ts_headline('pg_catalog.english', regexp_replace(regexp_replace(left(i.body, ${SNIPPET_LETTERS}::int), '<!--.*?-->', ' ', 'g'), '[[:space:]]+', ' ', 'g'), plainto_tsquery('pg_catalog.english', ${text}), ${HEADLINE}) as snippet`;

/** The issues themselves, in the order in which they are given; headlines are made of these alone. */
export async function readShown(read: Queryable, these: Candidate[], visible: Sql, text: string): Promise<ShownRow[]> {
  const { rows } = await read.query<ShownRow>(sql`
    select ${shown(text)}
      from unnest(${these.map((t) => t.resource_id)}::bigint[], ${these.map((t) => t.number)}::int[]) with ordinality as t(resource_id, number, n)
      join github_issues.issue i on i.resource_id = t.resource_id and i.number = t.number
      join github_issues.repository r on r.resource_id = i.resource_id
      join tidemark.due d on d.resource_id = i.resource_id
     where ${visible} order by t.n`);
  return rows;
}

/** Without words there is no relevance: the last updated come first. */
export async function listNewest(
  read: Queryable,
  conditions: Sql,
  after: Place | null,
  most: number,
): Promise<ShownRow[]> {
  const behind = after
    ? sql`and (i.updated_at < ${after.updated_at}::timestamptz
           or (i.updated_at = ${after.updated_at}::timestamptz and (i.resource_id, i.number) > (${after.resource_id}::bigint, ${after.number}::int)))`
    : empty;
  const { rows } = await read.query<ShownRow>(sql`
    select ${shown("")}
      from (select i.resource_id, i.number from github_issues.issue i join github_issues.repository r on r.resource_id = i.resource_id
             where ${conditions} ${behind} order by i.updated_at desc, i.resource_id, i.number limit ${most}::int) t
      join github_issues.issue i on i.resource_id = t.resource_id and i.number = t.number
      join github_issues.repository r on r.resource_id = i.resource_id
      join tidemark.due d on d.resource_id = i.resource_id
     order by i.updated_at desc, i.resource_id, i.number`);
  return rows;
}

/** Since when nothing is missing of what is searched: the oldest look at a repository that is shown. */
export async function readFreshAt(read: Queryable, visible: Sql): Promise<string | null> {
  const { rows } = await read.query<{ fresh_at: string | null }>(sql`
    select min(d.fresh_at) as fresh_at from github_issues.repository r
      join tidemark.due d on d.resource_id = r.resource_id join tidemark.resource t on t.resource_id = r.resource_id
     where t.gone_at is null and t.parked_at is null and t.paused_at is null and ${visible}`);
  return rows[0]?.fresh_at ?? null;
}
