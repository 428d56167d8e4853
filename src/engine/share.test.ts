/** Checks what declarations become: buckets that never hold more than declared, and sentences for those that cannot be kept. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Budget, Upstream } from "../contract.ts";
import { budgetName, budgetRow, capacities, flightsRow, sharesOf } from "./share.ts";

const row = (budget: Budget, more: Partial<Upstream> = {}) => budgetRow({ name: "u", ...more }, "", budget, null);

describe("a pace", () => {
  it("keeps off its burst what grants may bring late, whatever is declared", () => {
    const one = fc.record({
      per_second: fc.double({ min: 0.01, max: 1e5, noNaN: true }),
      burst: fc.integer({ min: 4, max: 1e5 }),
    });
    fc.assert(
      fc.property(one, ({ per_second, burst }) => {
        const { room, life_ms, per_ms, capacity } = row(
          { shape: "pace", per_second, burst },
          { shares: { a: 0.5, b: 0.1 } },
        );
        expect(life_ms).toBeLessThanOrEqual(500);
        if (life_ms > 100) expect(room + per_ms * life_ms).toBeCloseTo(burst, 3);
        expect(capacity.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(room + 1e-6);
        for (const held of capacity) expect(held).toBeGreaterThanOrEqual(1);
      }),
      { examples: [[{ per_second: 57.08321455474265, burst: 18 }]] },
    );
  });

  it("gives a small share one call, at the cost of the larger ones", () => {
    expect(capacities(10, [0.9, 0.1])).toEqual([9, 1]);
    const [large, small] = capacities(10, [0.99, 0.01]) as [number, number];
    expect([large, small]).toEqual([9, 1]);
  });

  it("that cannot hold one call for each share is refused with a sentence", () => {
    const shares = { a: 0.5, b: 0.2 };
    expect(() => row({ shape: "pace", per_second: 1, burst: 2 }, { shares })).toThrow("must be at least 3");
    expect(() => row({ shape: "pace", per_second: 0, burst: 2 })).toThrow("must be above 0");
  });
});

describe("shares", () => {
  it("leave the rest to calls that name none", () => {
    expect(sharesOf({ name: "u", shares: { a: 0.25 } })).toEqual({ share: ["a", ""], reserved: [0.25, 0.75] });
    expect(sharesOf({ name: "u", shares: { a: 0.7, b: 0.3 } }).reserved).toEqual([0.7, 0.3, 0]);
  });

  it("that sum up to more than all, or are no fractions, are refused with a sentence", () => {
    expect(() => sharesOf({ name: "u", shares: { a: 0.7, b: 0.4 } })).toThrow("they may sum up to 1");
    for (const part of [0, -1, 1.5, Number.NaN])
      expect(() => sharesOf({ name: "u", shares: { a: part } })).toThrow('The share "a" of u must be a fraction');
  });
});

it("names each budget by its upstream, its own name and its key", () => {
  expect(budgetName({ name: "u" }, "", null)).toBe("u");
  expect(budgetName({ name: "u" }, "core", "ann")).toBe("u/core:ann");
});

it("refuses windows, gaps and bounds that mean nothing", () => {
  expect(() => row({ shape: "window", most: 0, period_ms: 1_000 })).toThrow("needs an allowance");
  expect(() => row({ shape: "window", most: 10, period_ms: 1_000 }, { shares: { a: 0.05 } })).toThrow(
    "less than one call",
  );
  expect(() => row({ shape: "gap", gap_ms: -1 })).toThrow("must not be negative");
  expect(() => flightsRow({ name: "u" }, 1.5)).toThrow("whole number");
});
