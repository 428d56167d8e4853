/** Visits come as often as a page changes, within their bounds. */
import { expect, it } from "vitest";
import { nextInterval, retryWait } from "./revisit.ts";

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const bounds = { min_ms: HOUR, max_ms: 30 * DAY };

/** The times between visits of a page that changes at these moments. */
function visits(changes: (from: number, to: number) => boolean, days: number): number[] {
  const intervals: number[] = [];
  let interval = 7 * DAY;
  for (let at = 0; at < days * DAY; ) {
    intervals.push(interval);
    interval = nextInterval(interval, changes(at, at + interval), bounds);
    at += intervals.at(-1)!;
  }
  return intervals;
}

it("C10: a page that changes daily is visited about daily, and one that never does as rarely as may be", () => {
  const daily = visits((from, to) => Math.floor(from / DAY) !== Math.floor(to / DAY), 200).slice(20);
  expect(daily.reduce((sum, ms) => sum + ms, 0) / daily.length).toBeLessThanOrEqual(DAY);
  expect(Math.max(...daily)).toBeLessThanOrEqual(1.34 * DAY);
  expect(visits(() => false, 400).at(-1)).toBe(30 * DAY);
  expect(visits(() => true, 60).at(-1)).toBe(HOUR);
});

it("C10: failures are waited out ever longer, and never longer than a day or sooner than a minute", () => {
  expect([1, 2, 3].map((n) => retryWait(n, DAY))).toEqual([60_000, 120_000, 240_000]);
  expect(retryWait(40, 30 * DAY)).toBe(DAY);
  expect(retryWait(40, 10_000)).toBe(60_000);
});
