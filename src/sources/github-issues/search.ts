/** A search from its words to its results: both legs, one order, and a way to say which of them could be asked. */
import type { Sql } from "sql-template-tag";
import { type Context, hasCode, type Queryable } from "tidemark";
import { conditions, visible } from "./filter-rows.ts";
import { type Generation, readGenerations } from "./generation-rows.ts";
import { readTerms, weigh } from "./keyword-rows.ts";
import { Matrix } from "./matrix.ts";
import type { Near } from "./matrix-store.ts";
import { RANKED_MOST, readPlace, readRanking, writePlace, writeRanking } from "./paging.ts";
import type { SourceParts } from "./parts.ts";
import { InputsRefused } from "./provider.ts";
import { type Candidate, type Fused, fuse, partsOf, type ScoreParts, sumOf } from "./ranking.ts";
import { listNewest, readAged, readShown, type ShownRow } from "./result-rows.ts";
import { isNarrow, type SearchRequest } from "./search-request.ts";
import { compareAll, hasPgvector, isLarger, keepFitting, readAllowed, readNow } from "./vector-rows.ts";

/** Where conditions leave over at most so many issues, only those are compared; else the nearest of all are, and then those that fit are kept. */
const ALLOWED_MOST = 30_000;
const OVERSAMPLED = 5_000;
/** Beyond so many vectors the database would take longer than the thread: 50,000 took the embedded one 140 ms. */
const COMPARED_MOST = 30_000;
/** Vectors of queries that are remembered, because people page, and type the same. */
const QUERIES_MOST = 500;

export interface Semantic {
  /** Whether meaning was compared, and if not, why and what to do. */
  search_type: "hybrid" | "keyword";
  why: string | null;
}

export interface Found {
  results: Result[];
  next: string | null;
  semantic: Semantic;
}

export type Result = Omit<ShownRow, "resource_id"> & {
  url: string;
  score: number | null;
  score_parts: (ScoreParts & { words: number | null; meaning: number | null; exact: boolean }) | null;
};

export const HOW_TO_SWITCH_ON =
  "Nothing here makes vectors of texts: set EMBEDDINGS_URL, or fetch the local model with `tidemark model fetch` and start again.";

export class Searcher {
  readonly #context: Context;
  readonly #parts: SourceParts;
  readonly #matrix: Matrix;
  readonly #queries = new Map<string, Float32Array>();
  #pgvector: Promise<boolean> | null = null;

  constructor(context: Context, parts: SourceParts) {
    this.#context = context;
    this.#parts = parts;
    this.#matrix = new Matrix(context.read);
  }

  get #read(): Queryable {
    return this.#context.read;
  }

  get visible(): Sql {
    return visible(this.#parts.settings().private);
  }

  /** How vectors are compared in this database. */
  async comparedBy(): Promise<"pgvector" | "exact scan"> {
    this.#pgvector ??= hasPgvector(this.#read);
    return (await this.#pgvector) ? "pgvector" : "exact scan";
  }

  async search(request: SearchRequest, after: string, limit: number): Promise<Found> {
    const where = conditions(request, this.#parts.settings().private);
    if (request.text === "" && request.phrases.length === 0) return this.#list(where, after, limit);
    if (request.number !== null) return this.#list(where, after, limit);
    const text = request.text || request.phrases.join(" ");
    if (after !== "") return this.#show(readRanking(after), limit, text, { search_type: "hybrid", why: null });
    const [byWords, byMeaning] = await Promise.all([
      this.#byWords(text, where),
      this.#byMeaning(text, where, isNarrow(request)),
    ]);
    const least = this.#parts.provider()?.similar_least ?? 0;
    return this.#show(await this.#ranked(fuse(byWords, byMeaning.near, text, least), where), limit, text, byMeaning);
  }

  /** Issues like this one: by its title, and by what it means. */
  async similar(issue: Candidate & { title: string }, vector: Float32Array | null, limit: number): Promise<Found> {
    const where = this.visible;
    const byWords = await this.#byWords(issue.title, where);
    const generation = vector && (await this.generation());
    const near = vector && generation ? await this.#nearest(generation, vector, where, false) : [];
    const others = (one: Candidate) => one.resource_id !== issue.resource_id || one.number !== issue.number;
    const least = this.#parts.provider()?.similar_least ?? 0;
    const fused = fuse(byWords.filter(others), near.filter(others), issue.title, least);
    const semantic: Semantic = vector
      ? { search_type: "hybrid", why: null }
      : { search_type: "keyword", why: "This issue has no vector yet." };
    return this.#show(await this.#ranked(fused, where), limit, issue.title, semantic);
  }

  async #byWords(text: string, where: Sql) {
    return weigh(this.#read, text, await readTerms(this.#read, text), where, RANKED_MOST);
  }

  /** The generation that searches use: one whose model can be asked. */
  async generation(): Promise<Generation | null> {
    const provider = this.#parts.provider();
    const all = await readGenerations(this.#read);
    return all.find(({ model, dimensions }) => dimensions !== null && (provider?.serves(model) ?? false)) ?? null;
  }

  async #byMeaning(text: string, where: Sql, narrow: boolean): Promise<Semantic & { near: Near[] }> {
    const off = (why: string) => ({ search_type: "keyword" as const, why, near: [] });
    if (this.#parts.provider() === null) return off(HOW_TO_SWITCH_ON);
    const generation = await this.generation();
    if (!generation) return off("Nothing has a vector yet.");
    try {
      const vector = await this.#vectorOf(text, generation);
      return { search_type: "hybrid", why: null, near: await this.#nearest(generation, vector, where, narrow) };
    } catch (thrown) {
      // Words find what they find, whatever becomes of the server of embeddings.
      if (thrown instanceof InputsRefused) return off(thrown.message);
      for (const code of ["UpstreamBusy", "UpstreamDown", "UpstreamForbids", "UpstreamChanged"] as const)
        if (hasCode(thrown, code)) return off(thrown.message);
      throw thrown;
    }
  }

  async #vectorOf(text: string, { model }: Generation): Promise<Float32Array> {
    const key = `${model}\u0000${text}`;
    const known = this.#queries.get(key);
    if (known) return known;
    const provider = this.#parts.provider()!;
    const upstream = this.#context.upstream("embeddings", "search");
    const [vector] = await provider.embed([text], "search", (url, request) => upstream.fetch(url, request), model);
    if (this.#queries.size >= QUERIES_MOST) this.#queries.delete(this.#queries.keys().next().value!);
    this.#queries.set(key, vector!);
    return vector!;
  }

  async #nearest(generation: Generation, vector: Float32Array, where: Sql, narrow: boolean): Promise<Near[]> {
    if ((await this.comparedBy()) === "pgvector" && !(await isLarger(this.#read, generation.generation, COMPARED_MOST)))
      return compareAll(this.#read, generation, vector, where, RANKED_MOST);
    const allowed = narrow ? await readAllowed(this.#read, where, ALLOWED_MOST) : null;
    const near = await this.#matrix.nearest(generation, vector, allowed ? 2 * RANKED_MOST : OVERSAMPLED, allowed);
    return keepFitting(this.#read, near, where, RANKED_MOST);
  }

  /** The best of them, with what weighs in besides relevance. */
  async #ranked(fused: Fused[], where: Sql): Promise<Fused[]> {
    const now_ms = await readNow(this.#read);
    const best = fused.sort((a, b) => b.relevance - a.relevance).slice(0, 2 * RANKED_MOST);
    const aged = new Map(
      (await readAged(this.#read, best, where)).map((row) => [`${row.resource_id} ${row.number}`, row]),
    );
    return best
      .flatMap((one) => {
        const row = aged.get(`${one.resource_id} ${one.number}`);
        return row ? [{ one, score: sumOf(partsOf(one.relevance, row, now_ms)) }] : [];
      })
      .sort(
        (a, b) => b.score - a.score || (a.one.resource_id < b.one.resource_id ? -1 : 1) || a.one.number - b.one.number,
      )
      .slice(0, RANKED_MOST)
      .map(({ one }) => one);
  }

  async #show(ranking: Fused[], limit: number, text: string, { search_type, why }: Semantic): Promise<Found> {
    const now_ms = await readNow(this.#read);
    const rows = await readShown(this.#read, ranking.slice(0, limit), this.visible, text);
    const byName = new Map(ranking.map((one) => [`${one.resource_id} ${one.number}`, one]));
    const results = rows.map((row) => {
      const { relevance, words, meaning, exact } = byName.get(`${row.resource_id} ${row.number}`)!;
      const parts = partsOf(relevance, row, now_ms);
      return { ...resultOf(row), score: sumOf(parts), score_parts: { ...parts, words, meaning, exact: exact > 0 } };
    });
    const rest = ranking.slice(limit);
    return { results, next: rest.length > 0 ? writeRanking(rest) : null, semantic: { search_type, why } };
  }

  async #list(where: Sql, after: string, limit: number): Promise<Found> {
    const rows = await listNewest(this.#read, where, readPlace(after), limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      results: shown.map((row) => ({ ...resultOf(row), score: null, score_parts: null })),
      next: rows.length > limit && last ? writePlace({ ...last }) : null,
      semantic: { search_type: "keyword", why: null },
    };
  }
}

function resultOf({ resource_id: _, ...row }: ShownRow): Omit<Result, "score" | "score_parts"> {
  return { ...row, snippet: row.snippet.trim(), url: `https://${row.host}/${row.repository}/issues/${row.number}` };
}
