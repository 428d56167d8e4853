/** HTTP dates are read in their three forms, and nothing else is taken for one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHttpDate } from "./http-date.ts";

const now = Date.UTC(2030, 5, 15, 12);
const iso = (text: string, at = now) => {
  const ms = parseHttpDate(text, at);
  return ms === null ? null : new Date(ms).toISOString();
};

describe("a date of HTTP", () => {
  it.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
    ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
    ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
    ["Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37.000Z"],
    // As careless servers write it.
    ["sun, 6 nov 1994 08:49:37 gmt", "1994-11-06T08:49:37.000Z"],
    ["  Sun, 06 Nov 1994 08:49:37 UTC ", "1994-11-06T08:49:37.000Z"],
    ["Mon, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
    ["Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00.000Z"],
    ["Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00.000Z"],
    ["Mon, 01 Jan 0001 00:00:00 GMT", "0001-01-01T00:00:00.000Z"],
  ])("%s", (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it.each([
    ["of two digits, seen from 2030", "Friday, 01-Jan-80 00:00:00 GMT", "2080-01-01T00:00:00.000Z"],
    ["exactly fifty years ahead", "Saturday, 15-Jun-80 12:00:00 GMT", "2080-06-15T12:00:00.000Z"],
    ["a second more than fifty years ahead", "Saturday, 15-Jun-80 12:00:01 GMT", "1980-06-15T12:00:01.000Z"],
    ["81, which would be 51 years ahead", "Thursday, 01-Jan-81 00:00:00 GMT", "1981-01-01T00:00:00.000Z"],
    ["29, last year", "Monday, 01-Jan-29 00:00:00 GMT", "2029-01-01T00:00:00.000Z"],
  ])("has a year %s", (_, text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it("has the same two digits in another century when read at another time", () => {
    expect(iso("Friday, 01-Jan-99 00:00:00 GMT", Date.UTC(1994, 0))).toBe("1999-01-01T00:00:00.000Z");
    expect(iso("Friday, 01-Jan-99 00:00:00 GMT", Date.UTC(2060, 0))).toBe("2099-01-01T00:00:00.000Z");
  });

  it.each([
    "",
    "0",
    "-1",
    "120",
    "3 minutes",
    "2030-01-01T00:00:00Z",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 +0200",
    "Sun, 06 Nov 1994 08:49:37 PST",
    "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Thu, 29 Feb 2023 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Xxx, 06 Nov 1994 08:49:37 GMT",
  ])("is not %j", (text) => {
    expect(parseHttpDate(text, now)).toBeNull();
  });

  it("is read back from whatever Node writes", () => {
    const second = fc.integer({ min: 0, max: 253_402_300_799 });
    fc.assert(
      fc.property(second, (s) => {
        expect(parseHttpDate(new Date(s * 1000).toUTCString(), now)).toBe(s * 1000);
      }),
    );
  });
});
