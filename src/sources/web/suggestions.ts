/** What to try where nothing was found: fewer words, a wider scope, a word that is spelt as pages spell it. */
import sql, { empty } from "sql-template-tag";
import type { Queryable } from "tidemark";
import type { Suggestion } from "./answers.ts";
import type { Range } from "./domain64.ts";

const WORDS_MOST = 6;
const TITLES_MOST = 2_000;
const SUGGESTIONS_MOST = 5;

/** Whether anything at all matches. */
async function matches(read: Queryable, q: string, range: Range | "all"): Promise<boolean> {
  const { rows } = await read.query(sql`
    select 1 as one from web.search s where s.words @@ websearch_to_tsquery('english', ${q})
       ${range === "all" ? empty : sql`and s.domain64 >= ${range.from}::bigint and (${range.until}::bigint is null or s.domain64 < ${range.until}::bigint)`} limit 1`);
  return rows.length > 0;
}

export async function suggest(
  read: Queryable,
  q: string,
  scope: string[],
  range: Range | "all" | null,
): Promise<Suggestion[]> {
  const here = scope.length > 0 ? scope.join("/") : null;
  const suggestions: Suggestion[] = [];
  if (here !== null && (await matches(read, q, "all"))) suggestions.push({ q, in: null, why: "found elsewhere" });
  if (range === null) return suggestions;
  const words = [...new Set(q.replace(/["()]/g, " ").split(/\s+/))]
    .filter((word) => word !== "" && !word.startsWith("-") && word.toLowerCase() !== "or")
    .slice(0, WORDS_MOST);
  const found = await Promise.all(words.map((word) => matches(read, word, range)));
  if (words.length > 1 && found.some(Boolean))
    suggestions.push({ q: words.filter((_, n) => found[n]).join(" OR "), in: here, why: "fewer of the words" });
  const strange = words.filter((_, n) => !found[n]);
  if (strange.length > 0) {
    const spelt = await spell(read, strange, range);
    const better = words.map((word) => spelt.get(word) ?? word).join(" ");
    if (spelt.size > 0) suggestions.push({ q: better, in: here, why: "spelt as in a title" });
  }
  return suggestions.slice(0, SUGGESTIONS_MOST);
}

/** The nearest word of a title, two letters away at most. */
async function spell(read: Queryable, strange: string[], range: Range | "all"): Promise<Map<string, string>> {
  const { rows } = await read.query<{ title: string }>(sql`
    select c.texts[array_position(c.tags, 1)] as title from web.content c join web.guestbook s on s.page_id = c.page_id
     where 1 = any(c.tags)
       ${range === "all" ? empty : sql`and s.domain64 >= ${range.from}::bigint and (${range.until}::bigint is null or s.domain64 < ${range.until}::bigint)`}
     order by s.last_changed desc nulls last limit ${TITLES_MOST}::int`);
  const known = new Set(rows.flatMap(({ title }) => (title ?? "").toLowerCase().match(/[\p{L}\p{N}]{3,30}/gu) ?? []));
  const spelt = new Map<string, string>();
  for (const word of strange) {
    const most = word.length < 5 ? 1 : 2;
    let best: { word: string; away: number } | null = null;
    for (const one of known) {
      const away = distance(word.toLowerCase(), one, most);
      if (away <= most && (!best || away < best.away)) best = { word: one, away };
    }
    if (best) spelt.set(word, best.word);
  }
  return spelt;
}

/** Letters to change, put in or take out; more than `most` is as good as many. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1)
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    last = row;
  }
  return last[b.length]!;
}
