/** Calls at once, gaps, closings and the order of locks, on both databases. */
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { endFlights, renewFlights, takeBudgets, takeFlights } from "../../src/engine/budget.ts";
import { readBudgets } from "../../src/engine/spent.ts";
import { close } from "../../src/engine/upstream-closing.ts";
import { stores } from "../postgres.ts";
import { BudgetRig } from "./budget-rig.ts";

describe.each(stores)("a budget, on $store", ({ open }) => {
  let rig: BudgetRig;

  beforeAll(async () => {
    rig = new BudgetRig((await open()).db);
  });
  beforeEach(() => rig.reset());

  describe("of calls at once", () => {
    const take = (most: number) => takeFlights(rig.db, "u/at once", most, 10_000);
    beforeEach(() => rig.declare({}, { concurrency: 3 }));

    it("lets so many out, however many are asked for at once, and the next when one has ended", async () => {
      const first = (await take(2))!;
      expect(first).toHaveLength(2);
      expect(await take(5)).toHaveLength(1);
      expect(await take(1)).toEqual([]);
      await endFlights(rig.db, first.slice(0, 1));
      expect(await take(5)).toHaveLength(1);
      expect(await takeFlights(rig.db, "nobody's", 1, 10_000)).toBeNull();
    });

    it("says that somebody waits for it", async () => {
      await take(3);
      await take(1);
      expect(await readBudgets(rig.db)).toMatchObject([{ budget: "u/at once", used: 3, shares: [{ waiting: true }] }]);
    });

    it("counts a dead worker's calls no longer than they live", async () => {
      const [one] = (await take(3))!;
      await rig.clock.advance(8_000);
      expect((await renewFlights(rig.db, [one!], 10_000)).size).toBe(1);
      await rig.clock.advance(2_001);
      expect(await take(5)).toHaveLength(2);
      await rig.clock.advance(8_000);
      expect((await renewFlights(rig.db, [one!], 10_000)).size).toBe(0);
    });
  });

  it("with a gap lets one call out at a time, and the next only some time after its answer", async () => {
    await rig.declare({ "": { shape: "gap", gap_ms: 1_000 } });
    const { flights } = await rig.take();
    await rig.clock.advance(5_000);
    expect(await rig.take()).toMatchObject({ why: "out" });
    await endFlights(rig.db, flights);
    expect((await rig.take()).wait_ms).toBeCloseTo(1_000);
    await rig.clock.advance(999);
    expect((await rig.take()).wait_ms).toBeGreaterThan(0);
    await rig.clock.advance(11);
    expect((await rig.take()).wait_ms).toBe(0);
  });

  describe("that is closed", () => {
    beforeEach(async () => {
      await rig.declare({ "": { shape: "window", most: 10, period_ms: 60_000 } });
      await rig.take();
    });

    it("lets nothing through until the time is over, and says why", async () => {
      await close(rig.db, { what: "budget", name: "u", wait_ms: 5_000, reason: "HTTP 429" });
      expect(await rig.take()).toMatchObject({ why: "closed", said: "HTTP 429", refused: "u" });
      expect((await readBudgets(rig.db))[0]).toMatchObject({ closed_reason: "HTTP 429", used: 1, left: 9 });
      await rig.clock.advance(5_000);
      expect((await rig.take()).wait_ms).toBe(0);
    });

    it("is closed with its upstream, but for the one call that tests it", async () => {
      await close(rig.db, { what: "upstream", name: "u", wait_ms: 5_000, reason: "HTTP 503" });
      expect(await rig.take()).toMatchObject({ why: "shut", said: "HTTP 503", refused: "u" });
      expect((await rig.take("", 1, { probe: true })).wait_ms).toBe(0);
    });

    it("for a time of our own is closed ever longer, until it was quiet for half an hour", async () => {
      const closing = { what: "budget", name: "u", wait_ms: null, reason: "HTTP 429" } as const;
      const waits: number[] = [];
      for (let n = 0; n < 14; n += 1) {
        const wait_ms = await close(rig.db, closing);
        expect(await close(rig.db, closing)).toBeCloseTo(wait_ms);
        waits.push(wait_ms);
        await rig.clock.advance(wait_ms);
      }
      for (const [n, wait_ms] of waits.entries()) {
        const middle = Math.min(60_000 * 2 ** n, 86_400_000);
        expect(wait_ms).toBeGreaterThanOrEqual(middle * 0.9);
        expect(wait_ms).toBeLessThanOrEqual(middle * 1.1);
      }
      await rig.clock.advance(30 * 60_000 + 1);
      expect(await close(rig.db, closing)).toBeLessThanOrEqual(66_000);
    });

    it("is not opened earlier by a shorter closing", async () => {
      await close(rig.db, { what: "budget", name: "u", wait_ms: 60_000, reason: "long" });
      expect(await close(rig.db, { what: "budget", name: "u", wait_ms: 1_000, reason: "short" })).toBeCloseTo(60_000);
      expect(await rig.take()).toMatchObject({ said: "long" });
    });
  });

  it("locks in one order, whoever takes: two that ask for the same in another order both get it", async () => {
    await rig.declare({
      a: { shape: "pace", per_second: 1, burst: 1_000 },
      b: { shape: "pace", per_second: 1, burst: 1_000 },
    });
    const asks = Array.from({ length: 40 }, (_, i) => {
      const names = i % 2 === 0 ? ["u/a", "u/b"] : ["u/b", "u/a"];
      const one = {
        upstream: "u",
        probe: false,
        budgets: names,
        share: "",
        need: [1, 1],
        demand: [1, 1],
        ahead: [0, 0],
      };
      return takeBudgets(rig.db, {
        ...one,
        back: [0, 0],
        back_no: [0n, 0n],
        back_age_ms: 0,
        flight_ms: 1,
        wanted_ms: 0,
      });
    });
    for (const taken of await Promise.all(asks)) expect(taken.granted).toEqual([1, 1]);
    const { rows: left } = await rig.db.query<{ total: number }>(sql`select total from tidemark.budget`);
    expect(left.map((r) => r.total)).toEqual([40, 40]);
  });
});
