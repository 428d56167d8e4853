/** Tests of the index's lines: the bytes of index.golang.org. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goJson, indexLine, indexLines } from "./index-lines.ts";

/** Lines as index.golang.org sent them. */
const sent = readFileSync(new URL("./fixtures/index-page.ndjson", import.meta.url), "utf8");

/** A stamp as the database gives it. */
const sixDigits = (at: string) => `${at.slice(0, 19)}.${at.slice(20, -1).padEnd(6, "0")}Z`;

describe("a line", () => {
  it("is what index.golang.org sent, byte for byte", () => {
    const entries = sent
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>)
      .map((e) => ({ path: e.Path!, version: e.Version!, published_at: sixDigits(e.Timestamp!) }));
    expect(entries.map(indexLine).join("")).toBe(sent);
  });

  it.each([
    ["2019-04-10T19:08:52.997264Z", "2019-04-10T19:08:52.997264Z"],
    ["2019-04-10T19:08:52.997260Z", "2019-04-10T19:08:52.99726Z"],
    ["2019-04-10T19:08:52.900000Z", "2019-04-10T19:08:52.9Z"],
    ["2019-04-10T19:08:50.000000Z", "2019-04-10T19:08:50Z"],
    ["2019-04-10T00:00:00.000000Z", "2019-04-10T00:00:00Z"],
    ["2019-04-10T00:00:00.000001Z", "2019-04-10T00:00:00.000001Z"],
  ])("says %s as Go does: %s", (published_at, said) => {
    expect(JSON.parse(indexLine({ path: "a", version: "b", published_at })).Timestamp).toBe(said);
  });

  it("escapes as Go's encoder does", () => {
    expect(goJson("a<b>&c")).toBe('"a\\u003cb\\u003e\\u0026c"');
    expect(goJson("\u2028\u2029")).toBe('"\\u2028\\u2029"');
    expect(goJson('"\\\n\r\t\u0001\u007f')).toBe('"\\"\\\\\\n\\r\\t\\u0001\u007f"');
    expect(goJson("ü/😀")).toBe('"ü/😀"');
  });

  it("is one line and says what it was given, whatever that is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }), (path, version) => {
        const line = indexLine({ path, version, published_at: "2019-04-10T19:08:52.997264Z" });
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(line).not.toMatch(/[<>&\u2028\u2029]/);
        expect(JSON.parse(line)).toEqual({ Path: path, Version: version, Timestamp: "2019-04-10T19:08:52.997264Z" });
      }),
    );
  });
});

describe("lines", () => {
  it.each([0, 1, 999, 1000, 1001, 2000])("come in pieces, all %d of them", async (n) => {
    const entries = Array.from({ length: n }, (_, i) => ({
      path: "x.com/a",
      version: `v0.0.${i}`,
      published_at: "2019-04-10T19:08:52.000000Z",
    }));
    const pieces = [];
    for await (const piece of indexLines(entries)) pieces.push(Buffer.from(piece).toString());
    expect(pieces.join("")).toBe(entries.map(indexLine).join(""));
    expect(pieces).toHaveLength(Math.ceil(n / 1_000));
  });
});
