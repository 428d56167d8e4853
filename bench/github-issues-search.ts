/** How fast issues are found among many, and whether a narrow condition costs results. */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { hashed } from "../src/demo/embeddings/hashing.ts";
import type { Context, Db } from "../src/index.ts";
import type { Provider } from "../src/sources/github-issues/provider.ts";
import { githubIssues } from "../src/sources/github-issues/source.ts";
import { MODEL, putGeneration, putIssues, putRepository, type Shelved } from "../test/sources/github-issues/shelf.ts";
import { OPEN_QUESTIONS } from "./github-issues-questions.ts";
import { percentile } from "./measure.ts";

const DIMENSIONS = 384;
const RECALL_QUERIES = 10;

export interface Searched {
  issues: number;
  compared_by: string;
  p50_ms: number | null;
  p95_ms: number | null;
  filtered_p95_ms: number | null;
  recall: number;
}

const provider: Provider = {
  ...{ model: MODEL, where: "here", similar_least: 0.2, serves: () => true },
  limits: { model: MODEL, tokens_most: 2_000, parts_most: 3 },
  request: { inputs_most: 100, tokens_most: 100_000 },
  embed: async (texts) => texts.map((text) => Float32Array.from(hashed(text, MODEL, DIMENSIONS))),
};

const made = (n: number): Shelved => {
  const title = `${OPEN_QUESTIONS[(n * 7) % OPEN_QUESTIONS.length]!} (build ${(n * 31) % 5_003})`;
  return {
    number: n,
    title,
    body: `Machine ${(n * 17) % 9_973}, ${title.toLowerCase()}.`,
    labels: n % 100 === 42 ? ["rare"] : [],
  };
};

interface Answer {
  results: { number: number; score_parts: { meaning: number | null } }[];
}

export async function measureSearch(db: Db, issues: number, queries: number): Promise<Searched> {
  await putRepository(db);
  await putGeneration(db, DIMENSIONS);
  for (let n = 1; n <= issues; n += 5_000)
    await putIssues(
      db,
      Array.from({ length: Math.min(5_000, issues - n + 1) }, (_, i) => made(n + i)),
      1,
      DIMENSIONS,
    );
  await db.query(sql`analyze`);
  const app = new Hono();
  const context = { read: db, viewed: () => undefined, upstream: () => ({}) } as unknown as Context;
  githubIssues({ provider }).routes!(app, context);
  const ask = async (q: string, limit = "20") => {
    const begun = performance.now();
    const response = await app.request(`http://bench.example/issues/search?${new URLSearchParams({ q, limit })}`);
    const answer = (await response.json()) as Answer;
    return { ms: performance.now() - begun, answer };
  };
  // The first one reads the vectors.
  await ask("anything");
  const plain: number[] = [];
  const filtered: number[] = [];
  for (let n = 0; n < queries; n += 1) {
    const question = `${OPEN_QUESTIONS[(n * 37) % OPEN_QUESTIONS.length]!.toLowerCase()} machine ${n * 91}`;
    plain.push((await ask(question)).ms);
    filtered.push((await ask(`${question} label:rare`)).ms);
  }
  const status = await app.request("http://bench.example/issues/status");
  return {
    issues,
    compared_by: ((await status.json()) as { compared_by: string }).compared_by,
    p50_ms: percentile(plain, 0.5),
    p95_ms: percentile(plain, 0.95),
    filtered_p95_ms: percentile(filtered, 0.95),
    recall: await recallOf(issues, async (q) => (await ask(`${q} label:rare`, "100")).answer),
  };
}

/** Of the ten that an exact comparison finds among those that fit, the part that a search ranks as its nearest ten. */
async function recallOf(issues: number, ask: (q: string) => Promise<Answer>): Promise<number> {
  const rare = Array.from({ length: issues }, (_, i) => made(i + 1)).filter(({ labels }) => labels?.length);
  const vectors = rare.map(({ number, title, body }) => ({
    number,
    vector: hashed(`${title}\n${body}`, MODEL, DIMENSIONS),
  }));
  let found = 0;
  let wanted = 0;
  for (let n = 0; n < RECALL_QUERIES; n += 1) {
    const q = OPEN_QUESTIONS[(n * 53) % OPEN_QUESTIONS.length]!.toLowerCase();
    const asked = hashed(q, MODEL, DIMENSIONS);
    const near = vectors
      .map(({ number, vector }) => ({ number, similarity: vector.reduce((sum, x, i) => sum + x * asked[i]!, 0) }))
      .sort((a, b) => b.similarity - a.similarity)
      // What is like nothing at all is not shown.
      .filter(({ similarity }) => similarity >= provider.similar_least);
    if (near.length === 0) continue;
    const bar = near[Math.min(9, near.length - 1)]!.similarity - 1e-3;
    const { results } = await ask(q);
    const mine = results
      .filter(({ score_parts }) => score_parts.meaning !== null)
      .sort((a, b) => b.score_parts.meaning! - a.score_parts.meaning!)
      .slice(0, 10);
    // Ties count: of equally near ones any will do.
    const good = new Set(near.filter(({ similarity }) => similarity >= bar).map(({ number }) => number));
    found += mine.filter(({ number }) => good.has(number)).length;
    wanted += Math.min(10, near.length);
  }
  return found / wanted;
}
