/** The leg of a search that goes by words: rare ones weigh more, long texts less, and what is there letter by letter most. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "tidemark";

/** So many words of a query count. */
const TERMS_MOST = 40;
/** Words lead to about so many issues, which are then weighed by all words. */
const CANDIDATES = 2_000;
/** A text of so many different words is neither long nor short. */
const LENGTH = 90;
/** Shorter texts are too often there by chance to count as the very same, and so is a single plain word. */
const EXACT_LETTERS = 6;
const isTelling = (text: string): boolean =>
  text.length >= EXACT_LETTERS && /[\s_./\\:(){}<>=#\d]|[a-z][A-Z]/.test(text);

export interface Term {
  lexeme: string;
  /** How many issues have it, about; and what that makes it worth. */
  issues: number;
  weight: number;
  /** … of how many. */
  total: number;
}

/** The words of a text with how rare each is: the common ones from the planner's statistics, the rest counted, which is quick because they are rare. */
export async function readTerms(read: Queryable, text: string): Promise<Term[]> {
  const { rows } = await read.query<{ lexeme: string; issues: number; total: number }>(sql`
    with total as (select greatest(1, c.reltuples, (select count(*) from (select 1 from github_issues.issue limit 2000) few))::float8 as n
                     from pg_class c where c.oid = 'github_issues.issue'::regclass),
         asked as (select u.lexeme from unnest(github_issues.words(${text})) u order by u.positions[1], u.lexeme limit ${TERMS_MOST}::int),
         known as (select k.lexeme, k.share
                     from pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs[1:array_length(s.most_common_elems::text::text[], 1)]) as k(lexeme, share)
                    where s.schemaname = 'github_issues' and s.tablename = 'issue' and s.attname = 'search' and not s.inherited)
    select a.lexeme, total.n as total,
           coalesce((select k.share * total.n from known k where k.lexeme = a.lexeme),
                    (select count(*) from (select 1 from github_issues.issue i where i.search @@ quote_literal(a.lexeme)::tsquery limit 20000) few))::float8 as issues
      from asked a, total`);
  return rows.map(({ lexeme, issues, total }) => ({
    lexeme,
    issues,
    total: Math.max(total, issues, 1),
    weight: Math.log(1 + (Math.max(total, issues) - issues + 0.5) / (issues + 0.5)),
  }));
}

const quoted = (lexeme: string): string => `'${lexeme.replaceAll("'", "''")}'`;

/**
 * What leads to candidates: any of the rare words, or all of as many of the common ones as it takes to be few. Everything that is found so is then weighed by
 * all words, so that a rare number in a question does not hide what its other words mean.
 */
export function leading(terms: Term[]): string {
  const rare: Term[] = [];
  let issues = 0;
  const sorted = terms.toSorted((a, b) => a.issues - b.issues);
  while (sorted[0] && issues + sorted[0].issues <= CANDIDATES) {
    issues += sorted[0].issues;
    rare.push(sorted.shift()!);
  }
  const together: Term[] = [];
  for (let share = 1; sorted[0] && (together.length === 0 || share * sorted[0].total > CANDIDATES); ) {
    share *= sorted[0].issues / sorted[0].total;
    together.push(sorted.shift()!);
  }
  const any = rare.map(({ lexeme }) => quoted(lexeme));
  const all = together.map(({ lexeme }) => quoted(lexeme)).join(" & ");
  return [...any, ...(all === "" ? [] : [`(${all})`])].join(" | ");
}

export interface Weighed {
  resource_id: bigint;
  number: number;
  score: number;
  /** The text is there letter by letter: 3 in the title, 2 in the body, 1 in a comment, 0 nowhere. */
  exact: number;
}

/**
 * Candidates are read off the indexes of words, of issues and of comments; then each is weighed. `conditions` are on `i` and `r`. PostgreSQL ranks a word in a text
 * between 0 and 1, rising ever less with each time that it is there, which is what is wanted; how rare it is and how long the text are ours.
 */
export async function weigh(
  read: Queryable,
  text: string,
  terms: Term[],
  conditions: Sql,
  most: number,
): Promise<Weighed[]> {
  if (terms.length === 0) return [];
  const lead = leading(terms);
  const like = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  const exact = isTelling(text.trim());
  const lexemes = terms.map(({ lexeme }) => quoted(lexeme));
  const weights = terms.map(({ weight }) => weight);
  const { rows } = await read.query<Weighed>(sql`
    with found as materialized (
      (select i.resource_id, i.number, null::text as comment_id
         from github_issues.issue i join github_issues.repository r on r.resource_id = i.resource_id
        where i.search @@ ${lead}::tsquery and ${conditions} limit ${2 * CANDIDATES}::int)
      union all
      (select i.resource_id, i.number, c.comment_id
         from github_issues.comment c
         join github_issues.issue i on i.resource_id = c.resource_id and i.number = c.number
         join github_issues.repository r on r.resource_id = i.resource_id
        where c.search @@ ${lead}::tsquery and ${conditions} limit ${CANDIDATES}::int)),
    by_comment as (
      select f.resource_id, f.number, max(w.weight) as weight, bool_or(${exact} and c.body ilike ${like}) as exact
        from found f join github_issues.comment c on c.comment_id = f.comment_id
       cross join lateral (
         select sum(t.weight * ts_rank(c.search, t.lexeme::tsquery) / (0.5 + 0.5 * length(c.search) / ${LENGTH}::float8)) as weight
           from unnest(${lexemes}::text[], ${weights}::float8[]) as t(lexeme, weight) where c.search @@ t.lexeme::tsquery) w
       group by f.resource_id, f.number)
    select i.resource_id, i.number,
           (coalesce(w.weight, 0) + 0.5 * coalesce(b.weight, 0))::float8 as score,
           case when not ${exact} then 0 when i.title ilike ${like} then 3 when i.body ilike ${like} then 2 when b.exact then 1 else 0 end as exact
      from (select distinct resource_id, number from found) f
      join github_issues.issue i on i.resource_id = f.resource_id and i.number = f.number
      left join by_comment b on b.resource_id = f.resource_id and b.number = f.number
     cross join lateral (
       select sum(t.weight * ts_rank('{0.1, 0.2, 0.6, 1}', i.search, t.lexeme::tsquery)) / (0.6 + 0.4 * length(i.search) / ${LENGTH}::float8) as weight
         from unnest(${lexemes}::text[], ${weights}::float8[]) as t(lexeme, weight) where i.search @@ t.lexeme::tsquery) w
     order by exact desc, score desc, i.updated_at desc limit ${most}::int`);
  return rows;
}
