/** How two legs become one order. */
import { describe, expect, it } from "vitest";
import { readRanking, writeRanking } from "./paging.ts";
import { type ByMeaning, type ByWords, fuse, partsOf, sumOf } from "./ranking.ts";

const words = (number: number, score: number, exact = 0): ByWords => ({ resource_id: 1n, number, score, exact });
const meaning = (number: number, similarity: number): ByMeaning => ({ resource_id: 1n, number, similarity });
const order = (a: ByWords[], b: ByMeaning[], text = "it crashes when I save", least = 0.2) =>
  fuse(a, b, text, least)
    .sort((x, y) => y.relevance - x.relevance)
    .map(({ number }) => number);

describe("a fused ranking", () => {
  it("puts first what both legs find", () => {
    expect(order([words(1, 9), words(2, 8)], [meaning(3, 0.8), meaning(2, 0.75)])).toEqual([2, 3, 1]);
  });

  it("puts before all what is there letter by letter (B21)", () => {
    expect(order([words(1, 9), words(2, 1, 2)], [meaning(1, 0.9)], "ERR_HTTP2_STREAM")).toEqual([2, 1]);
  });

  it("shows nothing that is only near to nothing (B21)", () => {
    expect(order([], [meaning(1, 0.19), meaning(2, 0.1)], "qwxz blorf")).toEqual([]);
    expect(order([], [meaning(1, 0.4), meaning(2, 0.1)])).toEqual([1]);
  });

  it("goes by words alone where nothing can be compared by meaning", () => {
    expect(order([words(1, 2), words(2, 5)], [])).toEqual([2, 1]);
  });

  it("is led by words where a query is one word", () => {
    expect(order([words(1, 5)], [meaning(2, 0.9), meaning(1, 0.3)], "crash")).toEqual([1, 2]);
  });

  it("is led less by meaning where a query is a name than where it is a sentence", () => {
    const by_words = [words(1, 9), words(2, 1)];
    const by_meaning = [meaning(2, 0.9), meaning(1, 0.25)];
    expect(order(by_words, by_meaning, "the window goes black when I wake it up")).toEqual([2, 1]);
    expect(order(by_words, by_meaning, "src/vs/editor.ts:12 TypeError_x")).toEqual([1, 2]);
  });
});

it("of equals, the much discussed, the recent and the open come first, and none of these outweighs relevance", () => {
  const now_ms = Date.UTC(2030, 0);
  const quiet = { comments: 0, state: "closed", updated_at: "2020-01-01T00:00:00Z" };
  const score = (relevance: number, other = {}) => sumOf(partsOf(relevance, { ...quiet, ...other }, now_ms));
  expect(score(0.5, { comments: 40 })).toBeGreaterThan(score(0.5));
  expect(score(0.5, { updated_at: "2029-12-31T00:00:00Z" })).toBeGreaterThan(score(0.5));
  expect(score(0.5, { state: "open" })).toBeGreaterThan(score(0.5));
  expect(score(0.6)).toBeGreaterThan(
    score(0.5, { comments: 1_000, state: "open", updated_at: "2030-01-01T00:00:00Z" }),
  );
});

it("what is left of a ranking goes into the address of the next page and comes back out of it", () => {
  const rest = [
    { resource_id: 123_456_789_012n, number: 7, relevance: 0.8123, words: 12.34, meaning: -0.5, exact: 2 },
    { resource_id: 1n, number: 200_000, relevance: 0, words: null, meaning: null, exact: 0 },
  ];
  expect(readRanking(writeRanking(rest))).toEqual(rest);
  expect(writeRanking(Array(180).fill(rest[0])).length).toBeLessThan(4_500);
  for (const after of ["", "r.", "r.!", "x.AAAA", "r.AAAA", `r.${"A".repeat(9_000)}`, "r._____________w"])
    expect(() => readRanking(after), after).toThrow("after is what the page before gave as next.");
});
