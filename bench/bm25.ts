/** BM25 as the books have it, over texts in memory: what the search by words is measured against. */

const K1 = 1.2;
const B = 0.75;
const STOP = new Set(
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split(
    " ",
  ),
);

/** Words without the commonest of their endings. */
function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !STOP.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(ies|es|s|ing|ed)$/, "") : word));
}

/** For a query and a number, that many texts by their places from 1, the best first. */
export function bm25(texts: string[]): (query: string, most: number) => number[] {
  const postings = new Map<string, Map<number, number>>();
  const lengths = texts.map((text, i) => {
    const all = words(text);
    for (const word of all) {
      if (!postings.has(word)) postings.set(word, new Map());
      const list = postings.get(word)!;
      list.set(i, (list.get(i) ?? 0) + 1);
    }
    return all.length;
  });
  const average = lengths.reduce((a, b) => a + b, 0) / lengths.length;
  return (query, most) => {
    const scores = new Map<number, number>();
    for (const word of words(query)) {
      const list = postings.get(word);
      if (!list) continue;
      const idf = Math.log(1 + (texts.length - list.size + 0.5) / (list.size + 0.5));
      for (const [i, n] of list) {
        const norm = K1 * (1 - B + (B * lengths[i]!) / average);
        scores.set(i, (scores.get(i) ?? 0) + (idf * n * (K1 + 1)) / (n + norm));
      }
    }
    return [...scores]
      .sort((a, b) => b[1] - a[1])
      .slice(0, most)
      .map(([i]) => i + 1);
  };
}
