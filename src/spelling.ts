/** Finds the word that somebody probably meant. */

/** The word of `words` that differs from `text` in the fewest letters, if in no more than `most`. */
export function nearest(text: string, words: readonly string[], most: number): string | null {
  let best: string | null = null;
  let best_distance = most + 1;
  for (const word of words) {
    const letters = distance(text, word);
    if (letters < best_distance) [best, best_distance] = [word, letters];
  }
  return best;
}

/** How many letters have to be changed, added or taken away to make one word of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
