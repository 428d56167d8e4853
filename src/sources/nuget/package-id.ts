/** Package ids are the same whatever their case, by .NET's invariant rules, which are not JavaScript's. */

export const ID_MOST = 128;

/**
 * Each character by itself, and only where the lower-case one is a single character too: no final sigma, no "i" with a dot that
 * comes apart. The dotted İ and the dotless ı are left alone by the invariant culture.
 */
export function lowerId(id: string): string {
  // Nearly all ids are plain, and those need no second look.
  if (/^[\x20-\x7e]*$/.test(id)) return id.toLowerCase();
  let lower = "";
  for (const character of id) {
    const small = character === "\u0130" ? character : character.toLowerCase();
    lower += [...small].length === 1 ? small : character;
  }
  return lower;
}

/** The words that people may look for in an id: its dotted parts, the words that its capitals make, and those joined. */
export function wordsOf(id: string): string[] {
  const parts = id.split(/[.\-_\s]+/).filter(Boolean);
  const words = new Set<string>([lowerId(id)]);
  for (const part of parts) {
    words.add(lowerId(part));
    const pieces = part.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu) ?? [];
    for (const piece of pieces) words.add(lowerId(piece));
  }
  return [...words];
}
