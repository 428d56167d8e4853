/** The mirror on both databases: tables that write only what changed, feeds that only grow. */
import sql, { raw } from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readFeed, table } from "../../src/index.ts";
import { publish } from "../../src/mirror/feed.ts";
import { dropOwned, dropRows, putRows, type Row } from "../../src/mirror/table.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { entries, news, toyKind, toySource, words } from "./toy.ts";

const all = table("toy.everything", {
  columns: {
    id: "int",
    t: "text",
    j: "jsonb",
    y: "bytea",
    i: "bigint",
    d: "double precision",
    b: "boolean",
    at: "timestamptz",
    n: "numeric",
    ta: "text[]",
    ia: "bigint[]",
    ra: "real[]",
  },
  key: ["id"],
});
const dated = table("toy.dated", { columns: { id: "text", at: "timestamptz", v: "int" }, key: ["id"], newer: "at" });
const bare = table("toy.bare", { columns: { a: "text", b: "int" }, key: ["a", "b"] });

describe.each(stores)("the mirror, on $store", ({ open }) => {
  let rig: Rig;
  const put = (t: typeof all, rows: Row[]) => rig.db.transaction((tx) => putRows(tx, t, rows));
  const versions = (name: string) =>
    rig.rows<{ key: string; xmin: string }>(
      raw(`select to_jsonb(t)->>'word' as key, xmin::text as xmin from ${name} t order by 1`),
    );

  beforeAll(async () => {
    rig = await Rig.open(open);
    await rig.db.query(sql`
      create table toy.everything (id int primary key, t text, j jsonb, y bytea, i bigint, d double precision, b boolean,
                                   at timestamptz, n numeric, ta text[], ia bigint[], ra real[])`);
    await rig.db.query(sql`create table toy.dated (id text primary key, at timestamptz, v int)`);
    await rig.db.query(sql`create table toy.bare (a text, b int, primary key (a, b))`);
  });
  afterEach(() => rig.end());

  describe("a table", () => {
    beforeEach(async () => {
      await rig.reset(toySource({ page: toyKind() }));
      await rig.db.query(sql`truncate toy.everything, toy.dated, toy.bare`);
    });

    it("writes only what changed, and says how much that was", async () => {
      const rows = [1, 2, 3].map((n) => ({ word: `w${n}`, version: 1, facts: { n, deep: [null, "x"] } }));
      expect(await put(words, rows)).toBe(3);
      const before = await versions("toy.word");
      expect(await put(words, rows)).toBe(0);
      expect(await versions("toy.word")).toEqual(before);
      expect(await put(words, [rows[0]!, { ...rows[1]!, version: 2 }, { word: "w4" }])).toBe(2);
      expect((await versions("toy.word")).filter((v, i) => v.xmin !== before[i]?.xmin).map((v) => v.key)).toEqual([
        "w2",
        "w4",
      ]);
    });

    it("takes one key twice in a batch, the last one given", async () => {
      expect(
        await put(words, [
          { word: "w", version: 1 },
          { word: "w", version: 2 },
        ]),
      ).toBe(1);
      expect(await rig.rows(sql`select word, version from toy.word`)).toEqual([{ word: "w", version: 2 }]);
    });

    it("gives back what it was given, in every type", async () => {
      const row = {
        id: 1,
        t: `quote ' " \\ , {} \u{1f30a} null`,
        j: { big: 72_057_598_332_895_489n, text: "\\u0000", list: [1.5, null, { a: "\ud83c\udf0a" }] },
        y: new Uint8Array([0, 1, 92, 39, 255]),
        i: 9_223_372_036_854_775_807n,
        d: 0.1,
        b: true,
        at: "2026-11-15T22:55:50.123456Z",
        n: "123456789012345678901234567890.5",
        ta: ["a", 'b"c', "d\\e", "null", "", null, "{f,g}"],
        ia: [1n, -9_223_372_036_854_775_808n],
        ra: [0.5, -1],
      };
      expect(await put(all, [row, { id: 2 }])).toBe(2);
      const [back, empty] = await rig.rows<Row>(
        sql`select id, t, j, encode(y, 'hex') as y, i, d, b, at, n, ta, ia::text[] as ia, ra from toy.everything order by id`,
      );
      expect(back).toEqual({
        ...row,
        j: { big: "72057598332895489", text: "\\u0000", list: [1.5, null, { a: "\u{1f30a}" }] },
        y: "00015c27ff",
        ia: ["1", "-9223372036854775808"],
      });
      expect(Object.values(empty!).filter((v) => v !== null)).toEqual([2]);
      expect(await put(all, [row, { id: 2 }])).toBe(0);
    });

    it("holds text that PostgreSQL would refuse", async () => {
      await put(all, [{ id: 1, t: "a\u0000b\ud800", j: { "k\u0000": "\udfff" }, ta: ["\u0000"] }]);
      const [row] = await rig.rows(sql`select t, j, ta from toy.everything`);
      expect(row).toEqual({ t: "a\ufffdb\ufffd", j: { "k\ufffd": "\ufffd" }, ta: ["\ufffd"] });
    });

    it("with a column that says which is newer is not overwritten by a late answer", async () => {
      await put(dated, [{ id: "x", at: "2026-01-02T00:00:00Z", v: 2 }]);
      expect(await put(dated, [{ id: "x", at: "2026-01-01T00:00:00Z", v: 1 }])).toBe(0);
      expect(await put(dated, [{ id: "x", at: "2026-01-02T00:00:00Z", v: 3 }])).toBe(1);
      expect(await put(dated, [{ id: "x", at: "2026-01-03T00:00:00Z", v: 4 }])).toBe(1);
      expect(await rig.rows(sql`select v from toy.dated`)).toEqual([{ v: 4 }]);
    });

    it("of nothing but keys takes the same row again without a word", async () => {
      expect(
        await put(bare, [
          { a: "x", b: 1 },
          { a: "x", b: 2 },
        ]),
      ).toBe(2);
      expect(await put(bare, [{ a: "x", b: 1 }])).toBe(0);
    });

    it("drops by key and says how many there were, and what a resource owns in bounded parts", async () => {
      await put(
        bare,
        [1, 2, 3].map((b) => ({ a: "x", b })),
      );
      const dropped = await rig.db.transaction((tx) =>
        dropRows(tx, bare, [
          { a: "x", b: 1 },
          { a: "x", b: 9 },
        ]),
      );
      expect(dropped).toBe(1);
      await put(
        words,
        Array.from({ length: 7 }, (_, i) => ({ word: `w${i}`, owner_id: i < 5 ? 1n : 2n })),
      );
      const some = () => rig.db.transaction((tx) => dropOwned(tx, "toy.word", "owner_id", 1n, 3));
      expect([await some(), await some(), await some()]).toEqual([3, 2, 0]);
      expect(await rig.rows(sql`select word from toy.word order by word`)).toEqual([{ word: "w5" }, { word: "w6" }]);
    });
  });

  describe("a feed", () => {
    beforeEach(() => rig.reset(toySource({ page: toyKind() })));
    const say = (...names: string[]) =>
      rig.db.transaction((tx) =>
        publish(
          tx,
          news,
          names.map((name) => ({ name, version: "1" })),
        ),
      );
    const read = async (since: string | null, most = 100) =>
      (await rig.db.query<{ name: string; published_at: string }>(readFeed(news, ["name"], since, most))).rows;

    it("stamps strictly upwards, in the order given, even while the clock stands or went back", async () => {
      expect(await say("c", "a", "b")).toBe(3);
      expect(await say("d")).toBe(1);
      await rig.db.query(sql`update tidemark.test_clock set at = at - interval '1 hour'`);
      expect(await say("e", "f")).toBe(2);
      const told = await read(null);
      expect(told.map((e) => e.name)).toEqual(["c", "a", "b", "d", "e", "f"]);
      const stamps = told.map((e) => e.published_at);
      expect(new Set(stamps).size).toBe(6);
      expect(stamps).toEqual(stamps.toSorted());
    });

    it("stamps in the order given, whichever way it is found out what is there already", async () => {
      const all = Array.from({ length: 600 }, (_, i) => `n${(i * 389) % 600}`);
      await say(...all.filter((_, i) => i % 2 === 0));
      await rig.clock.advance(1_000);
      const said = rig.db.transaction(async (tx) => {
        // Leaves a merge of both, which sorts them by their key.
        for (const way of ["hashjoin", "nestloop"]) await tx.query(raw(`set local enable_${way} = off`));
        return publish(
          tx,
          news,
          all.map((name) => ({ name, version: "1" })),
        );
      });
      expect(await said).toBe(300);
      const late = (await read(null, 600)).slice(300).map((e) => e.name);
      expect(late).toEqual(all.filter((_, i) => i % 2 === 1));
    });

    it("keeps the stamp of what is there for ever, and does not write it again", async () => {
      await say("a", "b");
      const before = await read(null);
      await rig.clock.advance(60_000);
      expect(await say("b", "a", "c", "c")).toBe(1);
      expect((await read(null)).slice(0, 2)).toEqual(before);
    });

    it("read on from the last entry seen, inclusively, misses nothing", async () => {
      await say(...Array.from({ length: 25 }, (_, i) => `n${i}`));
      const seen = new Set<string>();
      let since: string | null = null;
      for (let i = 0; i < 4; i += 1) {
        const page: { name: string; published_at: string }[] = await read(since, 10);
        for (const e of page) seen.add(e.name);
        since = page.at(-1)!.published_at;
      }
      expect(seen.size).toBe(25);
    });

    it("does not take a column of its table for its stamp", () => {
      expect(() => table("toy.x", { columns: { a: "text" }, key: ["a"] })).not.toThrow();
      expect(entries.columns).not.toHaveProperty(news.at);
    });
  });
});
