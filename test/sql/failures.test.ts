/** What goes wrong and how it comes back: failures, parking, being gone, pausing, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gone, later, pause, refresh, resume, TidemarkError, unfollow } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig, settings } from "./rig.ts";
import { type ToyPull, toyKind, toySource, words } from "./toy.ts";

const DAY = 86_400_000;
const a = { source: "toy", kind: "page", key: "a" };

describe.each(stores)("trouble, on $store", ({ open }) => {
  let rig: Rig;
  let pulls: number;
  let pull: ToyPull;
  let failing: ToyPull;
  const well: ToyPull = async function* (p) {
    yield { put: [words.rows([{ word: p.resource.key, version: pulls }])], cursor: { at: pulls, done: true } };
    return undefined;
  };
  const page = toyKind({
    pull(p) {
      pulls += 1;
      return pull(p);
    },
  });
  /** Jumps to when it is due, without stepping through everything between. */
  const dueNow = () => rig.db.query(sql`update tidemark.due set due_at = greatest(tidemark.now(), not_before)`);

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(async () => {
    pulls = 0;
    pull = well;
    failing = async function* () {
      yield { cursor: { at: pulls, done: false } };
      throw new TidemarkError("UpstreamDown", "toy.example does not answer.");
    };
    await rig.reset(toySource({ page }));
    await rig.follow("a");
  });
  afterEach(() => rig.end());

  /** Eight failures in a row. */
  const park = async () => {
    pull = failing;
    rig.start();
    for (let n = 1; n <= settings.park_after; n += 1) {
      await rig.clock.until(() => pulls === n);
      await rig.clock.settle();
      await dueNow();
    }
    await rig.clock.until(async () => (await rig.resource("a")).status === "parked");
  };

  describe("a resource that keeps failing", () => {
    it("is tried again ever more rarely, with its reason", async () => {
      pull = failing;
      rig.start();
      await rig.clock.advance(1_000);
      expect(await rig.resource("a")).toMatchObject({
        failures: 1,
        status: "waiting",
        reason: "toy.example does not answer.",
      });
      expect((await rig.resource("a")).error).toMatchObject({ code: "UpstreamDown" });
      await rig.clock.advance(17_000);
      expect(pulls).toBe(2);
      await rig.clock.advance(26_000);
      expect(pulls).toBe(2);
      await rig.clock.advance(10_000);
      expect(pulls).toBe(3);
      pull = well;
      await rig.clock.advance(70_000);
      expect(await rig.resource("a")).toMatchObject({ failures: 0, reason: null, error: null, status: "waiting" });
    });

    it("keeps what it committed before it failed", async () => {
      pull = failing;
      rig.start();
      await rig.clock.advance(1_000);
      expect((await rig.resource("a")).cursor).toEqual({ at: 1, done: false });
    });

    it("is parked after eight failures and comes back by itself after the cool-off", async () => {
      await park();
      expect(pulls).toBe(8);
      const parked = await rig.resource("a");
      expect(parked.failures).toBe(8);
      expect(parked.due_in_ms).toBeGreaterThan(DAY - 60_000);
      pull = well;
      await rig.db.query(sql`update tidemark.due set due_at = tidemark.now(), not_before = tidemark.now()`);
      await rig.calm();
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0, reason: null });
    });

    it("comes back by hand: refresh clears the parking and its floor", async () => {
      await park();
      pull = well;
      await refresh(rig.db, a);
      await rig.calm();
      expect(pulls).toBe(9);
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0 });
    });

    it("comes back by resuming it", async () => {
      await park();
      pull = well;
      // The cool-off is no floor of politeness, and a pause does not make it one.
      await pause(rig.db, a);
      await resume(rig.db, a);
      await rig.calm();
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0 });
    });

    it.each([
      ["longer", 2 * DAY],
      ["shorter", DAY / 2],
    ])(
      "waits as long as its upstream asked when it is refreshed, where that is %s than the cool-off",
      async (_, wait_ms) => {
        const before = failing;
        failing = async function* (p) {
          if (pulls < settings.park_after) return yield* before(p);
          throw new TidemarkError("UpstreamForbids", "toy.example wants to be left alone.", { wait_ms });
        };
        await park();
        await refresh(rig.db, a);
        const { status, due_in_ms } = await rig.resource("a");
        expect(status).toBe("waiting");
        expect(due_in_ms).toBeGreaterThan(wait_ms - 60_000);
        expect(due_in_ms).toBeLessThanOrEqual(wait_ms);
      },
    );

    it("can be failing with words that no column could hold", async () => {
      // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
      pull = async function* () {
        throw new Error("odd: \u0000 \ud800");
      };
      rig.start();
      await rig.clock.advance(1_000);
      expect(await rig.resource("a")).toMatchObject({ failures: 1, reason: "odd: \ufffd \ufffd" });
    });
  });

  describe("a floor of politeness", () => {
    beforeEach(async () => {
      // biome-ignore lint/correctness/useYield: it is told to wait before there is anything to yield
      pull = async function* () {
        return later(60_000, "wait");
      };
      rig.start();
      await rig.clock.advance(1_000);
      expect(pulls).toBe(1);
    });

    it("is not overridden by a refresh", async () => {
      await refresh(rig.db, a);
      await rig.clock.advance(50_000);
      expect(pulls).toBe(1);
      await rig.clock.advance(10_000);
      expect(pulls).toBe(2);
    });

    it("is not overridden by resuming what was neither paused nor parked", async () => {
      await resume(rig.db, a);
      await rig.clock.advance(50_000);
      expect(pulls).toBe(1);
    });

    it("holds after it was paused, twice over, and resumed", async () => {
      await pause(rig.db, a);
      await pause(rig.db, a);
      await rig.clock.advance(10_000);
      await resume(rig.db, a);
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0 });
      await rig.clock.advance(40_000);
      expect(pulls).toBe(1);
      await rig.clock.advance(10_000);
      expect(pulls).toBe(2);
    });

    it("does not outlive its time: what is resumed later goes on at once", async () => {
      await pause(rig.db, a);
      await rig.clock.advance(70_000);
      expect(pulls).toBe(1);
      await resume(rig.db, a);
      expect((await rig.resource("a")).due_in_ms).toBeLessThanOrEqual(0);
      await rig.clock.until(() => pulls === 2);
      // Nor does it come back with the next pause.
      pull = well;
      await rig.clock.until(() => pulls === 3);
      await pause(rig.db, a);
      await resume(rig.db, a);
      expect((await rig.resource("a")).due_in_ms).toBeLessThanOrEqual(0);
      await rig.clock.until(() => pulls === 4);
    });

    it("that a pull asks for while it is being paused holds once it is resumed", async () => {
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      // biome-ignore lint/correctness/useYield: it is told to wait before there is anything to yield
      pull = async function* () {
        await gate;
        return later(60_000, "wait");
      };
      await rig.clock.until(() => pulls === 2);
      await pause(rig.db, a);
      go();
      await rig.clock.advance(10_000);
      await resume(rig.db, a);
      await rig.clock.advance(45_000);
      expect(pulls).toBe(2);
      await rig.clock.advance(10_000);
      expect(pulls).toBe(3);
    });
  });

  describe("pausing", () => {
    it("stops pulls until it is resumed, whatever else makes it due", async () => {
      await pause(rig.db, a);
      rig.start();
      await rig.clock.advance(60_000);
      expect(pulls).toBe(0);
      expect((await rig.resource("a")).status).toBe("paused");
      await expect(refresh(rig.db, a)).rejects.toThrow("toy page a is paused and cannot be refreshed.");
      await rig.follow("a");
      await rig.clock.advance(20_000);
      expect(pulls).toBe(0);
      await resume(rig.db, a);
      await rig.calm();
      expect(pulls).toBe(1);
    });

    it("lets a pull under way finish, and holds from then on", async () => {
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      pull = async function* (p) {
        await gate;
        yield* well(p);
        return undefined;
      };
      rig.start();
      await rig.clock.until(() => pulls === 1);
      await pause(rig.db, a);
      expect((await rig.resource("a")).status).toBe("paused");
      go();
      await rig.clock.advance(1_000);
      expect(rig.ended.map((e) => e.outcome)).toEqual(["fresh"]);
      expect(await rig.resource("a")).toMatchObject({ status: "paused", due_at: "infinity" });
    });
  });

  describe("what is gone upstream", () => {
    it("stays visible with its reason, is looked at again after a week, and comes back", async () => {
      // biome-ignore lint/correctness/useYield: there is nothing left to yield
      pull = async function* () {
        return gone("toy.example says 404");
      };
      rig.start();
      await rig.clock.advance(1_000);
      const there = await rig.resource("a");
      expect(there).toMatchObject({ status: "gone", reason: "toy.example says 404", failures: 0 });
      expect(there.due_in_ms).toBeCloseTo(7 * DAY, -4);
      pull = well;
      await dueNow();
      await rig.calm();
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", reason: null });
    });

    it("can be unfollowed", async () => {
      // biome-ignore lint/correctness/useYield: there is nothing left to yield
      pull = async function* () {
        return gone("404");
      };
      rig.start();
      await rig.clock.advance(1_000);
      await unfollow(rig.db, a);
      expect(await rig.resource("a")).toMatchObject({ status: "gone", due_at: "infinity" });
    });
  });
});
