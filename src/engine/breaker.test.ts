/** Checks the breaker's table: three different resources open it, one never does, and only the probe closes it again. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Breaker,
  type BreakerEvent,
  type BreakerState,
  PROBE_MS,
  strikeWait_ms,
  transition,
  transitions,
} from "./breaker.ts";

const well: Breaker = {
  state: "closed",
  failing: [],
  strikes: 0,
  struck_ms: null,
  closed_ms: 0,
  well_by: null,
  well_ms: null,
  other_well_ms: null,
};

const by = (resource: bigint, probe = false) => ({ resource, probe });
/** The breaker after an event, if its change is written. */
const became = (b: Breaker, event: BreakerEvent, resource = 1n, probe = false): Breaker => {
  const { next } = transition(b, event, by(resource, probe), 0.5);
  if (!next) return b;
  const { state, failing, strikes, struck, closed_ms } = next;
  return { ...b, state, failing, strikes, struck_ms: struck ? 0 : b.struck_ms, closed_ms: closed_ms ?? b.closed_ms };
};

describe("a breaker", () => {
  it("has a step for every event in every state", () => {
    const states: BreakerState[] = ["closed", "open", "probing"];
    const events: BreakerEvent[] = ["succeeded", "failed", "refused", "asked", "left"];
    expect(Object.keys(transitions).sort()).toEqual(states.toSorted());
    for (const state of states) expect(Object.keys(transitions[state]).sort()).toEqual(events.toSorted());
  });

  it("opens when three different resources failed and nobody succeeded between", () => {
    let b = became(became(well, "failed", 1n), "failed", 2n);
    expect(b.state).toBe("closed");
    b = became(b, "failed", 3n);
    expect(b).toMatchObject({ state: "open", strikes: 2, closed_ms: 120_000 });
  });

  it("is never opened by a single bad resource, nor by three with a success between", () => {
    let b = well;
    for (let n = 0; n < 50; n += 1) b = became(b, "failed", 7n);
    expect(b).toMatchObject({ state: "closed", failing: [7n] });
    for (let n = 0n; n < 50n; n += 1n) b = became(became(b, "failed", n), "succeeded", n + 1n);
    expect(b).toMatchObject({ state: "closed", failing: [] });
  });

  it("opens at once when our credentials are refused", () => {
    expect(became(well, "refused")).toMatchObject({ state: "open" });
  });

  it("lets one probe through when its time is over, and the next only when that one did not come back", () => {
    const open = { ...well, state: "open" as const, closed_ms: 5_000 };
    expect(transition(open, "asked", by(1n), 0).next).toBeNull();
    const probing = became({ ...open, closed_ms: 0 }, "asked");
    expect(probing).toMatchObject({ state: "probing", closed_ms: PROBE_MS });
    expect(transition(probing, "asked", by(2n), 0).next).toBeNull();
    expect(transition({ ...probing, closed_ms: 0 }, "asked", by(2n), 0).next).toMatchObject({ state: "probing" });
  });

  it("closes when the probe succeeds, and waits longer when it fails", () => {
    const probing = { ...well, state: "probing" as const, failing: [1n, 2n, 3n], strikes: 1, closed_ms: 1_000 };
    expect(became(probing, "succeeded", 4n, true)).toMatchObject({ state: "closed", failing: [], closed_ms: 0 });
    expect(became(probing, "failed", 4n, true)).toMatchObject({ state: "open", strikes: 2, closed_ms: 120_000 });
    expect(became(probing, "left", 4n, true)).toMatchObject({ state: "open", closed_ms: 0 });
  });

  it("takes nobody's word but the probe's while it is not closed", () => {
    for (const state of ["open", "probing"] as const)
      for (const event of ["succeeded", "failed", "refused", "left"] as const)
        expect(
          transition({ ...well, state, closed_ms: 1_000 }, event, by(1n), 0).next,
          `${event} while ${state}`,
        ).toBeNull();
  });

  describe("charges a failure", () => {
    const recent = { ...well, well_by: 2n, well_ms: 1_000 };
    const charged = (b: Breaker, resource = 1n) => transition(b, "failed", by(resource), 0.5).charged;

    it("only to a resource next to which another one succeeded a short while ago", () => {
      expect(charged(recent)).toBe(true);
      expect(charged(well)).toBe(false);
      expect(charged({ ...recent, well_ms: 3600_000 })).toBe(false);
      expect(charged({ ...recent, well_by: 1n })).toBe(false);
      expect(charged({ ...recent, well_by: 1n, other_well_ms: 2_000 })).toBe(true);
    });

    it("to nobody once another one fails, too", () => {
      expect(charged({ ...recent, failing: [1n] })).toBe(true);
      expect(charged({ ...recent, failing: [3n] })).toBe(false);
      expect(charged({ ...recent, failing: [3n, 4n] })).toBe(false);
      for (const state of ["open", "probing"] as const) expect(charged({ ...recent, state })).toBe(false);
    });

    it("or else makes it wait ever longer, those that fail together for one strike", () => {
      const first = transition(well, "failed", by(1n), 0.5);
      expect(first).toMatchObject({ wait_ms: 60_000, next: { strikes: 1, struck: true } });
      const again = { ...well, strikes: 1, struck_ms: 100, failing: [1n] };
      expect(transition(again, "failed", by(2n), 0.5)).toMatchObject({ wait_ms: 60_000, next: { strikes: 1 } });
      const later = { ...again, struck_ms: 60_000 };
      expect(transition(later, "failed", by(1n), 0.5)).toMatchObject({ wait_ms: 120_000, next: { strikes: 2 } });
    });
  });

  it("waits a minute, doubling to a day, a tenth either way", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (strikes, odd) => {
          const wait_ms = strikeWait_ms(strikes, odd);
          const middle = Math.min(60_000 * 2 ** (strikes - 1), 86_400_000);
          expect(wait_ms).toBeGreaterThanOrEqual(middle * 0.9 - 1);
          expect(wait_ms).toBeLessThanOrEqual(Math.min(middle * 1.1, 86_400_000) + 1);
        },
      ),
    );
  });
});
