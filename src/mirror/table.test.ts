/** Checks how rows become parameters: what PostgreSQL cannot hold is made so that it can, and nothing else is bent. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText, lastByKey, type Row, table, toJson, unnest } from "./table.ts";

const words = table("s.word", { columns: { a: "text", b: "bigint", n: "int" }, key: ["a", "b"] });

describe("a table's declaration", () => {
  it("has plain lower-case names and declares what it speaks of", () => {
    const columns = { id: "text" } as const;
    for (const name of ["Word", 's."word"', "a.b.c", "word; drop table x", ""])
      expect(() => table(name, { columns, key: ["id"] })).toThrow(/not a plain lower-case SQL name/);
    expect(() => table("s.word", { columns: { "a b": "text" }, key: [] })).toThrow(/plain/);
    expect(() => table("s.word", { columns, key: ["nope"] })).toThrow(/declares no column "nope"/);
    expect(() => table("s.word", { columns, key: ["id"], newer: "at" })).toThrow(/declares no column "at"/);
    expect(() => table("s.word", { columns, key: ["id"], owner: "who" })).toThrow(/declares no column "who"/);
  });
});

describe("rows with one key", () => {
  it("become one, the last one given", () => {
    const rows = [
      { a: "x", b: 1, n: 1 },
      { a: "y", b: 1, n: 2 },
      { a: "x", b: 1n, n: 3 },
    ];
    expect(lastByKey(words, rows)).toEqual([
      { a: "x", b: 1n, n: 3 },
      { a: "y", b: 1, n: 2 },
    ]);
  });

  it("are written in one order, whatever order they come in, so that two writers never wait in a circle", () => {
    const row = fc.record({ a: fc.string(), b: fc.integer(), n: fc.integer() });
    fc.assert(
      fc.property(fc.uniqueArray(row, { selector: (r) => `${r.a}\u0000${r.b}` }), (rows) => {
        expect(lastByKey(words, rows.toReversed())).toEqual(lastByKey(words, rows));
      }),
    );
  });

  it("do not run together where one key ends and the next begins", () => {
    const pair = table("s.pair", { columns: { a: "text", b: "text" }, key: ["a", "b"] });
    expect(
      lastByKey(pair, [
        { a: "ab", b: "c" },
        { a: "a", b: "bc" },
      ]),
    ).toHaveLength(2);
  });

  it("are refused where a part of the key is missing", () => {
    for (const row of [{ a: "x" }, { a: "x", b: null }])
      expect(() => lastByKey(words, [row])).toThrow(/lacks its key column "b"/);
  });
});

describe("text", () => {
  it("has no NUL and no half characters, and is otherwise left alone", () => {
    expect(cleanText("a\u0000b")).toBe("a\ufffdb");
    expect(cleanText("a\ud800b")).toBe("a\ufffdb");
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 20 }),
        (s) => cleanText(s.replaceAll("\u0000", "")) === s.replaceAll("\u0000", ""),
      ),
    );
  });
});

describe("JSON", () => {
  it("keeps 64-bit numbers as text", () => {
    expect(toJson({ id: 72_057_598_332_895_489n })).toBe('{"id":"72057598332895489"}');
  });

  it("is what PostgreSQL accepts, for any text anywhere in it", () => {
    const odd = { "k\u0000": ["\u0000", "\ud800", "\udc00x", { deep: "a\u0000b" }] };
    expect(JSON.parse(toJson(odd))).toEqual({ "k\ufffd": ["\ufffd", "\ufffd", "\ufffdx", { deep: "a\ufffdb" }] });
  });

  it("bends nothing that PostgreSQL can hold", () => {
    expect(JSON.parse(toJson({ code: "\\u0000", path: "C:\\ud800" }))).toEqual({ code: "\\u0000", path: "C:\\ud800" });
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(!/\\u0000|\\ud[89a-f]/.test(JSON.stringify(value)));
        expect(JSON.parse(toJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("parameters", () => {
  const all = table("s.all", {
    columns: { t: "text", j: "jsonb", y: "bytea", i: "bigint", f: "real", b: "boolean", ta: "text[]", ia: "bigint[]" },
    key: ["t"],
  });
  const encoded = (row: Row) => Object.fromEntries(Object.keys(all.columns).map((c) => [c, parameter(c, row)]));
  const parameter = (column: string, row: Row) => (unnest(all, [column], [row]).values[0] as unknown[])[0];

  it("are one array a column, cast to its type", () => {
    const statement = unnest(all, ["t", "i", "ta"], [{ t: "x", i: 5n, ta: ["a"] }]);
    expect(statement.text).toBe(
      "select u.t, u.i, u.ta::text[] from unnest($1::text[],$2::bigint[],$3::text[]) as u(t, i, ta)",
    );
  });

  it("bend no value", () => {
    const row = { t: 7, j: { a: [1] }, y: new Uint8Array([0, 255]), i: 2n ** 62n, f: 0.5, b: false, ta: [], ia: [1n] };
    expect(encoded(row)).toEqual({
      t: "7",
      j: '{"a":[1]}',
      y: "\\x00ff",
      i: "4611686018427387904",
      f: "0.5",
      b: false,
      ta: "{}",
      ia: '{"1"}',
    });
  });

  it("are null where nothing is given, in any type", () => {
    for (const nothing of [null, undefined])
      for (const column of Object.keys(all.columns)) expect(parameter(column, { [column]: nothing })).toBeNull();
    expect(parameter("ta", { ta: ["a", null, undefined] })).toBe('{"a",null,null}');
  });

  it("quote whatever an array's text may hold", () => {
    expect(parameter("ta", { ta: ['a"b', "c\\d", "e,f", "{g}", "null", "", "\u0000"] })).toBe(
      '{"a\\"b","c\\\\d","e,f","{g}","null","","\ufffd"}',
    );
  });
});
