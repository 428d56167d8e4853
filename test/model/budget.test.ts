/** Random takes, returns early and late, crashes, closings and pauses: the database agrees with the model, and nothing is ever overspent. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { close } from "../../src/engine/upstream-closing.ts";
import type { Budget } from "../../src/index.ts";
import { type Call, overspent } from "../../src/testing/replay.ts";
import { wall_ms } from "../../src/testing/virtual-clock.ts";
import { testEmbedded } from "../postgres.ts";
import { BudgetRig } from "../sql/budget-rig.ts";
import { BudgetModel } from "./budget-model.ts";

const shares = { init: 0.5, search: 0.2 };
const names = ["init", "search", ""];

type Command =
  | { do: "pass"; ms: number }
  | {
      do: "take";
      share: number;
      need: number;
      demand: number;
      ahead: number;
      late: number;
      wanted_ms: number;
      idle: boolean;
    }
  /** A grant is given back in part, or its worker dies with it. */
  | { do: "return"; part: number }
  /** A call that was let go and not made in time asks again: it gives back what it had. */
  | { do: "return late" }
  | { do: "crash" }
  | { do: "cost more"; units: number }
  | { do: "close"; ms: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 700 }) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      share: fc.nat(2),
      need: fc.integer({ min: 1, max: 2 }),
      demand: fc.integer({ min: 0, max: 30 }),
      ahead: fc.integer({ min: 0, max: 10 }),
      late: fc.double({ min: 0, max: 1, noNaN: true }),
      wanted_ms: fc.constantFrom(0, 0, 0, 2_048),
      idle: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("return" as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("return late" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cost more" as const), units: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), ms: fc.integer({ min: 1, max: 1_500 }) }) },
);

interface Grant {
  share: number;
  units: number;
  no: bigint;
  model_no: number;
  late: number;
  at_ms: number;
  life_ms: number;
  /** Nothing of it is sent. */
  idle: boolean;
}

/** Both after the same commands; sends are as late as each grant allows. */
async function play(
  rig: BudgetRig,
  budget: Extract<Budget, { shape: "pace" | "window" }>,
  commands: Command[],
): Promise<Call[]> {
  await rig.reset();
  await rig.declare({ "": budget }, { shares });
  const { room, capacity, reserved } = rig.rows[0]!;
  const model = new BudgetModel({ budget, room, capacity, reserved }, wall_ms(rig.clock));
  const sent: Call[] = [];
  let grants: Grant[] = [];
  let late: Grant[] = [];
  const send = (g: Grant) => sent.push({ at_ms: g.at_ms + g.life_ms * g.late, cost: g.units });
  const giveBack = async ({ share, no, model_no, at_ms }: Grant, units: number) => {
    const age_ms = rig.clock.elapsed_ms() - at_ms;
    await rig.giveBack(units, age_ms, no, names[share]);
    model.giveBack(share, units, model_no, age_ms);
  };
  for (const one of commands) {
    const grant = grants.at(-1);
    if (one.do === "pass") {
      await rig.clock.advance(one.ms);
      model.pass(one.ms);
      const now_ms = rig.clock.elapsed_ms();
      const over = grants.filter((g) => g.at_ms + g.life_ms <= now_ms);
      // What is left of a grant when its life is over has been sent before, or never will be.
      for (const old of over.filter((g) => !g.idle)) send(old);
      late = [...late, ...over.filter((g) => g.idle)];
      grants = grants.filter((g) => g.at_ms + g.life_ms > now_ms);
    } else if (one.do === "take") {
      const { share, wanted_ms } = one;
      // What costs more than its bucket holds has a rule of its own.
      const need = Math.min(one.need, Math.floor(capacity[share]!));
      const demand = Math.max(need, one.demand);
      const taken = await rig.take(names[share], need, { demand, ahead: one.ahead, wanted_ms });
      const life_ms = Math.max(budget.shape === "pace" ? rig.rows[0]!.life_ms * 0.8 : 500, wanted_ms);
      const units = model.take(share, need, demand, one.ahead, life_ms);
      expect(taken.granted[0]).toBeCloseTo(units, 6);
      expect(taken.wait_ms > 0).toBe(units === 0);
      if (units === 0) continue;
      expect(taken.life_ms).toBeLessThanOrEqual(life_ms);
      const at_ms = rig.clock.elapsed_ms();
      const no = taken.nos[0]!;
      grants.push({ ...one, units, no, model_no: model.window_no, at_ms, life_ms });
    } else if (one.do === "return" && grant) {
      grants.pop();
      const units = grant.units * one.part;
      await giveBack(grant, units);
      // The rest went out before it was given back.
      send({ ...grant, units: grant.units - units, life_ms: rig.clock.elapsed_ms() - grant.at_ms });
    } else if (one.do === "return late" && late.length > 0) {
      const old = late.shift()!;
      await giveBack(old, old.units);
    } else if (one.do === "crash" && grant) {
      grants.pop();
    } else if (one.do === "cost more" && grant) {
      await giveBack(grant, -one.units);
    } else if (one.do === "close") {
      await close(rig.db, { what: "budget", name: "u", wait_ms: one.ms, reason: "told to" });
      model.close(one.ms);
    }
  }
  for (const grant of grants.filter((g) => !g.idle)) send(grant);
  return sent.sort((a, b) => a.at_ms - b.at_ms);
}

const open = async () => new BudgetRig((await testEmbedded({ thread: false })).db);
const most = { numRuns: 10, interruptAfterTimeLimit: 60_000 };
const commands = fc.array(command, { minLength: 20, maxLength: 70 });

it.each([
  // The second has room for one call of each share, and nothing is drawn ahead.
  { shape: "pace", per_second: 20, burst: 40 } as const,
  { shape: "pace", per_second: 40, burst: 4 } as const,
])(
  "a pace agrees with its model, and in any stretch of time no more is sent than declared: %o",
  {
    timeout: 180_000,
  },
  async (budget) => {
    const rig = await open();
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        expect(overspent(await play(rig, budget, all), budget)).toBeNull();
      }),
      most,
    );
  },
);

it("a window agrees with its model, and no stretch of its period holds more than its allowance", {
  timeout: 180_000,
}, async () => {
  const rig = await open();
  const budget = { shape: "window", most: 50, period_ms: 3_000 } as const;
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      expect(overspent(await play(rig, budget, all), budget)).toBeNull();
    }),
    most,
  );
});

it("a reserve is there when it is asked for, and one share alone gets the full rate", {
  timeout: 120_000,
}, async () => {
  const rig = await open();
  const budget = { shape: "pace", per_second: 20, burst: 40 } as const;
  const flood = fc.array(fc.record({ share: fc.constantFrom("init", ""), ms: fc.integer({ min: 1, max: 300 }) }), {
    minLength: 5,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(flood, async (asks) => {
      await rig.reset();
      await rig.declare({ "": budget }, { shares });
      const reserve = rig.rows[0]!.capacity[1]!;
      for (const { share, ms } of asks) {
        await rig.take(share, 1, { demand: 1_000, ahead: 1_000 });
        await rig.clock.advance(ms);
      }
      expect((await rig.take("search", Math.floor(reserve))).wait_ms).toBe(0);
      let got = 0;
      const begun_ms = rig.clock.elapsed_ms();
      // Others are full again after their capacity at their own rate; from then on everything overflows to the one that asks.
      await rig.clock.advance(3_000);
      await rig.take("init", 1, { demand: 1_000 });
      for (let n = 0; n < 20; n += 1) {
        await rig.clock.advance(100);
        const { granted } = await rig.take("init", 1, { demand: 1_000 });
        got += granted[0]!;
      }
      expect(rig.clock.elapsed_ms() - begun_ms).toBe(5_000);
      expect(got).toBeGreaterThan(20 * 2 * 0.95);
    }),
    { numRuns: 8, interruptAfterTimeLimit: 60_000 },
  );
});
