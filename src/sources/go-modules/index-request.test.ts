/** Tests of what a reader of the index may ask for (A7). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readIndexRequest, readSince } from "./index-request.ts";

const read = (given: Record<string, string>) => readIndexRequest((name) => given[name]);

describe("since", () => {
  it.each([
    ["", "-infinity"],
    ["2019-04-10T19:08:52.997264Z", "2019-04-10T19:08:52.997264Z"],
    ["2019-04-10T19:08:52Z", "2019-04-10T19:08:52.000000Z"],
    ["2019-04-10T19:08:52.04Z", "2019-04-10T19:08:52.040000Z"],
    ["2019-04-10T12:08:52.5-07:00", "2019-04-10T19:08:52.500000Z"],
    ["2019-04-11T00:38:52+05:30", "2019-04-10T19:08:52.000000Z"],
    ["2019-04-11T00:38:52 05:30", "2019-04-10T19:08:52.000000Z"],
    ["2019-04-10T19:08:52,5Z", "2019-04-10T19:08:52.500000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["0001-01-01T00:00:00+07:00", "-infinity"],
    ["0000-01-01T00:00:00Z", "-infinity"],
    ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000000Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
    ["9999-12-31T23:59:59-07:00", "infinity"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"],
  ])("%j is %s", (given, since) => {
    expect(readSince(given)).toBe(since);
  });

  it("that is finer than a microsecond is rounded up, so that nothing older comes back", () => {
    expect(readSince("2019-04-10T19:08:52.997264000Z")).toBe("2019-04-10T19:08:52.997264Z");
    expect(readSince("2019-04-10T19:08:52.997264001Z")).toBe("2019-04-10T19:08:52.997265Z");
    expect(readSince("2019-12-31T23:59:59.999999999Z")).toBe("2020-01-01T00:00:00.000000Z");
  });

  it.each([
    "yesterday",
    "2019-04-10",
    "2019-04-10T19:08Z",
    "2019-04-10T19:08:52",
    "2019-04-10 19:08:52Z",
    "2019-4-10T19:08:52Z",
    "2019-13-10T19:08:52Z",
    "2019-02-29T19:08:52Z",
    "2019-02-31T19:08:52Z",
    "2019-04-10T24:00:00Z",
    "2019-04-10T19:60:00Z",
    "2019-04-10T19:08:60Z",
    "2019-04-10T19:08:52.Z",
    "2019-04-10T19:08:52+25:00",
    "2019-04-10T19:08:52+05:60",
    "2019-04-10T19:08:52+0530",
    "1554923332",
    "infinity",
    "now",
    "2019-04-10T19:08:52Z; drop table",
  ])("may not be %j", (given) => {
    expect(() => readSince(given)).toThrow(/^since=.* is not understood\. Give a moment such as /);
  });

  it("is the same moment, whatever the offset it is written with", () => {
    const offset = fc.integer({ min: -23 * 60, max: 23 * 60 });
    const moment = fc.date({
      min: new Date("0002-01-01T00:00:00Z"),
      max: new Date("9998-01-01T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, offset, (at, minutes) => {
        const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const two = (n: number) => String(n).padStart(2, "0");
        const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
        expect(readSince(local + zone)).toBe(at.toISOString().replace("Z", "000Z"));
      }),
    );
  });
});

describe("limit", () => {
  it.each([
    ["", 2000],
    ["1", 1],
    ["10", 10],
    ["0010", 10],
    ["2000", 2000],
    ["2001", 2000],
    ["99999", 2000],
    ["9".repeat(400), 2000],
  ])("%j means %d", (limit, most) => {
    expect(read({ limit }).most).toBe(most);
  });

  it.each(["0", "-1", "abc", "1.5", "1e3", " 10", "0x10", "00"])("may not be %j", (limit) => {
    expect(() => read({ limit })).toThrow(/^limit=.* is not understood\. Give a whole number from 1 to 2000/);
  });
});

describe("include", () => {
  it("is all, or nothing", () => {
    expect(read({}).all).toBe(false);
    expect(read({ include: "" }).all).toBe(false);
    expect(read({ include: "all" }).all).toBe(true);
    expect(() => read({ include: "deleted" })).toThrow(/^include="deleted" is not understood/);
  });
});

describe("prefix", () => {
  it.each([
    ["", null],
    ["github.com", "github.com"],
    ["github.com/acme", "github.com/acme"],
    ["github.com/acme/", "github.com/acme"],
    ["github.com/Acme/x/v2", "github.com/Acme/x/v2"],
    ["github.com/acme/x/v1", "github.com/acme/x/v1"],
    ["gopkg.in", "gopkg.in"],
    ["gopkg.in/yaml.v2", "gopkg.in/yaml.v2"],
  ])("%j is %j", (prefix, path) => {
    expect(read({ prefix }).prefix).toBe(path);
  });

  it.each([
    "github",
    "/github.com",
    "github.com//",
    "github.com/%",
    "github.com/../x",
    "https://github.com/acme",
    "a b",
    "x@v1",
  ])("may not be %j", (prefix) => {
    expect(() => read({ prefix })).toThrow(/^prefix=.* is not understood/);
  });
});
