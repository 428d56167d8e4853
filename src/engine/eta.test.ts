/** An ETA is what is ahead divided by what was done of late, and null when either is unknown. */
import { expect, it } from "vitest";
import { z } from "zod";
import { kind, type Upstream } from "../contract.ts";
import { type Ahead, estimate, pacesOf } from "./eta.ts";
import { every } from "./schedule.ts";

const ahead: Ahead = { ahead: 2, leased: 1, looked_at: 4, remaining: 600, unknown: 0 };
const rates = { progress_per_ms: 0.01, pulls_per_ms: 0.001 };

it("divides the progress that is left by the lane's rate", () => {
  expect(estimate(ahead, rates, false)).toBe(60_000);
});

it("takes those that were not looked at to be like those that were", () => {
  expect(estimate({ ...ahead, ahead: 2002, looked_at: 1002 }, rates, false)).toBe(
    Math.round(((600 * 2004) / 1002) * 100),
  );
});

it("counts pulls where nobody in the line speaks of progress", () => {
  expect(estimate({ ...ahead, remaining: 0, unknown: 4 }, rates, false)).toBe(4_000);
});

it("says nothing where some speak of progress and some do not", () => {
  expect(estimate({ ...ahead, unknown: 1 }, rates, false)).toBeNull();
});

it("says nothing where nothing was done of late", () => {
  expect(estimate(ahead, { ...rates, progress_per_ms: 0 }, false)).toBeNull();
  expect(estimate({ ...ahead, unknown: 4 }, { ...rates, pulls_per_ms: 0 }, false)).toBeNull();
});

it("shares the lane's rate among those that are being pulled", () => {
  const beside: Ahead = { ahead: 0, leased: 3, looked_at: 1, remaining: 100, unknown: 0 };
  expect(estimate(beside, rates, true)).toBe(30_000);
});

it("promises nothing sooner than the calls are allowed, whatever a burst has just done", () => {
  const long: Ahead = { ahead: 99, leased: 1, looked_at: 100, remaining: 0, unknown: 100 };
  const burst = { progress_per_ms: 0, pulls_per_ms: 1 };
  const pace = { calls_per_ms: 0.002, burst: 10, pulls: 1 };
  expect(estimate(long, burst, false)).toBe(101);
  expect(estimate(long, burst, false, [pace])).toBe(45_000);
  // Twenty share a call: five calls, and the burst holds ten.
  expect(estimate(long, burst, false, [{ ...pace, pulls: 20 }])).toBe(101);
  expect(estimate(long, burst, false, [{ ...pace, pulls: 5 }])).toBe(5_000);
  // Slower than allowed is as slow as it is; what is being pulled has its calls.
  expect(estimate(long, { ...burst, pulls_per_ms: 0.001 }, false, [pace])).toBe(101_000);
  expect(estimate(long, burst, true, [pace])).toBe(100);
  expect(estimate(long, { ...burst, pulls_per_ms: 0 }, false, [pace])).toBeNull();
});

it("knows the pace of what declares one, by its key", () => {
  const given = { schedule: every("1h"), cursor: z.null().default(null) };
  const per_host = kind({
    ...given,
    upstream: (key) => ({ name: key, budget: { shape: "pace", per_second: key === "slow" ? 1 : 10, burst: 2 } }),
    together: { most: 7 },
  });
  expect(pacesOf(per_host, "slow", {})).toEqual([{ calls_per_ms: 0.001, burst: 2, pulls: 7 }]);
  expect(pacesOf(per_host, "fast", {})).toEqual([{ calls_per_ms: 0.01, burst: 2, pulls: 7 }]);
  expect(pacesOf(kind({ ...given, upstream: { name: "free" } }), "a", {})).toEqual([]);
});

it("knows every budget of all calls, whatever its shape, and promises nothing sooner than the slowest allows", () => {
  const upstream: Upstream = {
    name: "u",
    budgets: {
      window: { shape: "window", most: 60, period_ms: 60_000 },
      gap: { shape: "gap", gap_ms: 2_000 },
      theirs: { shape: "window", most: 1, period_ms: 3600_000, by: "credential" },
    },
  };
  const paces = pacesOf(kind({ schedule: every("1h"), cursor: z.null().default(null), upstream }), "a", {});
  expect(paces).toEqual([
    { calls_per_ms: 0.001, burst: 60, pulls: 1 },
    { calls_per_ms: 0.0005, burst: 1, pulls: 1 },
  ]);
  const long: Ahead = { ahead: 99, leased: 0, looked_at: 100, remaining: 0, unknown: 100 };
  const fast = { progress_per_ms: 0, pulls_per_ms: 1 };
  expect(estimate(long, fast, false, paces.slice(0, 1))).toBe(40_000);
  expect(estimate(long, fast, false, paces)).toBe(198_000);
});
