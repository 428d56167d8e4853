/** The statements that say how a repository is doing: how much of it is mirrored, how much has vectors, what failed. */
import sql from "sql-template-tag";
import type { Queryable } from "tidemark";

export interface RepositoryCounts {
  resource_id: bigint;
  key: string;
  host: string;
  name: string;
  is_private: boolean;
  is_archived: boolean;
  is_disabled: boolean;
  has_issues: boolean;
  is_hidden: boolean;
  /** As GitHub counts them. */
  issues: number;
  initialised_at: string | null;
  mirrored: number;
  issue_updated_at: string | null;
  swept_at: string | null;
  progress_done: number | null;
  progress_total: number | null;
}

/** Repositories by their names, from a name on; or the one of a name. */
export async function readRepositoryCounts(
  read: Queryable,
  named: { host: string; name: string } | null,
  after: string,
  most: number,
): Promise<RepositoryCounts[]> {
  const { rows } = await read.query<RepositoryCounts>(sql`
    select t.resource_id, t.key, n.host, n.name, coalesce(r.is_private, false) as is_private, coalesce(r.is_archived, false) as is_archived,
           coalesce(r.is_disabled, false) as is_disabled, coalesce(r.has_issues, true) as has_issues, coalesce(r.is_hidden, false) as is_hidden,
           coalesce(r.issues, 0) as issues, r.initialised_at, t.progress_done::float8 as progress_done, t.progress_total::float8 as progress_total,
           (select count(*)::int from github_issues.issue i where i.resource_id = t.resource_id) as mirrored,
           (select max(i.updated_at) from github_issues.issue i where i.resource_id = t.resource_id) as issue_updated_at,
           (select d.fresh_at from tidemark.resource s join tidemark.due d on d.resource_id = s.resource_id
             where s.source = 'github-issues' and s.kind = 'sweep' and s.key = t.key) as swept_at
      from tidemark.resource t left join github_issues.repository r on r.resource_id = t.resource_id
     cross join lateral (select coalesce(r.host, case when t.key like '%/%/%' then split_part(t.key, '/', 1) else 'github.com' end) as host,
                                coalesce(r.name, regexp_replace(t.key, '^[^/]+/(?=.*/)', '')) as name) n
     where t.source = 'github-issues' and t.kind = 'repository' and t.gone_at is null and t.key > ${after}
       and (${named === null} or (n.host = ${named?.host ?? ""} and lower(n.name) = lower(${named?.name ?? ""})))
     order by t.key limit ${most}::int`);
  return rows;
}

export interface Lacking {
  resource_id: bigint;
  waiting: number;
  failed: number;
}

/** How many issues of each lack a vector, and of how many of these it could not be made. */
export async function readLacking(read: Queryable, generation: number, resource_ids: bigint[]): Promise<Lacking[]> {
  const { rows } = await read.query<Lacking>(sql`
    select p.resource_id, count(distinct p.number)::int as waiting, (count(distinct p.number) filter (where u.tries > 0))::int as failed
      from github_issues.unembedded u
      join github_issues.generation g on g.generation = u.generation
      join github_issues.passage p on p.hash = u.hash and p.tokens_most = g.tokens_most
     where u.generation = ${generation}::int and p.resource_id = any(${resource_ids}::bigint[])
     group by p.resource_id`);
  return rows;
}

export interface FailedText {
  number: number;
  tries: number;
  reason: string | null;
  retry_at: string;
}

/** Issues of which no vector could be made, with the reason and when it is tried again. */
export async function readFailedTexts(
  read: Queryable,
  generation: number,
  resource_id: bigint,
  most: number,
): Promise<FailedText[]> {
  const { rows } = await read.query<FailedText>(sql`
    select distinct on (p.number) p.number, u.tries, u.reason, u.retry_at
      from github_issues.unembedded u
      join github_issues.generation g on g.generation = u.generation
      join github_issues.passage p on p.hash = u.hash and p.tokens_most = g.tokens_most
     where u.generation = ${generation}::int and u.tries > 0 and p.resource_id = ${resource_id}::bigint
     order by p.number, u.tries desc limit ${most}::int`);
  return rows;
}

export interface GenerationCounts {
  generation: number;
  model: string;
  dimensions: number | null;
  created_at: string;
  completed_at: string | null;
  vectors: number;
  waiting: number;
  failed: number;
}

export async function readGenerationCounts(read: Queryable): Promise<GenerationCounts[]> {
  const { rows } = await read.query<GenerationCounts>(sql`
    select g.generation, g.model, g.dimensions, g.created_at, g.completed_at,
           (select count(*)::int from github_issues.vector v where v.generation = g.generation) as vectors,
           (select count(*)::int from github_issues.unembedded u where u.generation = g.generation) as waiting,
           (select count(*)::int from github_issues.unembedded u where u.generation = g.generation and u.tries > 0) as failed
      from github_issues.generation g where g.retired_at is null order by g.generation`);
  return rows;
}

export interface OneIssue {
  resource_id: bigint;
  number: number;
  title: string;
}

export async function readIssue(
  read: Queryable,
  { host, name }: { host: string; name: string },
  number: number,
): Promise<OneIssue | null> {
  const { rows } = await read.query<OneIssue>(sql`
    select i.resource_id, i.number, i.title from github_issues.repository r
      join github_issues.issue i on i.resource_id = r.resource_id and i.number = ${number}::int
     where r.host = ${host} and lower(r.name) = lower(${name})`);
  return rows[0] ?? null;
}
