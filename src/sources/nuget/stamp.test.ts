/** Checks that timestamps of a catalog compare by time, down to 100 ns, however they are written. */
import { describe, expect, it } from "vitest";
import { ticksOf, yearOf } from "./stamp.ts";

describe("a timestamp", () => {
  it("D1: keeps seven digits, where two commits are 100 ns apart", () => {
    const [first, second] = ["2015-02-01T06:22:45.8488496Z", "2015-02-01T06:22:45.8488497Z"].map((s) => ticksOf(s)!);
    expect(second! - first!).toBe(1n);
  });

  it("D2: compares by time and not by letter, with any number of digits", () => {
    const in_order = [
      "2020-01-01T00:00:00Z",
      "2020-01-01T00:00:00.788239Z",
      "2020-01-01T00:00:00.7882391Z",
      "2020-01-01T00:00:01Z",
    ];
    const ticks = in_order.map((s) => ticksOf(s)!);
    expect(ticks).toEqual(ticks.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(ticksOf("2020-01-01T00:00:00.5Z")).toBe(ticksOf("2020-01-01T00:00:00.5000000Z"));
  });

  it("counts from the year 1, as .NET does", () => {
    expect(ticksOf("1970-01-01T00:00:00Z")).toBe(621_355_968_000_000_000n);
    expect(ticksOf("0001-01-01T00:00:00Z")).toBe(0n);
  });

  it("may have an offset, or none", () => {
    expect(ticksOf("2020-01-01T02:00:00.1234567+02:00")).toBe(ticksOf("2020-01-01T00:00:00.1234567Z"));
    expect(ticksOf("2020-01-01T00:00:00")).toBe(ticksOf("2020-01-01T00:00:00Z"));
  });

  it.each(["", "yesterday", "2020-01-01", "2020-13-01T00:00:00Z", "2020-01-01T25:00:00Z"])("is not %j", (text) => {
    expect(ticksOf(text)).toBeNull();
  });

  it("says its year as it is written", () => {
    expect(yearOf("1900-01-01T00:00:00+00:00")).toBe(1900);
  });
});
