/** How a past is cut into stretches, and where each goes on. */
import { describe, expect, it } from "vitest";
import type { IssueAnswer } from "./queries.ts";
import { askedMoments, evenly, moved, overlapping, streamsAt } from "./streams.ts";

const page = (...at: string[]) => at.map((updatedAt) => ({ updatedAt })) as IssueAnswer[];
const more = { hasNextPage: true, endCursor: "c" };
const stream = { since: "2020-01-01T00:00:00Z", after: null, until: "2021-01-01T00:00:00Z", done: false };

describe("a stream", () => {
  it("goes on from the moment of the last issue, which comes again", () => {
    const next = moved(stream, page("2020-02-01T00:00:00Z", "2020-03-01T00:00:00Z"), more);
    expect(next).toEqual({ ...stream, since: "2020-03-01T00:00:00Z" });
  });

  it("goes on behind the page where all of it is of one moment (B1)", () => {
    const next = moved(stream, page("2020-02-01T00:00:00Z", "2020-02-01T00:00:00Z"), more);
    expect(next).toEqual({ ...stream, after: "c" });
  });

  it("ends where the next one begins, and where there is no more", () => {
    expect(moved(stream, page("2020-02-01T00:00:00Z", "2021-01-01T00:00:00Z"), more).done).toBe(true);
    expect(moved(stream, page("2020-02-01T00:00:00Z"), { hasNextPage: false, endCursor: "c" }).done).toBe(true);
    expect(moved(stream, page(), more).done).toBe(true);
  });
});

it("a past is cut where about as many issues lie on both sides, however unevenly they lie in time", () => {
  const newest_ms = Date.UTC(2026, 0);
  const moments = askedMoments(newest_ms);
  // A third each in three single months, and nothing between.
  const bursts = [Date.UTC(2015, 5), Date.UTC(2022, 5), Date.UTC(2025, 5)];
  const since = (at: string) => bursts.filter((ms) => ms >= Date.parse(at)).length * 1_000;
  const [a, b] = evenly(moments, moments.map(since), 3_000, 3) as [string, string];
  expect(since(a)).toBeGreaterThanOrEqual(1_000);
  expect(Date.parse(a)).toBeLessThan(Date.parse(b));
  expect(streamsAt([a, b])).toEqual([
    { since: null, after: null, until: a, done: false },
    { since: a, after: null, until: b, done: false },
    { since: b, after: null, until: null, done: false },
  ]);
});

it("a sync reads from a little before the newest that is known (B4), and from the beginning without saying 1970 (B7)", () => {
  expect(overlapping("2026-01-01T00:05:00Z")).toBe("2026-01-01T00:03:00Z");
  expect(overlapping(null)).toBe(null);
  expect(overlapping("1970-01-01T00:00:00Z")).toBe(null);
});
