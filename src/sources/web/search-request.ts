/** What somebody looks for, where, and from which result on; a sentence for what cannot be understood. */
import { TidemarkError } from "tidemark";

export const QUERY_MOST = 1_000;
export const LIMIT_MOST = 100;
const LIMIT = 10;

export interface SearchRequest {
  q: string;
  /** Names from the top: gov, gsa, tts. */
  scope: string[];
  after: { score: string; page_id: string } | null;
  limit: number;
}

type Given = (name: string) => string | undefined;

function invalid(sentence: string): never {
  throw new TidemarkError("InputInvalid", sentence);
}

export function readSearch(given: Given): SearchRequest {
  // Longer ones are cut: whoever pastes a page still finds it.
  const q = (given("q") ?? "").replaceAll("\u0000", " ").slice(0, QUERY_MOST).toWellFormed().trim();
  if (q === "") invalid("Say what to look for: /web/search?q=permit");
  return { q, scope: readScope(given("in")), after: readAfter(given("after")), limit: readLimit(given("limit")) };
}

/** `gov`, `gov/gsa` or `gov/gsa/tts`; a host as it is written means the same. */
export function readScope(text: string | undefined): string[] {
  const parts = (text ?? "")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "");
  if (parts.length > 3)
    invalid(`\`in\` names a top-level domain, a domain and a subdomain at most, such as gov/gsa/tts.`);
  if (parts.some((part) => part.length > 253)) invalid("A name in `in` has at most 253 characters.");
  return parts;
}

export const writeAfter = (score: string, page_id: bigint | string): string =>
  Buffer.from(`${score} ${page_id}`).toString("base64url");

function readAfter(text: string | undefined): SearchRequest["after"] {
  if (!text) return null;
  const [, score, page_id] =
    /^(\d+(?:\.\d+)?(?:e-?\d+)?) (\d{1,18})$/.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  return score !== undefined && page_id !== undefined
    ? { score, page_id }
    : invalid("`after` has to be the `next` of the page before.");
}

function readLimit(text: string | undefined): number {
  if (!text) return LIMIT;
  if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > LIMIT_MOST)
    invalid(`\`limit\` must be a whole number from 1 to ${LIMIT_MOST}.`);
  return Number(text);
}
