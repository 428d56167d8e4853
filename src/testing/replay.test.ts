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
