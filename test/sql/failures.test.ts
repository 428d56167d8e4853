/** What goes wrong and how it comes back: failures, parking, death, hanging, being gone, pausing, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gone, later, pause, refresh, resume, TidemarkError, unfollow } from "../../src/index.ts";
import { bothStores } from "../postgres.ts";
import { Rig, settings } from "./rig.ts";
import { type ToyPull, toyKind, toySource, words } from "./toy.ts";

const DAY = 86_400_000;
const a = { source: "toy", kind: "page", key: "a" };

bothStores("trouble", (open) => {
  let rig: Rig;
  let pulls: number;
  let pull: ToyPull;
  const failing: ToyPull = async function* () {
    yield { cursor: { at: pulls, done: false } };
    throw new TidemarkError("UpstreamDown", "toy.example does not answer.");
  };
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
      await resume(rig.db, a);
      await rig.calm();
      expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0 });
    });

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

  describe("a worker that dies", () => {
    const hanging: ToyPull = async function* (p) {
      yield { put: [words.rows([{ word: "half", version: pulls }])], cursor: { at: 1, done: false } };
      await new Promise((_, reject) => p.signal.addEventListener("abort", () => reject(p.signal.reason)));
      return undefined;
    };

    it("is replaced within the lease time and a second, from the last committed cursor", async () => {
      pull = hanging;
      const dead = rig.start({}, "killed");
      await rig.clock.until(async () => (await rig.resource("a")).cursor !== null);
      const died_ms = rig.clock.elapsed_ms();
      await rig.kill(dead);
      const seen: unknown[] = [];
      pull = async function* (p) {
        seen.push(p.cursor);
        yield* well(p);
        return undefined;
      };
      rig.start();
      await rig.clock.until(() => pulls === 2, 60_000);
      expect(rig.clock.elapsed_ms() - died_ms).toBeLessThanOrEqual(settings.lease_ttl_ms + 1_000);
      expect(seen).toEqual([{ at: 1, done: false }]);
      await rig.calm();
      expect(await rig.resource("a")).toMatchObject({ failures: 0, status: "waiting" });
    });

    it("again and again on the same resource has it parked, with a reason", async () => {
      pull = hanging;
      await rig.db.query(sql`update tidemark.due set failures = ${settings.park_after - 1}`);
      const dead = rig.start({}, "killed");
      await rig.clock.until(() => pulls === 1);
      await rig.kill(dead);
      rig.start();
      await rig.clock.until(async () => (await rig.resource("a")).status === "parked", 60_000);
      expect((await rig.resource("a")).reason).toMatch(/its worker died again and again/);
      expect(pulls).toBe(1);
    });
  });

  describe("a worker that stops", () => {
    const slow: ToyPull = async function* (p) {
      for (let n = p.cursor.at + 1; ; n += 1) {
        await rig.clock.sleep(3_000, p.signal);
        if (p.signal.aborted) throw p.signal.reason;
        yield { cursor: { at: n, done: false } };
      }
    };

    it("ends at the next commit and hands back what is left, charging nothing", async () => {
      pull = slow;
      const worker = rig.start();
      await rig.clock.advance(4_000);
      const begun_ms = rig.clock.elapsed_ms();
      await rig.stop(worker);
      expect(rig.clock.elapsed_ms() - begun_ms).toBeLessThanOrEqual(3_000);
      expect(await rig.resource("a")).toMatchObject({
        failures: 0,
        lease_until: null,
        status: "due",
        cursor: { at: 2 },
      });
    });

    it("gives up a pull that does not end within the grace period, charging nothing", async () => {
      pull = async function* (p) {
        await new Promise((_, reject) => p.signal.addEventListener("abort", () => reject(p.signal.reason)));
        yield { cursor: { at: 1, done: false } };
        return undefined;
      };
      const worker = rig.start();
      await rig.clock.until(() => pulls === 1);
      const begun_ms = rig.clock.elapsed_ms();
      await rig.stop(worker);
      expect(rig.clock.elapsed_ms() - begun_ms).toBeLessThanOrEqual(settings.grace_ms + 1_000);
      expect(await rig.resource("a")).toMatchObject({ failures: 0, lease_until: null, status: "due" });
    });
  });

  it("a pull that commits nothing for too long ends as a failure, even one that does not listen", async () => {
    pull = async function* () {
      await new Promise(() => undefined);
      yield { cursor: { at: 1, done: false } };
      return undefined;
    };
    rig.start({ pull_timeout_ms: 60_000 });
    await rig.clock.until(() => rig.ended.length > 0, 120_000);
    expect(rig.ended[0]).toMatchObject({ outcome: "failed", error_code: "PullTooLong" });
    expect(await rig.resource("a")).toMatchObject({ failures: 1, lease_until: null });
  });

  it("a long pull keeps its lease for as long as it lives", async () => {
    pull = async function* (p) {
      await rig.clock.sleep(5 * settings.lease_ttl_ms, p.signal);
      yield* well(p);
      return undefined;
    };
    rig.start({ slice_ms: 3600_000 });
    rig.start({ slice_ms: 3600_000 });
    await rig.calm();
    expect(rig.ended.map((e) => e.outcome)).toEqual(["fresh"]);
    expect((await rig.resource("a")).lease_no).toBe(1n);
  });
});
