/** The conditions that a search sets, as SQL on `i`, an issue, and `r`, its repository. */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { SearchRequest } from "./search-request.ts";

/** Of what nobody may see nothing is shown, from the commit on that says so. */
export const visible = (with_private: boolean): Sql =>
  sql`r.initialised_at is not null and not r.is_hidden and not r.is_disabled and r.has_issues and (${with_private} or not r.is_private)`;

const escaped = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

/** Texts in which a phrase stands as it is; the words of it lead there. */
function said(phrase: string): Sql {
  const like = escaped(phrase);
  const query = sql`github_issues.query(${phrase})`;
  return sql`(((numnode(${query}) = 0 or i.search @@ ${query}) and (i.title ilike ${like} or i.body ilike ${like}))
    or exists (select 1 from github_issues.comment c where c.resource_id = i.resource_id and c.number = i.number
                 and (numnode(${query}) = 0 or c.search @@ ${query}) and c.body ilike ${like}))`;
}

const lower = (values: string[]): string[] => values.map((value) => value.toLowerCase());

/** Labels are known by their ids, because their names change. */
const labelled = (name: string): Sql =>
  sql`i.label_ids && array(select l.label_id from github_issues.label l where lower(l.name) = ${name.toLowerCase()})`;

const ofRepository = ({ host, name }: { host: string; name: string }): Sql =>
  sql`(lower(r.name) = ${name.toLowerCase()} and r.host = ${host})`;

const ofOwner = (org: string): Sql => sql`lower(split_part(r.name, '/', 1)) = ${org.toLowerCase()}`;

const any = (conditions: Sql[]): Sql[] => (conditions.length === 0 ? [] : [sql`(${join(conditions, " or ")})`]);
const none = (conditions: Sql[]): Sql[] => conditions.map((condition) => sql`not ${condition}`);

/** Every condition besides the words. */
export function conditions(request: SearchRequest, with_private: boolean): Sql {
  const title = (text: string) => sql`i.title ilike ${escaped(text)}`;
  const body = (text: string) => sql`i.body ilike ${escaped(text)}`;
  const all: Sql[] = [
    visible(with_private),
    ...any(request.repo.map(ofRepository)),
    ...none(request.not_repo.map(ofRepository)),
    ...any(request.org.map(ofOwner)),
    ...none(request.not_org.map(ofOwner)),
    ...(request.state === "all" ? [] : [sql`i.state = ${request.state}`]),
    ...(request.author.length > 0 ? [sql`lower(i.author) = any(${lower(request.author)}::text[])`] : []),
    ...(request.not_author.length > 0
      ? [sql`(i.author is null or lower(i.author) <> all(${lower(request.not_author)}::text[]))`]
      : []),
    ...request.label.map(labelled),
    ...none(request.not_label.map(labelled)),
    ...request.title.map(title),
    ...none(request.not_title.map(title)),
    ...request.body.map(body),
    ...none(request.not_body.map(body)),
    ...request.phrases.map(said),
    ...none(request.not_phrases.map(said)),
    ...(request.number === null ? [] : [sql`i.number = ${request.number}::int`]),
  ];
  return all.length === 0 ? empty : join(all, " and ");
}
