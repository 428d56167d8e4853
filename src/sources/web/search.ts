/** One search from its request to its answer: results with snippets, how many there may be, how fresh they are. */
import type { Queryable } from "tidemark";
import { TidemarkError } from "tidemark";
import type { SearchAnswer } from "./answers.ts";
import { type SearchRequest, writeAfter } from "./search-request.ts";
import { ANGLES, estimate, type Found, findScope, isSearchable, MARK, readFreshness, search } from "./search-rows.ts";
import { suggest } from "./suggestions.ts";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character]!);

/** The marks are put in when all that pages say is escaped; one that was not closed is closed. */
export function marked(snippet: string): string {
  const [begin, end] = MARK;
  const parts = escapeHtml(snippet.replaceAll(ANGLES[0], "<").replaceAll(ANGLES[1], ">")).split(begin);
  return parts
    .map((part, n) => {
      const plain = part.replaceAll(end, "");
      if (n === 0) return plain;
      const at = part.indexOf(end);
      return at < 0
        ? `<mark>${plain}</mark>`
        : `<mark>${part.slice(0, at)}</mark>${part.slice(at).replaceAll(end, "")}`;
    })
    .join("");
}

const shown = ({ scheme, host, path, part, title, snippet, ...found }: Found): SearchAnswer["results"][number] => ({
  url: `${scheme}://${host}${path}${part > 0 ? `#page=${part}` : ""}`,
  title: title ?? path,
  snippet: marked(snippet),
  host,
  domain64: found.domain64.toString(),
  content_type: found.content_type,
  score: Number(found.score),
  last_modified: found.last_modified,
  changed_at: found.last_changed,
  fresh_at: found.last_fetched,
});

export async function searchPages(read: Queryable, request: SearchRequest): Promise<SearchAnswer> {
  const { q, scope, limit } = request;
  const [range, searchable] = await Promise.all([findScope(read, scope), isSearchable(read, q)]);
  const none = { total: { pages: 0, exact: true }, ranked: { pages: 0, capped: false }, next: null };
  if (range === null) return { results: [], ...none, suggestions: await suggest(read, q, scope, null), fresh_at: null };
  if (!searchable)
    throw new TidemarkError(
      "InputInvalid",
      `"${q.slice(0, 100)}" has no word to look for; words such as "the" and those after a minus do not count.`,
    );
  const narrow = scope.length > 1;
  const [found, fresh_at] = await Promise.all([search(read, request, range, narrow), readFreshness(read, range)]);
  const ranked = found[0]?.ranked ?? 0;
  if (found.length === 0) {
    const suggestions = request.after === null ? await suggest(read, q, scope, range) : [];
    return { results: [], ...none, suggestions, fresh_at };
  }
  const { capped } = found[0]!;
  const last = found.length > limit ? found[limit - 1]! : null;
  return {
    results: found.slice(0, limit).map(shown),
    total: capped
      ? { pages: Math.max(await estimate(read, q, range), ranked), exact: false }
      : { pages: ranked, exact: true },
    ranked: { pages: ranked, capped },
    suggestions: [],
    next: last ? writeAfter(last.score, last.page_id) : null,
    fresh_at,
  };
}
