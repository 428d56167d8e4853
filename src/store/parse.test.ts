/** The shared parsing of values, without any database. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeValue, normaliseTimestamp, parseArray, parserOf } from "./parse.ts";

describe("timestamps", () => {
  it.each([
    ["2026-11-15 22:55:50.123456+00", "2026-11-15T22:55:50.123456Z"],
    ["2026-11-15 22:55:50+00", "2026-11-15T22:55:50.000000Z"],
    ["2026-11-15 22:55:50.5+00", "2026-11-15T22:55:50.500000Z"],
    ["2026-11-16 04:25:50.12+05:30", "2026-11-15T22:55:50.120000Z"],
    ["2026-11-15 17:55:50.000001-05", "2026-11-15T22:55:50.000001Z"],
    ["2026-01-01 00:30:00+01", "2025-12-31T23:30:00.000000Z"],
    ["1800-01-01 00:19:32+00:19:32", "1800-01-01T00:00:00.000000Z"],
    ["0044-03-15 12:00:00+00 BC", "0044-03-15T12:00:00.000000Z BC"],
    ["0001-12-31 23:30:00-01 BC", "0001-01-01T00:30:00.000000Z"],
    ["0001-01-01 00:30:00+01", "0001-12-31T23:30:00.000000Z BC"],
    ["294276-12-31 23:59:59.999999+00", "294276-12-31T23:59:59.999999Z"],
    ["10000-01-01 00:30:00+01", "9999-12-31T23:30:00.000000Z"],
    ["infinity", "infinity"],
    ["-infinity", "-infinity"],
  ])("%s is shown as %s", (text, shown) => {
    expect(normaliseTimestamp(text)).toBe(shown);
  });

  it("says what to do when the database does not print ISO", () => {
    expect(() => normaliseTimestamp("15/11/2026 22:55:50 UTC")).toThrow(/DateStyle/);
  });

  it("agree with Date for every offset", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1000-01-01T00:00:00Z"), max: new Date("9000-01-01T00:00:00Z"), noInvalidDate: true }),
        fc.integer({ min: -15 * 60, max: 15 * 60 }),
        (date, offset_min) => {
          const local = new Date(date.getTime() + offset_min * 60_000).toISOString();
          const size = Math.abs(offset_min);
          const zone = `${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
          const text = `${local.slice(0, 10)} ${local.slice(11, 23)}${offset_min < 0 ? "-" : "+"}${zone}`;
          expect(normaliseTimestamp(text)).toBe(`${date.toISOString().slice(0, 23)}000Z`);
        },
      ),
    );
  });
});

describe("values", () => {
  it("keeps an int8 beyond 2^53 exact, alone and in arrays", () => {
    expect(parserOf(20)("9223372036854775807")).toBe(9223372036854775807n);
    expect(parserOf(1016)("{1,NULL,-9223372036854775808}")).toEqual([1n, null, -9223372036854775808n]);
  });

  it("parses arrays of timestamps", () => {
    expect(parserOf(1185)('{"2026-11-15 22:55:50+00",NULL,infinity}')).toEqual([
      "2026-11-15T22:55:50.000000Z",
      null,
      "infinity",
    ]);
  });

  it("leaves numeric and unknown types as text", () => {
    expect(parserOf(1700)("1.50")).toBe("1.50");
    expect(parserOf(99999)("[1,2]")).toBe("[1,2]");
  });

  it("parses floats that JSON does not know", () => {
    expect(parserOf(701)("-Infinity")).toBe(-Infinity);
    expect(parserOf(701)("NaN")).toBeNaN();
  });

  it("parses bytea as bytes", () => {
    expect(parserOf(17)("\\x00ff")).toEqual(new Uint8Array([0, 255]));
  });

  it("parses nested arrays and arrays with bounds", () => {
    expect(parseArray("[0:1]={{1,2},{3,NULL}}", Number)).toEqual([
      [1, 2],
      [3, null],
    ]);
  });

  it("gives back any array of texts as it was", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant(null))), (items) => {
        expect(parseArray(encodeValue(items) ?? "", (text) => text)).toEqual(items);
      }),
    );
  });

  it("refuses an array literal that does not end", () => {
    expect(() => parseArray('{"a', (text) => text)).toThrow(/does not end/);
    expect(() => parseArray("{1,2", Number)).toThrow(/does not end/);
  });
});

describe("parameters", () => {
  it.each([
    [null, null],
    [undefined, null],
    ["a", "a"],
    [1.5, "1.5"],
    [9007199254740993n, "9007199254740993"],
    [true, "true"],
    [{ a: [1] }, '{"a":[1]}'],
    [new Uint8Array([1, 171]), "\\x01ab"],
    [new Date("2026-11-15T00:00:00Z"), "2026-11-15T00:00:00.000Z"],
    [[], "{}"],
    [[1, 2n, null], "{1,2,NULL}"],
    [["NULL", 'a"b\\', ""], '{"NULL","a\\"b\\\\",""}'],
    [[[1], [2]], "{{1},{2}}"],
    [[{ a: 1 }, true], '{"{\\"a\\":1}","true"}'],
  ])("%s is sent as %s", (value, sent) => {
    expect(encodeValue(value)).toBe(sent);
  });
});
