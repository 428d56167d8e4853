/** How well issues are found: retrieval sets with judgements, searched by words, by meaning with the local model, and by both; `node --import tsx bench/github-issues-relevance.ts SETS DATA [NAME…]`. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import sql from "sql-template-tag";
import { type Db, localModel, openStore } from "../src/index.ts";
import { visible } from "../src/sources/github-issues/filter-rows.ts";
import { readTerms, weigh } from "../src/sources/github-issues/keyword-rows.ts";
import { type ByMeaning, type ByWords, fuse } from "../src/sources/github-issues/ranking.ts";
import { migrations } from "../src/sources/github-issues/tables.ts";
import { passagesOf } from "../src/sources/github-issues/text.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { bm25 } from "./bm25.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

const FOUND_MOST = 200;
const LIMITS = { tokens_most: 180, parts_most: 1 };
const SIMILAR_LEAST = 0.25;
const AT_ONCE = 32;

interface Document {
  id: string;
  title: string;
  text: string;
}

interface RetrievalSet {
  corpus: Document[];
  queries: { id: string; text: string }[];
  judged: Map<string, Map<string, number>>;
}

const lines = (file: string): string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);

function readSet(folder: string): RetrievalSet {
  const named = (...names: string[]) => names.map((name) => path.join(folder, name)).find(existsSync)!;
  const corpus = lines(named("corpus.jsonl")).map((line) => {
    const { _id, title, text } = JSON.parse(line) as { _id: string; title: string; text: string };
    return { id: _id, title, text };
  });
  const queries = lines(named("queries.jsonl", "queries.dev.jsonl")).map((line) => {
    const { _id, text } = JSON.parse(line) as { _id: string; text: string };
    return { id: _id, text };
  });
  const judged = new Map<string, Map<string, number>>();
  for (const line of lines(named("qrels.tsv", "qrels.dev.tsv")).slice(1)) {
    const [query = "", document = "", score = "0"] = line.split("\t");
    if (!judged.has(query)) judged.set(query, new Map());
    judged.get(query)!.set(document, Number(score));
  }
  return { corpus, queries: queries.filter(({ id }) => judged.has(id)), judged };
}

/** Vectors of texts, from the file where they were made before; it goes on where it was cut off. */
async function vectorsOf(data: string, file: string, texts: string[]): Promise<Float32Array[]> {
  const model = localModel(data);
  if (!model) throw new Error("There is no local model: TIDEMARK_DATA=… tidemark model fetch");
  const size = 384;
  mkdirSync(path.dirname(file), { recursive: true });
  const done = existsSync(file) ? readFileSync(file).length / (4 * size) : 0;
  for (let i = done; i < texts.length; i += AT_ONCE) {
    for (const vector of await model.embed(texts.slice(i, i + AT_ONCE)))
      appendFileSync(file, Buffer.from(vector.buffer, vector.byteOffset, 4 * size));
    if (i % 512 < AT_ONCE) process.stdout.write(`${path.basename(file)}: ${i} of ${texts.length}\n`);
  }
  await model.close();
  const bytes = readFileSync(file);
  const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return texts.map((_, i) => all.subarray(i * size, (i + 1) * size));
}

async function fill(db: Db, corpus: Document[]): Promise<void> {
  await db.query(sql`truncate github_issues.repository, github_issues.issue`);
  await db.query(sql`
    insert into github_issues.repository (resource_id, host, node_id, name, is_private, is_archived, is_disabled, has_issues, is_hidden, issues, newest, initialised_at)
    values (1, 'github.com', 'R_1', 'bench/set', false, false, false, true, false, 0, '', tidemark.now())`);
  for (let i = 0; i < corpus.length; i += 500) {
    const part = corpus.slice(i, i + 500);
    await db.query(sql`
      insert into github_issues.issue (resource_id, number, node_id, title, body, state, created_at, updated_at, label_ids, comments)
      select 1, n, n::text, title, body, 'open', tidemark.now(), tidemark.now(), '{}', 0
        from unnest(${part.map((_, k) => i + k + 1)}::int[], ${part.map((d) => d.title)}::text[], ${part.map((d) => d.text)}::text[]) as d(n, title, body)`);
  }
  await db.query(sql`analyze github_issues.issue`);
}

/** Normalised discounted cumulative gain of the first ten, and the part of what is relevant among the first hundred. */
function judge(found: string[], judged: Map<string, number>): { ndcg: number; recall: number } {
  const gain = (scores: number[]) => scores.slice(0, 10).reduce((sum, s, i) => sum + s / Math.log2(i + 2), 0);
  const ideal = gain([...judged.values()].sort((a, b) => b - a));
  const relevant = [...judged].filter(([, score]) => score > 0).map(([id]) => id);
  const first = new Set(found.slice(0, 100));
  return {
    ndcg: ideal > 0 ? gain(found.map((id) => judged.get(id) ?? 0)) / ideal : 0,
    recall: relevant.length > 0 ? relevant.filter((id) => first.has(id)).length / relevant.length : 0,
  };
}

const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!;
  return sum;
};

async function measure(db: Db, set: RetrievalSet, documents: Float32Array[], asked: Float32Array[]) {
  const sums = new Map<string, { ndcg: number; recall: number; n: number }>();
  const rank = bm25(set.corpus.map(({ title, text }) => `${title} ${text}`));
  const note = (leg: string, found: number[], judged: Map<string, number>, own: string) => {
    const ids = found.map((n) => set.corpus[n - 1]!.id).filter((id) => id !== own);
    const { ndcg, recall } = judge(ids, judged);
    const sum = sums.get(leg) ?? { ndcg: 0, recall: 0, n: 0 };
    sums.set(leg, { ndcg: sum.ndcg + ndcg, recall: sum.recall + recall, n: sum.n + 1 });
  };
  for (const [q, { id, text }] of set.queries.entries()) {
    const judged = set.judged.get(id)!;
    const byWords: ByWords[] = await weigh(db, text, await readTerms(db, text), visible(false), FOUND_MOST);
    const byMeaning: ByMeaning[] = documents
      .map((vector, i) => ({ resource_id: 1n, number: i + 1, similarity: dot(vector, asked[q]!) }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, FOUND_MOST);
    const both = fuse(byWords, byMeaning, text, SIMILAR_LEAST).sort((a, b) => b.relevance - a.relevance);
    const numbers = (list: { number: number }[]) => list.map(({ number }) => number);
    note("BM25", rank(text, FOUND_MOST), judged, id);
    note("by words", numbers(byWords.toSorted((a, b) => b.score - a.score)), judged, id);
    note("by meaning", numbers(byMeaning), judged, id);
    note("hybrid", numbers(both), judged, id);
  }
  return [...sums].map(([leg, { ndcg, recall, n }]) => ({ leg, ndcg: ndcg / n, recall: recall / n }));
}

const [sets = "", data = "", ...names] = process.argv.slice(2);
const server = await Server.start();
try {
  const db = await openStore({ database_url: await server.create("relevance"), data: "", max: 4 });
  await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "github-issues", ...migrations }]);
  for (const name of names) {
    const set = readSet(path.join(sets, name));
    const texts = set.corpus.map(
      ({ title, text }) => passagesOf({ title, body: text, comments: [] }, LIMITS)[0]?.text ?? ".",
    );
    const kept = (what: string) => path.join(data, "relevance", `${name}-${what}.f32`);
    const asked = await vectorsOf(
      data,
      kept("queries"),
      set.queries.map(({ text }) => text),
    );
    const documents = await vectorsOf(data, kept("corpus"), texts);
    await fill(db, set.corpus);
    const rows = (await measure(db, set, documents, asked)).map(({ leg, ndcg, recall }) => [
      leg,
      ndcg.toFixed(3),
      recall.toFixed(3),
    ]);
    const title = `${name}: ${set.corpus.length} texts, ${set.queries.length} queries`;
    process.stdout.write(table(title, ["", "nDCG@10", "recall@100"], rows));
  }
  await db.close();
} finally {
  await server.remove();
}
