/** Checks what each end of a pull means: when the resource is due again, what counts against it, when it is parked. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fresh, gone, type Kind, kind, later, more } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import type { Lease } from "./lease.ts";
import { backoff_ms, endOf, endOfFailure, nextDue } from "./outcome.ts";
import { every, phaseOf } from "./schedule.ts";

const NOW = 1_763_000_000_000;
const rules = { park_after: 8, cool_off_ms: 24 * 3600_000 };
const hourly: Kind = kind({ upstream: { name: "u" }, schedule: every("1h"), cursor: z.null().default(null) });

const lease = (given: Partial<Lease> = {}): Lease => ({
  resource_id: 1n,
  lease_no: 1n,
  hold_id: 1n,
  place: "(0,1)",
  lane_id: 1,
  newest_due_at: "2026-11-15T22:55:50.000000Z",
  fresh_at: null,
  tried_at: "2026-11-15T22:55:50.000000Z",
  failures: 0,
  mail_done: 0n,
  mail_seq: 0n,
  source: "s",
  kind: "k",
  key: "key",
  options: null,
  cursor: null,
  generation: 0n,
  changed_at: null,
  viewed_at: null,
  progress_done: null,
  marked: false,
  now_ms: NOW,
  ...given,
});

const down = (wait_ms?: number) =>
  new TidemarkError("UpstreamDown", "u did not answer.", wait_ms === undefined ? {} : { wait_ms });

describe("the wait after a failure", () => {
  const plain = (failures: number) => Math.min(15_000 * 2 ** (failures - 1), 24 * 3600_000);

  it("doubles from 15 s to a day, a tenth either way", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 32_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, phase) => {
          const wait_ms = backoff_ms(failures, phase);
          expect(wait_ms).toBeGreaterThanOrEqual(Math.floor(plain(failures) * 0.9));
          expect(wait_ms).toBeLessThanOrEqual(Math.ceil(plain(failures) * 1.1));
        },
      ),
    );
  });

  it("is longer after each further failure until the longest is reached", () => {
    for (let n = 1; n < 13; n += 1) expect(backoff_ms(n + 1, 0.37)).toBeGreaterThan(backoff_ms(n, 0.37));
  });

  it("differs between resources, so that they do not come back together", () => {
    const waits = new Set(Array.from({ length: 100 }, (_, i) => backoff_ms(3, phaseOf("s", "k", `${i}`))));
    expect(waits.size).toBeGreaterThan(50);
  });

  it("is the same whenever it is computed again", () => {
    expect(backoff_ms(4, 0.123)).toBe(backoff_ms(4, 0.123));
  });
});

describe("a failure", () => {
  it("counts, keeps its sentence, and clears no freshness", () => {
    const end = endOfFailure(down(), lease({ failures: 2 }), rules);
    expect(end).toMatchObject({
      outcome: "failed",
      failures: 3,
      fresh: false,
      parked: false,
      floor: false,
      gone: false,
    });
    expect(end.reason).toBe("u did not answer.");
    expect(JSON.parse(end.error!)).toMatchObject({ code: "UpstreamDown", sentence: "u did not answer.", failures: 3 });
  });

  it("parks the resource at the eighth in a row, until the cool-off is over", () => {
    expect(endOfFailure(down(), lease({ failures: 6 }), rules).parked).toBe(false);
    const end = endOfFailure(down(), lease({ failures: 7 }), rules);
    expect(end).toMatchObject({ parked: true, floor: true, wait_ms: rules.cool_off_ms, failures: 8 });
  });

  it("waits at least as long as the upstream asked for", () => {
    expect(endOfFailure(down(3600_000), lease(), rules).wait_ms).toBe(3600_000);
  });

  it("never counts beyond what its column holds", () => {
    expect(endOfFailure(down(), lease({ failures: 32_767 }), rules).failures).toBeLessThanOrEqual(32_767);
  });

  it("keeps a sentence that the database can hold, however long or odd it is", () => {
    const error = new TidemarkError("UpstreamChanged", `\u0000\ud800${"x".repeat(5000)}`);
    const end = endOfFailure(error, lease(), rules);
    expect(end.reason!.length).toBeLessThanOrEqual(1000);
    expect(end.reason).not.toContain("\u0000");
    expect(end.reason!.isWellFormed()).toBe(true);
    expect(end.error).not.toMatch(/\\u0000|\\ud800/);
  });
});

describe("an end that is no failure", () => {
  it("fresh clears failures and waits for the schedule", () => {
    const end = endOf(fresh(), lease({ failures: 5 }), hourly, false, NOW);
    expect(end).toMatchObject({
      outcome: "fresh",
      fresh: true,
      failures: 0,
      reason: null,
      error: null,
      keep_place: false,
    });
    expect(end.wait_ms).toBeGreaterThan(0);
    expect(end.wait_ms).toBeLessThanOrEqual(1.1 * 3600_000);
  });

  it("later charges nothing, keeps its place in line and is a floor", () => {
    const end = endOf(later(90_000, "asked to wait"), lease({ failures: 5 }), hourly, false, NOW);
    expect(end).toMatchObject({
      outcome: "later",
      wait_ms: 90_000,
      floor: true,
      failures: 5,
      keep_place: true,
      fresh: false,
    });
    expect(end.parked).toBe(false);
    expect(endOf(later(-5, "odd"), lease(), hourly, false, NOW).wait_ms).toBe(0);
  });

  it("later never charges, however often it comes", () => {
    let failures = 3;
    for (let n = 0; n < 100; n += 1)
      failures = endOf(later(1000, "wait"), lease({ failures }), hourly, false, NOW).failures;
    expect(failures).toBe(3);
  });

  it("more goes on at once in its place", () => {
    expect(endOf(more(), lease({ failures: 5 }), hourly, false, NOW)).toMatchObject({
      outcome: "more",
      wait_ms: 0,
      fresh: false,
      failures: 0,
      keep_place: true,
    });
  });

  it("gone is looked at again after a week, with its reason", () => {
    expect(endOf(gone("404"), lease(), hourly, false, NOW)).toMatchObject({
      outcome: "gone",
      gone: true,
      reason: "404",
      wait_ms: 7 * 24 * 3600_000,
    });
  });
});

describe("the next due moment", () => {
  it("comes from a schedule that may depend on the options of the resource", () => {
    const chosen: Kind = { ...hourly, schedule: (options) => every(String(options.every ?? "1d")) };
    const wait = (options: Record<string, unknown> | null) =>
      nextDue(chosen, lease({ options, fresh_at: new Date(NOW).toISOString() }), false, NOW).why;
    expect(wait({ every: "2h" })).toBe("every 2h");
    expect(wait(null)).toBe("every 1d");
  });

  it("knows that something changed just now", () => {
    let seen: number | null = null;
    const watching: Kind = {
      ...hourly,
      schedule: {
        next(f) {
          seen = f.changed_at_ms;
          return { wait_ms: 1, why: "" };
        },
      },
    };
    nextDue(watching, lease({ changed_at: new Date(NOW - 5000).toISOString() }), false, NOW);
    expect(seen).toBe(NOW - 5000);
    nextDue(watching, lease({ changed_at: new Date(NOW - 5000).toISOString() }), true, NOW);
    expect(seen).toBe(NOW);
  });
});
