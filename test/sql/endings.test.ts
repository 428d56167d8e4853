/** How pulls and workers end: deaths, shutdowns, hanging, and long pulls that live, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stores } from "../postgres.ts";
import { Rig, settings } from "./rig.ts";
import { type ToyPull, toyKind, toySource, words } from "./toy.ts";

describe.each(stores)("the end, on $store", ({ open }) => {
  let rig: Rig;
  let pulls: number;
  let pull: ToyPull;
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
