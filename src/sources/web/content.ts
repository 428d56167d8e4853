/** What a page says, text by text with the tag of each, and where it leads: the shape that every kind of document becomes. */
import { createHash } from "node:crypto";

/** As in web.tag. */
export const tags = {
  title: 1,
  p: 2,
  div: 3,
  h1: 4,
  h2: 5,
  h3: 6,
  h4: 7,
  h5: 8,
  h6: 9,
  li: 10,
  td: 11,
  th: 12,
  dt: 13,
  dd: 14,
  pre: 15,
  blockquote: 16,
  figcaption: 17,
  caption: 18,
  summary: 19,
  alt: 20,
  description: 21,
  path: 22,
  page: 23,
  text: 24,
} as const;
export type Tag = keyof typeof tags;

export interface Block {
  tag: Tag;
  text: string;
}

export interface Extracted {
  blocks: Block[];
  /** As written, with what they are relative to. */
  links: string[];
  base: string | null;
  canonical: string | null;
  noindex: boolean;
  nofollow: boolean;
}

export const nothing = (): Extracted => ({
  blocks: [],
  links: [],
  base: null,
  canonical: null,
  noindex: false,
  nofollow: false,
});

/** Raised when the same bytes become other content: what servers call unchanged is fetched and made anew. */
export const EXTRACTOR = 1;
/** What one page may say; the rest is left out. */
export const TEXT_MOST = 1_500_000;
const BLOCKS_MOST = 20_000;

/** White space in one, and nothing that PostgreSQL cannot hold. */
export const squeezed = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what must go
  text.replace(/[\s\u0000\u00a0\u200b\ufeff]+/g, " ").trim();

/** The blocks as they are stored: the words of the path among them, and no more than there is room for. */
export function storable(blocks: Block[], path: string): Block[] {
  const kept: Block[] = [];
  let length = 0;
  for (const block of blocks) {
    const text = block.tag === "page" ? block.text : squeezed(block.text);
    if ((text === "" && block.tag !== "page") || kept.length >= BLOCKS_MOST || length + text.length > TEXT_MOST)
      continue;
    length += text.length;
    kept.push({ tag: block.tag, text });
  }
  const words = wordsOfPath(path);
  if (words !== "") kept.push({ tag: "path", text: words });
  return kept;
}

function wordsOfPath(path: string): string {
  let plain = path.split("?")[0]!;
  try {
    plain = decodeURIComponent(plain);
  } catch {
    // Octets that are no text stay as they are.
  }
  return squeezed(plain.replace(/\.[a-z]{2,5}$/i, "").replace(/[^\p{L}\p{N}]+/gu, " "));
}

/** Of the text, not of the bytes: a new advertisement or date of printing in the markup is no change. */
export function hashOf(blocks: Block[]): Buffer {
  const hash = createHash("sha256");
  for (const { tag, text } of blocks) if (tag !== "path") hash.update(`${tags[tag]}\u0000${text}\u0000`);
  return hash.digest().subarray(0, 16);
}
