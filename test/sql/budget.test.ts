/** Taking from budgets in the database: paces, windows and their shares, on both databases. */
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { correctBudget, declareBudgets } from "../../src/engine/budget.ts";
import { readBudgets } from "../../src/engine/spent.ts";
import { stores } from "../postgres.ts";
import { BudgetRig } from "./budget-rig.ts";

const shares = { init: 0.5, search: 0.2 };

describe.each(stores)("a budget, on $store", ({ open }) => {
  let rig: BudgetRig;

  beforeAll(async () => {
    rig = new BudgetRig((await open()).db);
  });
  beforeEach(() => rig.reset());

  describe("with a pace", () => {
    // The room is the burst without what half a second of grants may bring late: 10 - 5 / s * 0.5 s.
    beforeEach(() => rig.declare({ "": { shape: "pace", per_second: 5, burst: 10 } }));

    it("lets its burst through, then one call each 200 ms", async () => {
      expect(await rig.drain()).toEqual({ n: 7, wait_ms: expect.closeTo(100) });
      await rig.clock.advance(100);
      expect(await rig.drain()).toEqual({ n: 1, wait_ms: expect.closeTo(200) });
      await rig.clock.advance(199);
      expect((await rig.drain()).n).toBe(0);
      await rig.clock.advance(1_000);
      expect((await rig.drain()).n).toBe(5);
    });

    it("gets back what was not spent, and never holds more than its room", async () => {
      await rig.drain();
      await rig.giveBack(3, 0);
      expect((await rig.drain()).n).toBe(3);
      await rig.clock.advance(500);
      await rig.giveBack(300, 500);
      expect((await rig.drain()).n).toBe(7);
    });

    it("that gets back what was taken long ago gives no more in any moment than its burst", async () => {
      // Calls that were let go evenly over four seconds, and none of them was sent: a name was looked up all the time.
      for (let n = 0; n < 20; n += 1) {
        expect((await rig.take()).wait_ms).toBe(0);
        await rig.clock.advance(200);
      }
      let sent = 0;
      for (let n = 0; n < 20; n += 1) {
        await rig.giveBack(1, 4_000 - n * 200);
        if ((await rig.take()).wait_ms === 0) sent += 1;
      }
      expect(sent).toBeGreaterThan(5);
      expect(sent).toBeLessThanOrEqual(10);
    });

    it("counts a grant for as long as it was wanted to live, and refills no faster than that", async () => {
      const { life_ms } = await rig.take("", 7, { wanted_ms: 8_000 });
      expect(life_ms).toBe(8_000);
      // Sent at the last moment, it leaves room for three others beside it.
      await rig.clock.advance(8_000);
      expect((await rig.drain()).n).toBe(3);
      await rig.clock.advance(2_100);
      expect((await rig.drain()).n).toBeGreaterThan(0);
    });

    it("remembers what a call cost beyond its estimate", async () => {
      await rig.take();
      await rig.giveBack(-10, 0);
      expect(await rig.drain()).toEqual({ n: 0, wait_ms: expect.closeTo(900) });
    });

    it("lets a call through that costs more than it holds when it is full, and makes the others wait for it", async () => {
      expect((await rig.take("", 17.5)).wait_ms).toBe(0);
      expect((await rig.take()).wait_ms).toBeCloseTo(2_200);
      expect((await rig.take("", 17.5)).wait_ms).toBeCloseTo(3_500);
    });

    it("draws ahead at most a quarter of what is left", async () => {
      const { granted } = await rig.take("", 1, { ahead: 100 });
      expect(granted[0]).toBeCloseTo(1 + 6.5 / 4);
    });

    it("gives those who wait as much as there is", async () => {
      expect((await rig.take("", 1, { demand: 100 })).granted).toEqual([7.5]);
    });

    it("begins empty when its declaration changed, and as it was when it did not", async () => {
      await rig.drain();
      await declareBudgets(rig.db, rig.rows);
      expect((await rig.drain()).n).toBe(0);
      await rig.clock.advance(60_000);
      await rig.declare({ "": { shape: "pace", per_second: 5, burst: 20 } });
      expect((await rig.drain()).n).toBe(0);
    });
  });

  describe("with a window", () => {
    beforeEach(() => rig.declare({ "": { shape: "window", most: 10, period_ms: 60_000 } }));

    it("is spent as fast as useful, and waits for its end", async () => {
      const { n, wait_ms } = await rig.drain();
      expect(n).toBe(10);
      // A sixteenth of the period, and half a second in which the calls may leave.
      expect(wait_ms).toBeGreaterThan(60_500);
      expect(wait_ms).toBeLessThan(60_500 + 60_000 / 16 + 1);
      await rig.clock.advance(60_500);
      expect((await rig.drain()).n).toBe(0);
      await rig.clock.advance(wait_ms - 60_500);
      expect((await rig.drain()).n).toBe(10);
    });

    it("of which nobody told the end allows no more across its own border", async () => {
      await rig.take();
      await rig.clock.advance(59_900);
      expect((await rig.drain()).n).toBe(9);
      await rig.clock.advance(200);
      // Its own end has passed. Only the first call is a period old.
      expect((await rig.drain()).n).toBe(0);
      await rig.clock.advance(4_500);
      expect((await rig.drain()).n).toBe(1);
      await rig.clock.advance(55_000);
      expect((await rig.drain()).n).toBe(0);
      await rig.clock.advance(5_000);
      expect((await rig.drain()).n).toBe(9);
    });

    it("gives back what was drawn lately, and counts what was spent before as long as it should", async () => {
      await rig.take("", 4);
      await rig.clock.advance(30_000);
      const { nos } = await rig.take("", 6);
      await rig.clock.advance(400);
      await rig.giveBack(5, 400, nos[0]);
      expect((await rig.drain()).n).toBe(5);
      await rig.clock.advance(35_000);
      expect((await rig.drain()).n).toBe(4);
    });

    it("follows the upstream's own reset and its own count", async () => {
      const { nos } = await rig.take();
      await correctBudget(rig.db, "u", nos[0]!, { limit: 10, remaining: 4, reset_ms: 20_000 });
      expect(await rig.drain()).toEqual({ n: 4, wait_ms: expect.closeTo(20_000) });
      await rig.clock.advance(20_000);
      expect((await rig.drain()).n).toBe(10);
    });

    it("never allows more than the upstream says, nor more than was declared", async () => {
      const { nos } = await rig.take();
      await correctBudget(rig.db, "u", nos[0]!, { limit: 5, remaining: 4, reset_ms: null });
      expect((await rig.drain()).n).toBe(4);
      await correctBudget(rig.db, "u", nos[0]!, { limit: 5_000, remaining: 4_995, reset_ms: null });
      expect((await rig.drain()).n).toBe(5);
    });

    it("does not believe what an answer from an earlier window says", async () => {
      const { nos } = await rig.take();
      await rig.clock.advance(60_000);
      await rig.take();
      await correctBudget(rig.db, "u", nos[0]!, { limit: 10, remaining: 0, reset_ms: 1 });
      await rig.giveBack(1, 60_000, nos[0]);
      expect((await rig.drain()).n).toBe(8);
    });

    it("keeps each share's reserve, and releases what is unused in proportion to the time gone", async () => {
      await rig.declare({ "": { shape: "window", most: 100, period_ms: 100_000 } }, { shares });
      await rig.clock.advance(1);
      expect((await rig.drain("init")).n).toBe(50);
      await rig.clock.advance(50_000);
      // 30 unnamed and 20 for search were kept; half of each is free now.
      expect((await rig.drain("init")).n).toBe(25);
      expect((await rig.drain("search")).n).toBe(10);
      // 15 are left, and the last millisecond keeps a little of one.
      await rig.clock.advance(49_998);
      expect((await rig.drain("init")).n).toBe(14);
    });

    it("says when a released reserve will do", async () => {
      await rig.declare({ "": { shape: "window", most: 100, period_ms: 100_000 } }, { shares });
      const { wait_ms } = await rig.drain("init");
      expect(wait_ms).toBeCloseTo(2_000);
      await rig.clock.advance(wait_ms);
      expect((await rig.take("init")).wait_ms).toBe(0);
    });
  });

  describe("with shares of a pace", () => {
    // Half a second of grants is kept off the burst: 100 of 110 units, of which each share has its part.
    beforeEach(() => rig.declare({ "": { shape: "pace", per_second: 20, burst: 110 } }, { shares }));

    it("gives each share its own bucket, which nobody else can empty", async () => {
      expect((await rig.drain("init")).n).toBe(50);
      expect((await rig.drain("")).n).toBe(30);
      expect((await rig.drain("search")).n).toBe(20);
      await rig.clock.advance(1_000);
      expect((await rig.drain("init")).n).toBe(10);
      expect((await rig.drain("search")).n).toBe(4);
    });

    it("lends what overflows, so that one share alone gets the full rate", async () => {
      await rig.drain("init");
      await rig.clock.advance(1_000);
      expect((await rig.drain("init")).n).toBe(20);
    });

    it("lends nothing from a bucket that is not full", async () => {
      await rig.drain("search");
      await rig.drain("init");
      await rig.clock.advance(1_000);
      // 10 of its own, 6 of the unnamed that overflow; 4 go to search.
      expect((await rig.drain("init")).n).toBe(16);
      expect((await rig.drain("search")).n).toBe(4);
    });

    it("says when the overflow will do", async () => {
      await rig.drain("init");
      await rig.drain("search");
      const { wait_ms } = await rig.take("init", 32);
      expect(wait_ms).toBeGreaterThan(1_900);
      await rig.clock.advance(wait_ms - 10);
      expect((await rig.take("init", 32)).wait_ms).toBeGreaterThan(0);
      await rig.clock.advance(10);
      expect((await rig.take("init", 32)).wait_ms).toBe(0);
    });

    it("shows what is left, kept and lent, and who waits", async () => {
      await rig.drain("init");
      await rig.clock.advance(500);
      const [status] = await readBudgets(rig.db);
      expect(status).toMatchObject({ budget: "u", shape: "pace", per_second: 20, used: null, closed_until: null });
      expect(status!.lent).toBeCloseTo(5);
      expect(status!.reserved).toBeCloseTo(5 + 20);
      expect(status!.shares.map((s) => [s.share, s.waiting])).toEqual([
        ["init", true],
        ["search", false],
        ["", false],
      ]);
    });
  });

  it("of several takes from all or from none", async () => {
    await rig.declare({
      requests: { shape: "window", most: 10, period_ms: 60_000 },
      tokens: { shape: "window", most: 100, period_ms: 60_000 },
    });
    expect((await rig.take("", [1, 90])).wait_ms).toBe(0);
    expect(await rig.take("", [1, 20])).toMatchObject({ refused: "u/tokens", why: "spent", granted: [0, 0] });
    expect((await rig.take("", [9, 10])).wait_ms).toBe(0);
    expect(await rig.take("", [1, 0])).toMatchObject({ refused: "u/requests" });
  });

  it("is taken from and given back to by the release before, too, which says less", async () => {
    await rig.declare({ "": { shape: "window", most: 10, period_ms: 60_000 } });
    const zero = sql`array[0]::float8[]`;
    const { rows } = await rig.db.query<{ granted: number[]; nos: bigint[] }>(sql`
      select granted, nos from tidemark.take('u', false, array['u'], '', array[1]::float8[], array[4]::float8[], ${zero}, ${zero},
                                             array[0]::bigint[], 10000)`);
    expect(rows[0]!.granted).toEqual([4]);
    await rig.db.query(
      sql`select tidemark.give_back(array['u'], '', array[3]::float8[], ${rows[0]!.nos}::bigint[])::text as done`,
    );
    expect((await rig.drain()).n).toBe(9);
  });

  it("that nobody declared yet takes nothing", async () => {
    await rig.declare({ "": { shape: "pace", per_second: 1, burst: 2 } });
    rig.rows = [...rig.rows, { ...rig.rows[0]!, budget: "unknown" }];
    expect(await rig.take()).toMatchObject({ known: 1, granted: [0, 0] });
    rig.rows = rig.rows.slice(0, 1);
    expect((await rig.drain()).n).toBe(1);
  });
});
