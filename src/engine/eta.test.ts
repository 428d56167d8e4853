/** An ETA is what is ahead divided by what was done of late, and null when either is unknown. */
import { expect, it } from "vitest";
import { type Ahead, estimate } from "./eta.ts";

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
