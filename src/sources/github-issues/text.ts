/** The text of an issue as a model reads it, cut into passages that fit: the one place that says what is compared by meaning. */
import { createHash } from "node:crypto";

/** So many comments are part of the text, each cut to so many tokens. */
const COMMENTS_MOST = 3;
const COMMENT_TOKENS = 250;
const TITLE_TOKENS = 60;

export interface Passage {
  part: number;
  text: string;
  tokens: number;
  hash: string;
}

export interface TextLimits {
  /** For which model. */
  model: string;
  /** Tokens of a passage. */
  tokens_most: number;
  /** Passages of an issue; what is beyond is not compared. */
  parts_most: number;
}

export interface TextOf {
  title: string;
  body: string;
  comments: { body: string; association: string | null; created_at: string }[];
}

/**
 * How many tokens a text is at most likely to be: four letters of English are about one, and a letter of most other scripts is one by itself. An
 * estimate is enough, because servers cut nothing off below their limit and we stay far below it.
 */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[a-z]+|[A-Z]+|[0-9]+|\s+|[^\sa-zA-Z0-9]/g)) {
    if (/^\s/.test(run)) continue;
    tokens += /^[a-zA-Z]/.test(run) ? Math.ceil(run.length / 4) : /^[0-9]/.test(run) ? Math.ceil(run.length / 3) : 1;
  }
  return tokens;
}

/** What says nothing: comments of templates, pictures, rulers, the blanks between. */
export function cleaned(text: string): string {
  return text
    .replace(/<!--[\s\S]*?(-->|$)/g, " ")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, " ")
    .replace(/<\/?[a-z][^>]{0,200}>/gi, " ")
    .replace(/^[-*_=~ ]{3,}$/gm, " ")
    .replaceAll("\u0000", " ")
    .replace(/[ \t\r\f\v]+/g, " ")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
}

/** The first tokens of a text, in whole words where there are some. */
function cut(text: string, tokens_most: number): { head: string; rest: string } {
  if (tokensOf(text) <= tokens_most) return { head: text, rest: "" };
  let end = 0;
  let tokens = 0;
  for (const match of text.matchAll(/\s*\S+/g)) {
    const more = tokensOf(match[0]);
    if (tokens + more > tokens_most) break;
    tokens += more;
    end = match.index + match[0].length;
  }
  // One word that does not fit by itself is cut in the middle: a token is a letter at least.
  if (end === 0) end = Math.min(text.length, tokens_most);
  return { head: text.slice(0, end).trim(), rest: text.slice(end).trim() };
}

const TRUSTED = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** Those of maintainers first, then the longer ones; told in the order in which they were written. */
function bestComments(all: TextOf["comments"]): string[] {
  return all
    .map((comment, at) => ({ ...comment, at, text: cleaned(comment.body) }))
    .filter(({ text }) => text.length > 20)
    .sort(
      (a, b) =>
        Number(TRUSTED.has(b.association ?? "")) - Number(TRUSTED.has(a.association ?? "")) ||
        b.text.length - a.text.length ||
        a.at - b.at,
    )
    .slice(0, COMMENTS_MOST)
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => cut(text, COMMENT_TOKENS).head);
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Each begins with the title, so that it means something by itself. An issue that says nothing has none. */
export function passagesOf(issue: TextOf, { tokens_most, parts_most }: Omit<TextLimits, "model">): Passage[] {
  const title = cut(cleaned(issue.title), Math.min(TITLE_TOKENS, Math.floor(tokens_most / 2))).head;
  let rest = [cleaned(issue.body), ...bestComments(issue.comments)].filter(Boolean).join("\n").toWellFormed();
  const room = tokens_most - tokensOf(title);
  const passages: Passage[] = [];
  for (let part = 0; part < parts_most; part += 1) {
    const { head, rest: next } = cut(rest, room);
    const text = [title.toWellFormed(), head].filter(Boolean).join("\n");
    if (text === "" || (part > 0 && head === "")) break;
    passages.push({ part, text, tokens: tokensOf(text), hash: hashOf(text) });
    rest = next;
  }
  return passages;
}
