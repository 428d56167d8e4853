/** Checks what is refused of a batch before anything of it is written: size, cursors, messages. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Batch, type Kind, kind } from "../contract.ts";
import { table } from "../mirror/table.ts";
import { BYTES_MAX, checkCursor, checkMove, checkPost, checkSize, isEmpty, ROWS_MAX, rowsOf } from "./batch.ts";
import { every } from "./schedule.ts";

const words = table("s.word", { columns: { word: "text", bytes: "bytea", facts: "jsonb" }, key: ["word"] });
const rows = (n: number) => Array.from({ length: n }, (_, i) => ({ word: `w${i}` }));
const counting: Kind = kind({
  upstream: { name: "u" },
  schedule: every("1h"),
  cursor: z.object({ at: z.number() }).default({ at: 0 }),
  position: (c) => BigInt(c.at),
});
const receiving: Kind = kind({
  upstream: { name: "u" },
  schedule: every("1h"),
  cursor: z.null().default(null),
  message: z.object({ id: z.string(), n: z.bigint().optional() }),
  coalesce: (m) => m.id,
  receive: async () => ({}),
});

describe("the size of a batch", () => {
  it("counts rows of all sorts", () => {
    const ref = { kind: "k", key: "a" };
    const batch: Batch = {
      put: [words.rows(rows(2)), words.rows(rows(3))],
      drop: [words.keys(rows(4))],
      post: [{ ...ref, message: 1 }],
      children: { found: [ref, ref] },
      touch: [ref],
      vouch: [ref, ref, ref],
    };
    expect(rowsOf(batch)).toBe(2 + 3 + 4 + 1 + 2 + 1 + 3);
  });

  it("is at most 5,000 rows", () => {
    expect(() => checkSize({ put: [words.rows(rows(ROWS_MAX))] }, "s k a")).not.toThrow();
    expect(() => checkSize({ put: [words.rows(rows(ROWS_MAX + 1))] }, "s k a")).toThrow(/5001 rows; at most 5000/);
  });

  it("is at most 8 MB, counted over text, bytes, JSON and messages", () => {
    const half = "x".repeat(BYTES_MAX / 2 + 1);
    expect(() => checkSize({ put: [words.rows([{ word: half }])] }, "s k a")).not.toThrow();
    expect(() => checkSize({ put: [words.rows([{ word: half }, { word: `${half}y` }])] }, "s k a")).toThrow(/8 MB/);
    expect(() => checkSize({ put: [words.rows([{ facts: { half, more: half } }])] }, "s k a")).toThrow(/8 MB/);
    expect(() => checkSize({ put: [words.rows([{ bytes: new Uint8Array(BYTES_MAX / 2 + 1) }])] }, "s k a")).toThrow(
      /8 MB/,
    );
    const post = { kind: "k", key: "a", message: half };
    expect(() => checkSize({ post: [post, post] }, "s k a")).toThrow(/8 MB/);
  });

  it("is nothing where the batch writes nothing beyond the resource itself", () => {
    expect(isEmpty({ cursor: 1, progress: { done: 1, total: 2 } })).toBe(true);
    expect(isEmpty({ put: [words.rows([])] })).toBe(true);
    expect(isEmpty({ put: [words.rows(rows(1))] })).toBe(false);
    expect(isEmpty({ children: { found: [] } })).toBe(true);
    expect(isEmpty({ children: { found: [], complete: true } })).toBe(false);
    expect(isEmpty({ write: async () => undefined })).toBe(false);
  });
});

describe("a cursor", () => {
  it("that is absent begins where its kind says history begins", () => {
    expect(checkCursor(counting, undefined, { name: "s k a" })).toEqual({ at: 0 });
  });

  it("that its kind does not declare is refused", () => {
    expect(() => checkCursor(counting, { at: "soon" }, { name: "s k a" })).toThrow(
      /cursor of s k a is not what its kind declares/,
    );
  });

  it("may stand or go forward but not back, where positions compare", () => {
    expect(() => checkMove(counting, { at: 5 }, { at: 5 }, "s k a")).not.toThrow();
    expect(() => checkMove(counting, { at: 5 }, { at: 6 }, "s k a")).not.toThrow();
    expect(() => checkMove(counting, { at: 5 }, { at: 4 }, "s k a")).toThrow(/went back from 5 to 4/);
    expect(() => checkMove(receiving, { at: 5 }, { at: 4 }, "s k a")).not.toThrow();
  });
});

describe("a message", () => {
  it("is stored as its kind declares it, with its coalescing key", () => {
    const stored = checkPost(receiving, { kind: "k", key: "a", message: { id: "m", n: 2n ** 60n, extra: true } });
    expect(stored).toEqual({ payload: '{"id":"m","n":"1152921504606846976"}', coalesce_key: "m" });
  });

  it("that does not fit is refused, and so is one to a kind that receives none", () => {
    expect(() => checkPost(receiving, { kind: "k", key: "a", message: { id: 5 } })).toThrow(/message to k a is not/);
    expect(() => checkPost(counting, { kind: "c", key: "a", message: {} })).toThrow(/"c" receives no messages/);
  });
});
