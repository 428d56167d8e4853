/** How the legs of a search become one order, purely: what both find comes first, what is there letter by letter before all. */

export interface Candidate {
  resource_id: bigint;
  number: number;
}

export interface ByWords extends Candidate {
  score: number;
  exact: number;
}

export interface ByMeaning extends Candidate {
  /** A cosine, from -1 to 1. */
  similarity: number;
}

export interface Fused extends Candidate {
  /** From 0 to 1; beyond 1 where the text is there letter by letter. */
  relevance: number;
  words: number | null;
  meaning: number | null;
  exact: number;
}

const keyOf = ({ resource_id, number }: Candidate): string => `${resource_id} ${number}`;

/** How much meaning counts: a question in whole sentences has more of it than a name, an error, or a word by itself. */
export function weightOfMeaning(text: string): number {
  const words = text.split(/\s+/).filter(Boolean);
  const codes = words.filter((word) => /[_./\\:(){}<>=#]|[a-z][A-Z]|\d/.test(word)).length;
  const share = words.length === 0 ? 0 : codes / words.length;
  const few = words.length < 2 ? 0.5 : words.length < 3 ? 0.75 : 1;
  return few * (0.62 - 0.3 * share);
}

/**
 * Both legs are measured on their own scale: words against the best by words, meaning between the best and what is like nothing at all. A sum of both is kept
 * apart by how far each leg tells its candidates apart, where ranks alone would let a weak leg spoil a strong one.
 */
export function fuse(byWords: ByWords[], byMeaning: ByMeaning[], text: string, least: number): Fused[] {
  const best_words = Math.max(...byWords.map(({ score }) => score), 0);
  const best_meaning = Math.max(...byMeaning.map(({ similarity }) => similarity), least);
  const both = byMeaning.length > 0 && byWords.length > 0;
  const alpha = byMeaning.length === 0 ? 0 : byWords.length === 0 ? 1 : weightOfMeaning(text);
  const all = new Map<string, Fused>();
  for (const { resource_id, number, score, exact } of byWords)
    all.set(keyOf({ resource_id, number }), {
      resource_id,
      number,
      relevance: (1 - alpha) * (best_words > 0 ? score / best_words : 0),
      words: score,
      meaning: null,
      exact,
    });
  for (const { resource_id, number, similarity } of byMeaning) {
    const known = all.get(keyOf({ resource_id, number }));
    // What only the model finds has to be like it.
    if (!known && similarity < least) continue;
    const part = alpha * Math.max(0, (similarity - least) / (best_meaning - least || 1));
    if (known) Object.assign(known, { relevance: known.relevance + part, meaning: similarity });
    else
      all.set(keyOf({ resource_id, number }), {
        resource_id,
        number,
        relevance: both ? part : Math.min(1, part),
        words: null,
        meaning: similarity,
        exact: 0,
      });
  }
  return [...all.values()].map((one) => ({
    ...one,
    relevance: one.relevance + (one.exact > 0 ? 1 + one.exact / 20 : 0),
  }));
}

export interface Aged {
  comments: number;
  state: string;
  updated_at: string;
}

const DAY_MS = 86_400_000;

export interface ScoreParts {
  relevance: number;
  comments: number;
  recency: number;
  state: number;
}

/** Much discussed, recent and open issues come a little sooner, where they are about as relevant. */
export function partsOf(relevance: number, { comments, state, updated_at }: Aged, now_ms: number): ScoreParts {
  const days = Math.max(0, now_ms - Date.parse(updated_at)) / DAY_MS;
  return {
    relevance: 0.92 * relevance,
    comments: 0.04 * Math.min(1, Math.log(comments + 1) / Math.log(81)),
    recency: 0.025 * Math.exp(-days / 30),
    state: 0.015 * (state === "open" ? 1 : 0.8),
  };
}

export const sumOf = ({ relevance, comments, recency, state }: ScoreParts): number =>
  relevance + comments + recency + state;
