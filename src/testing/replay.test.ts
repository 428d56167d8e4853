/** Checks that the judge of budgets sees what is too much, and only that. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overspent } from "./replay.ts";

const at = (...times: number[]) => times.map((at_ms) => ({ at_ms, cost: 1 }));

describe("calls within a window", () => {
  const budget = { shape: "window", most: 3, period_ms: 1_000 } as const;

  it("are at most its allowance, and a new window begins after its period", () => {
    expect(overspent(at(0, 0, 999), budget)).toBeNull();
    expect(overspent(at(0, 0, 999, 1_000, 1_500, 1_999), budget)).toBeNull();
    expect(overspent(at(0, 0, 998, 999), budget)).toMatch(/^4 spent of 3/);
    expect(overspent([{ at_ms: 0, cost: 4 }], budget)).toMatch(/^4 spent/);
  });

  it("are at most its allowance wherever its period begins, also across the end of one", () => {
    expect(overspent(at(0, 900, 900, 1_100), budget)).toBeNull();
    expect(overspent(at(0, 900, 900, 1_100, 1_100), budget)).toMatch(/^4 spent of 3 between 900 ms and 1100 ms/);
  });

  it("may be as many again as soon as the upstream said that a new one begins", () => {
    const told = (...windows: number[]) => windows.map((window, i) => ({ at_ms: i, cost: 1, window }));
    expect(overspent(told(1, 1, 1, 2, 2, 2), budget, true)).toBeNull();
    expect(overspent(told(1, 2, 1, 1, 1), budget, true)).toMatch(/^4 spent of 3 in window 1/);
  });
});

describe("calls at a pace", () => {
  const budget = { shape: "pace", per_second: 10, burst: 2 } as const;

  it("are at most the burst and then the rate, in any stretch of time", () => {
    expect(overspent(at(0, 0, 100, 200), budget)).toBeNull();
    expect(overspent(at(0, 0, 0), budget)).toMatch(/^3 spent of 2/);
    expect(overspent(at(0, 0, 99), budget)).toMatch(/^3 spent of 2.99/);
    expect(overspent(at(0, 1_000, 1_000, 1_000), budget)).toMatch(/^3 spent of 2/);
  });

  it("are never too many when they come as slowly as the rate", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (n) => {
        expect(overspent(at(...Array.from({ length: n }, (_, i) => i * 100)), budget)).toBeNull();
      }),
    );
  });
});
