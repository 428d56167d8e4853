/** Tests of the durations that people write in settings and read in status lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1d2h", 93_600_000],
    ["1.5s", 1_500],
    ["250", 250],
    [" 30S ", 30_000],
    ["0", 0],
  ])("reads %j as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "s", "-5s", "5 m", "1w", "5m1h", "5s5s", "1e3", "ten", "9999999999999d"])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [90_000, "1m30s"],
    [93_600_000, "1d2h"],
    [86_400_001, "1d1ms"],
    [-5_000, "-5s"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("shows only as many parts as were asked for", () => {
    expect(formatDuration(93_784_005, 2)).toBe("1d2h");
    expect(formatDuration(93_784_005, 1)).toBe("1d");
  });

  it("says that an endless duration is endless", () => {
    expect(formatDuration(Number.POSITIVE_INFINITY)).toBe("for ever");
  });

  it("writes what parseDuration reads back exactly", () => {
    fc.assert(fc.property(fc.nat(10_000_000_000), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});
