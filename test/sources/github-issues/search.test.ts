/** What searches find, with pgvector and without: exact under any condition, the very text first, and stable pages (B20 to B23). */
import { Hono } from "hono";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { hashed } from "../../../src/demo/embeddings/hashing.ts";
import { Events } from "../../../src/events.ts";
import type { Context } from "../../../src/index.ts";
import { answerError } from "../../../src/server/answers.ts";
import type { Provider } from "../../../src/sources/github-issues/provider.ts";
import { githubIssues } from "../../../src/sources/github-issues/source.ts";
import type { Db } from "../../../src/store/db.ts";
import { stores } from "../../postgres.ts";
import type { Answer } from "./rig.ts";
import { all_migrations } from "./rig.ts";
import { MODEL, putGeneration, putIssues, putRepository, type Shelved } from "./shelf.ts";

const DIMENSIONS = 64;
const COUNT = 3_000;
const THINGS = ["editor", "terminal", "search", "tree", "settings", "debugger", "extension", "git", "theme", "network"];
const WRONGS = ["crashes", "freezes", "lags", "forgets", "leaks", "flickers", "duplicates", "ignores"];

const provider: Provider = {
  ...{ model: MODEL, where: "here", similar_least: 0.2, serves: () => true },
  limits: { model: MODEL, tokens_most: 2_000, parts_most: 3 },
  request: { inputs_most: 100, tokens_most: 100_000 },
  embed: async (texts) => texts.map((text) => Float32Array.from(hashed(text, MODEL, DIMENSIONS))),
};

const issues: Shelved[] = Array.from({ length: COUNT }, (_, i) => ({
  number: i + 1,
  title: `The ${THINGS[i % 10]} ${WRONGS[(i * 7) % 8]} in case ${(i * 13) % 97}`,
  body: `Seen with build ${(i * 31) % 501} on machine ${(i * 17) % 211}.`,
  labels: i % 100 === 42 ? ["rare"] : ["common"],
  state: i % 4 === 0 ? "closed" : "open",
}));

describe.each(stores)("a search, on $store", ({ store, open }) => {
  let db: Db;
  let app: Hono;
  const compared_by = store === "PostgreSQL" ? "exact scan" : "pgvector";

  beforeAll(async () => {
    ({ db } = await open({ migrations: all_migrations() }));
    await putRepository(db);
    await putGeneration(db, DIMENSIONS);
    await putIssues(db, issues, 1, DIMENSIONS);
    const odd: Shelved[] = [
      { number: 5_001, title: "Extension host", body: "Uncaught TypeError: x is not a function\n at activate" },
      { number: 5_002, title: "A type error in a function that is not there for x", body: "" },
      { number: 5_003, title: "Setup", body: "It ends with 0x80070005, see C:\\logs" },
      { number: 5_004, title: "ERR_HTTP2_STREAM when fetching" },
      { number: 5_005, title: "Streams of http2 give an err now and then" },
    ];
    await putIssues(db, odd, 1, DIMENSIONS);
    await db.query(sql`analyze github_issues.issue`);
    const source = githubIssues({ provider });
    app = new Hono();
    const context = { read: db, viewed: () => undefined, upstream: () => ({}) } as unknown as Context;
    source.routes!(app, context);
    app.onError(answerError(new Events()));
  });

  const search = async (q: string, more: Record<string, string> = {}): Promise<Answer> => {
    const response = await app.request(`http://mirror.example/issues/search?${new URLSearchParams({ q, ...more })}`);
    return (await response.json()) as Answer;
  };
  const numbers = async (q: string, more = {}) => (await search(q, more)).results.map(({ number }) => number);

  it("says how vectors are compared here", async () => {
    const response = await app.request("http://mirror.example/issues/status");
    expect(await response.json()).toMatchObject({ compared_by, semantic: "on" });
  });

  it("B20: a condition that one in a hundred fits costs no result: the nearest ten are those that an exact comparison finds", async () => {
    const queries = [
      "the tree flickers in case 5",
      "git leaks on machine 20",
      "theme duplicates build 77",
      "network lags",
    ];
    let found = 0;
    for (const q of queries) {
      const asked = hashed(q, MODEL, DIMENSIONS);
      const exact = issues
        .filter(({ labels }) => labels?.includes("rare"))
        .map(({ number, title, body }) => {
          const vector = hashed(`${title}\n${body}`, MODEL, DIMENSIONS);
          return { number, similarity: vector.reduce((sum, x, i) => sum + x * asked[i]!, 0) };
        })
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, 10);
      const { results } = await search(`${q} label:rare`, { limit: "100" });
      const near = results
        .filter(({ score_parts }) => score_parts.meaning !== null)
        .sort((a, b) => b.score_parts.meaning! - a.score_parts.meaning!)
        .slice(0, 10);
      expect(near).toHaveLength(10);
      found += near.filter(({ number }) => exact.some((one) => one.number === number)).length;
    }
    expect(found / (10 * queries.length)).toBeGreaterThanOrEqual(0.95);
  });

  it("B21: the very text of an error, an identifier or a code is found first", async () => {
    expect((await numbers("TypeError: x is not a function"))[0]).toBe(5_001);
    expect((await numbers("ERR_HTTP2_STREAM"))[0]).toBe(5_004);
    expect((await numbers("0x80070005"))[0]).toBe(5_003);
    expect(await numbers("#1234")).toEqual([1_234]);
    expect(await numbers("acme/x#77")).toEqual([77]);
  });

  it("B21: nonsense finds nothing, rather than ten issues that have nothing to do with it", async () => {
    const { results } = await search("qwxzjv blorfnak zzyzx");
    expect(results).toEqual([]);
  });

  it("B22: conditions mean what they say, alone and with words, and nothing of a query is taken for SQL", async () => {
    expect(await numbers("label:rare state:closed", { limit: "100" })).toEqual([]);
    expect((await numbers("label:rare state:open", { limit: "100" })).length).toBe(30);
    expect((await numbers("leaks -label:common", { limit: "100" })).every((n) => n % 100 === 43 || n > 5_000)).toBe(
      true,
    );
    expect(await numbers('title:"Setup" body:"see C:\\logs"')).toEqual([5_003]);
    expect(await numbers('title:"100%" OR 1=1; drop table github_issues.issue; --')).toEqual([]);
    expect(await numbers('"case 5" "build 93"')).toEqual(
      issues
        .filter(({ title, body }) => title.endsWith("case 5") && body?.includes("build 93 "))
        .map(({ number }) => number),
    );
    expect(await numbers("repo:acme/other crash")).toEqual([]);
    expect((await search('label:"')).error).toMatchObject({ code: "InputInvalid", sentence: /is not closed/ });
    expect((await search("crash", { after: "nonsense" })).error?.sentence).toBe(
      "after is what the page before gave as next.",
    );
    expect((await search("crash", { limit: "0" })).error?.sentence).toBe("limit is a whole number from 1 to 100.");
  });

  it("B23: pages go on as they were ranked, whatever is written between them", async () => {
    const whole = await numbers("the editor leaks", { limit: "60" });
    const first = await search("the editor leaks", { limit: "20" });
    const shown = first.results.map(({ number }) => number);
    // New ones that would be first, and one of the next page that would move.
    const fresh = Array.from({ length: 5 }, (_, i) => ({ number: 9_000 + i, title: "the editor leaks", body: "" }));
    await putIssues(db, fresh, 1, DIMENSIONS);
    await db.query(
      sql`update github_issues.issue set comments = 500, updated_at = tidemark.now() where number = ${whole[45]!}::int`,
    );
    for (let next = first.next; next !== null && shown.length < 60; ) {
      const page = await search("the editor leaks", { limit: "20", after: next });
      shown.push(...page.results.map(({ number }) => number));
      next = page.next;
    }
    expect(shown).toEqual(whole);
    await db.query(sql`delete from github_issues.issue where number >= 9000`);
  });

  it("B23: a list without words goes on behind its last, to the end, each once", async () => {
    const seen: number[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: Answer = await search("label:rare", { limit: "7", after: next });
      seen.push(...page.results.map(({ number }) => number));
      next = page.next;
    }
    expect([seen.length, new Set(seen).size]).toEqual([30, 30]);
  });

  it("issues like one are found by its title and its vector, without itself", async () => {
    const response = await app.request("http://mirror.example/issues/repos/acme/x/43/similar?limit=5");
    const { results, search_type } = (await response.json()) as Answer;
    expect([results.length, search_type]).toEqual([5, "hybrid"]);
    expect(results.map(({ number }) => number)).not.toContain(43);
    expect(results[0]?.title).toMatch(/search/);
  });
});
