/** Checks when resources fall due: within bounds, spread over the period, and back in their slots after a downtime. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ScheduleFacts } from "../contract.ts";
import { adaptive, decay, every, phaseOf } from "./schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = 1_763_000_000_000;

const facts = (given: Partial<ScheduleFacts> = {}): ScheduleFacts => ({
  now_ms: NOW,
  phase: 0,
  fresh_at_ms: NOW,
  changed_at_ms: null,
  viewed_at_ms: null,
  ...given,
});

const phase = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const period = fc.integer({ min: 1, max: 400 * DAY });
const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });

describe("a phase", () => {
  it("belongs to a resource for ever", () => {
    expect(phaseOf("web", "page", "a")).toBe(phaseOf("web", "page", "a"));
    expect(phaseOf("web", "page", "a")).toBeCloseTo(0.8163, 4);
  });

  it("does not confuse names that only differ in where they are cut", () => {
    expect(phaseOf("ab", "c", "d")).not.toBe(phaseOf("a", "bc", "d"));
  });

  it("is at least 0 and below 1 for any name", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (source, kind, key) => {
        const p = phaseOf(source, kind, key);
        return p >= 0 && p < 1;
      }),
    );
  });
});

describe("every", () => {
  it("comes again after at least a tenth of the period and at most 1.1 periods", () => {
    fc.assert(
      fc.property(period, phase, moment, (period_ms, p, now_ms) => {
        const { wait_ms } = every(period_ms).next(facts({ now_ms, phase: p, fresh_at_ms: now_ms }));
        // A slot is where now is written in doubles: a microsecond either way is no difference.
        expect(wait_ms).toBeGreaterThanOrEqual(period_ms * 0.1 - 0.01);
        expect(wait_ms).toBeLessThanOrEqual(period_ms * 1.1 + 0.01);
      }),
    );
  });

  it("never waits a negative time, however long ago the resource was fresh", () => {
    fc.assert(
      fc.property(period, phase, moment, fc.integer({ min: -DAY, max: 1000 * DAY }), (period_ms, p, now_ms, ago) => {
        expect(
          every(period_ms).next(facts({ now_ms, phase: p, fresh_at_ms: now_ms - ago })).wait_ms,
        ).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("settles on one moment of the period, for ever", () => {
    const daily = every("1d");
    let now_ms = NOW;
    const slots: number[] = [];
    for (let i = 0; i < 30; i += 1) {
      now_ms += daily.next(facts({ now_ms, fresh_at_ms: now_ms, phase: 0.25 })).wait_ms;
      slots.push(now_ms % DAY);
    }
    expect(new Set(slots)).toEqual(new Set([0.25 * DAY]));
  });

  it("keeps its slot when pulls end late", () => {
    const hourly = every("1h");
    let now_ms = NOW;
    for (let i = 0; i < 50; i += 1) {
      now_ms += hourly.next(facts({ now_ms, fresh_at_ms: now_ms, phase: 0.5 })).wait_ms;
      expect(now_ms % HOUR).toBe(0.5 * HOUR);
      now_ms += (i % 7) * MINUTE;
    }
  });

  it("spreads ten thousand daily resources evenly over the day", () => {
    const daily = every("1d");
    const hours = new Array<number>(24).fill(0);
    for (let i = 0; i < 10_000; i += 1) {
      const p = phaseOf("web", "page", `https://example.com/${i}`);
      const at = NOW + daily.next(facts({ phase: p })).wait_ms;
      hours[Math.floor((at % DAY) / HOUR)]! += 1;
    }
    const even = 10_000 / 24;
    for (const n of hours) expect(Math.abs(n - even) / even).toBeLessThan(0.2);
  });

  it("brings resources back to their slots after a downtime that made all of them late", () => {
    const daily = every("1d");
    const pulled_ms = NOW + 5 * DAY + 3 * HOUR;
    fc.assert(
      fc.property(phase, (p) => {
        const at = pulled_ms + daily.next(facts({ now_ms: pulled_ms, fresh_at_ms: pulled_ms, phase: p })).wait_ms;
        const off = Math.abs((at % DAY) - p * DAY);
        expect(Math.min(off, DAY - off)).toBeLessThan(1);
      }),
    );
  });

  it("refuses what is no duration", () => {
    for (const wrong of ["", "soon", "0s", -1, 0]) expect(() => every(wrong)).toThrow(/is not a duration/);
  });

  it("says how often", () => {
    expect(every("90s").next(facts()).why).toBe("every 1m30s");
    expect(every("90s").period_ms).toBe(90_000);
  });
});

describe("decay", () => {
  const schedule = decay([
    { idle: "7d", every: "1d" },
    { idle: "1d", every: "1h" },
    { idle: "1h", every: "5m" },
  ]);
  const waits = (idle_ms: number | null) =>
    schedule.next(facts({ viewed_at_ms: idle_ms === null ? null : NOW - idle_ms })).wait_ms;

  it("takes the first tier that still holds, whatever order the tiers were given in", () => {
    expect(waits(0)).toBe(5 * MINUTE);
    expect(waits(HOUR)).toBe(5 * MINUTE);
    expect(waits(HOUR + 1)).toBe(HOUR);
    expect(waits(DAY)).toBe(HOUR);
    expect(waits(DAY + 1)).toBe(DAY);
    expect(waits(7 * DAY)).toBe(DAY);
  });

  it("is rarest for what nobody looks at any more, or ever did", () => {
    expect(waits(7 * DAY + 1)).toBe(30 * DAY);
    expect(waits(null)).toBe(30 * DAY);
    expect(decay([{ idle: "1d", every: "1h" }], "90d").next(facts()).wait_ms).toBe(90 * DAY);
  });

  it("treats a view that seems to lie in the future as one that happened now", () => {
    expect(waits(-HOUR)).toBe(5 * MINUTE);
  });

  it("counts from when the resource was fresh, and never waits a negative time", () => {
    const late = { viewed_at_ms: NOW, fresh_at_ms: NOW - 4 * MINUTE };
    expect(schedule.next(facts(late)).wait_ms).toBe(MINUTE);
    expect(schedule.next(facts({ viewed_at_ms: NOW, fresh_at_ms: NOW - DAY })).wait_ms).toBe(0);
  });

  it("is never rarer for what was looked at later", () => {
    fc.assert(
      fc.property(fc.nat(10 * DAY), fc.nat(10 * DAY), (a, b) => waits(Math.min(a, b)) <= waits(Math.max(a, b))),
    );
  });

  it("says why", () => {
    expect(schedule.next(facts({ viewed_at_ms: NOW })).why).toBe("every 5m, last viewed within 1h");
    expect(schedule.next(facts()).why).toBe("every 30d, as nobody looks at it");
  });
});

describe("adaptive", () => {
  const schedule = adaptive("10m", "1d");
  const waits = (still_ms: number | null, p = 0.5) =>
    schedule.next(facts({ phase: p, changed_at_ms: still_ms === null ? null : NOW - still_ms })).wait_ms;

  it("stays between its bounds for any history", () => {
    fc.assert(
      fc.property(fc.option(fc.nat(1000 * DAY)), phase, (still_ms, p) => {
        const wait_ms = waits(still_ms, p);
        return wait_ms >= 10 * MINUTE && wait_ms <= DAY;
      }),
    );
  });

  it("is shorter after a change and grows with every quiet hour", () => {
    expect(waits(0)).toBe(10 * MINUTE);
    expect(waits(null)).toBe(10 * MINUTE);
    expect(waits(10 * HOUR)).toBe(5 * HOUR);
    expect(waits(100 * DAY)).toBe(DAY);
    fc.assert(
      fc.property(fc.nat(9 * DAY), fc.nat(9 * DAY), phase, (a, b, p) => {
        return waits(Math.min(a, b), p) <= waits(Math.max(a, b), p);
      }),
    );
  });

  it("keeps apart by a tenth what changed together", () => {
    expect(waits(10 * HOUR, 0)).toBeCloseTo(4.5 * HOUR, 0);
    expect(waits(10 * HOUR, 0.999999)).toBeCloseTo(5.5 * HOUR, -3);
  });

  it("takes off the time since the resource was fresh, and treats a change in the future as one now", () => {
    const late = facts({ phase: 0.5, changed_at_ms: NOW - 10 * HOUR, fresh_at_ms: NOW - HOUR });
    expect(schedule.next(late).wait_ms).toBe(4 * HOUR);
    expect(schedule.next(facts({ fresh_at_ms: NOW - 2 * DAY })).wait_ms).toBe(0);
    expect(waits(-DAY)).toBe(10 * MINUTE);
  });
});
