/** Checks what headers say of limits: how long to wait, what is left and when there is more, for anything that an upstream may send. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitsOf, retryAfter_ms, spokenDuration_ms } from "./answer-limits.ts";

const date = "Sun, 15 Nov 2026 22:55:50 GMT";
const wait = (value: string, own_date: string | null = date) =>
  retryAfter_ms({ "retry-after": value, ...(own_date === null ? {} : { date: own_date }) });

describe("Retry-After", () => {
  it("is seconds", () => {
    expect(wait("0")).toBe(0);
    expect(wait("120")).toBe(120_000);
    expect(wait(" 7 ")).toBe(7_000);
    expect(wait("1.5")).toBe(1_500);
  });

  it("is a date, relative to the answer's own date, whatever our clock says", () => {
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT")).toBe(120_000);
    expect(wait("Sun, 15 Nov 1987 22:57:50 GMT", "Sun, 15 Nov 1987 22:55:50 GMT")).toBe(120_000);
    expect(wait("2026-11-15T22:56:50Z")).toBe(60_000);
  });

  it("that lies in the past asks for no wait", () => {
    expect(wait("Sun, 15 Nov 2026 22:00:00 GMT")).toBe(0);
  });

  it("is unknown where it is absent, nonsense, or a date without one to compare with", () => {
    expect(retryAfter_ms({})).toBeNull();
    for (const odd of ["", "soon", "-5", "3 minutes", "12 34", "1e9", "NaN", "0x10", "tomorrow 5"])
      expect(wait(odd), odd).toBeNull();
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT", null)).toBeNull();
    expect(wait("Sun, 15 Nov 2026 22:57:50 GMT", "yesterday")).toBeNull();
  });

  it("is never negative, never endless, for anything an upstream may send", () => {
    const week_ms = 7 * 24 * 3600_000;
    const holds = (value: string) => {
      const wait_ms = wait(value);
      expect(wait_ms === null || (wait_ms >= 0 && wait_ms <= week_ms), `${value} gives ${wait_ms}`).toBe(true);
    };
    fc.assert(fc.property(fc.string(), holds));
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (n) => holds(String(n))));
    holds("Sun, 15 Nov 9999 22:57:50 GMT");
  });
});

describe("a spoken duration", () => {
  it.each([
    ["6m0s", 360_000],
    ["1h2m3.5s", 3_723_500],
    ["20ms", 20],
    ["1s", 1_000],
    ["8.64s", 8_640],
    ["1d", 86_400_000],
    ["0s", 0],
    ["1.5", 1_500],
  ])("%s is understood", (text, ms) => expect(spokenDuration_ms(text)).toBe(ms));

  it.each(["", "s", "6m 0s", "-1s", "1x", "1m2", "NaN", "1e3s", "ms20"])("%j is not", (text) =>
    expect(spokenDuration_ms(text)).toBeNull(),
  );

  it("is never endless", () => {
    expect(spokenDuration_ms("99999999d")).toBe(7 * 86_400_000);
  });
});

describe("limits", () => {
  it("are GitHub's, with a reset in epoch seconds by the answer's own clock", () => {
    const headers = {
      date,
      "x-ratelimit-limit": "5000",
      "x-ratelimit-remaining": "4990",
      "x-ratelimit-reset": "1794783410",
      "x-ratelimit-resource": "core",
    };
    expect(limitsOf(headers)).toEqual([{ resource: "core", limit: 5_000, remaining: 4_990, reset_ms: 60_000 }]);
    expect(limitsOf({ ...headers, date: "nonsense" })).toMatchObject([{ reset_ms: null }]);
    expect(limitsOf({ ...headers, "x-ratelimit-reset": "30" })).toMatchObject([{ reset_ms: 30_000 }]);
  });

  it("are OpenAI's, by kind and with durations", () => {
    const headers = {
      "x-ratelimit-limit-requests": "500",
      "x-ratelimit-remaining-requests": "499",
      "x-ratelimit-reset-requests": "120ms",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "6m0s",
    };
    expect(limitsOf(headers)).toEqual([
      { resource: "requests", limit: 500, remaining: 499, reset_ms: 120 },
      { resource: "tokens", limit: null, remaining: 0, reset_ms: 360_000 },
    ]);
  });

  it("are not there where nothing sensible is said", () => {
    for (const odd of ["", "-1", "many", "1.5", "9".repeat(40)])
      expect(limitsOf({ "x-ratelimit-remaining": odd, "x-ratelimit-remaining-tokens": odd }), odd).toEqual([]);
  });

  it("never have a reset that is negative or endless", () => {
    fc.assert(
      fc.property(fc.nat(), fc.date({ noInvalidDate: true }), (reset, at) => {
        const headers = { "x-ratelimit-remaining": "1", "x-ratelimit-reset": String(reset), date: at.toUTCString() };
        const reset_ms = limitsOf(headers)[0]!.reset_ms;
        expect(reset_ms === null || (reset_ms >= 0 && reset_ms <= 7 * 86_400_000)).toBe(true);
      }),
    );
  });
});
