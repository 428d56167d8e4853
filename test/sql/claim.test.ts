/** Claiming what is due, and the lanes that bound it, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { finish } from "../../src/engine/finish.ts";
import { countLive, nextWake } from "../../src/engine/holds.ts";
import { claim, handBack } from "../../src/engine/lease.ts";
import { close } from "../../src/engine/upstream-closing.ts";
import { fresh, type Lane, later, more, refresh } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Claiming, keys, one, TTL } from "./claiming.ts";
import type { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("claims, on $store", ({ open }) => {
  let rig: Rig;
  let at: Claiming;
  const lane = (name: string, given: Partial<Lane> = {}) => toyKind({ lane: () => ({ name, ...given }) });
  const source = toySource({
    page: toyKind(),
    other: toyKind({ upstream: { name: "other.example" } }),
    line: lane("line", { order: "first come", fleet: 1 }),
    few: lane("few", { fleet: 3 }),
    joint: toyKind({ together: { most: 50 } }),
  });

  /** All of a lane are routine and due the given time ago. */
  const dueAgo = (ago: Record<string, number>) =>
    rig.db.query(sql`
      update tidemark.due d
         set due_at = tidemark.now() - a.ms * interval '1 millisecond',
             lane_id = (select o.lane_id from tidemark.lane l join tidemark.lane o on (o.source, o.name, o.upstream) = (l.source, l.name, l.upstream)
                         where l.lane_id = d.lane_id and o.urgency = 'routine')
        from tidemark.resource r join unnest(${Object.keys(ago)}::text[], ${Object.values(ago)}::float8[]) a(key, ms) on a.key = r.key
       where r.resource_id = d.resource_id`);

  beforeAll(async () => {
    at = await Claiming.open(open);
    rig = at.rig;
  });
  beforeEach(() => at.reset(source));
  afterEach(() => at.end());

  it("leave out what this worker alone cannot call, and others take it", async () => {
    await rig.follow("a", "other:x");
    const { db, lanes, clock } = rig;
    const barred = new Claims({ db, lanes, clock, slots: 100, barred: (name) => name === "other.example" });
    expect(keys(await at.next(100, 1, barred))).toEqual(["a"]);
    expect(keys(await at.next(100, 2))).toEqual(["x"]);
  });

  describe("a claim", () => {
    it("takes the most overdue first", async () => {
      await rig.follow("a", "b", "c", "d");
      await dueAgo({ a: 1_000, b: 3_000, c: 2_000, d: -1_000 });
      const { lane_id } = await rig.resource("a");
      const two = () => claim(rig.db, [{ lane_id, mark: "-infinity", most: 2, ahead_ms: 0 }], one);
      expect(keys(await two())).toEqual(["b", "c"]);
      expect(keys(await two())).toEqual(["a"]);
      expect(await two()).toEqual([]);
    });

    it("gives each lease a number that only ever grows", async () => {
      await rig.follow("a");
      const numbers: bigint[] = [];
      for (let i = 0; i < 4; i += 1) {
        const [lease] = await at.next(1);
        numbers.push(lease!.lease_no);
        await handBack(rig.db, [lease!]);
      }
      expect(numbers).toEqual([1n, 2n, 3n, 4n]);
    });

    it("serves what people asked for before what is routine, and keeps slots for it", async () => {
      await rig.follow("a", "b", "c");
      await dueAgo({ a: 9_000, b: 9_000 });
      const leases = await at.next(3);
      // Ten of a hundred slots are kept: of three free ones only what was asked for gets any.
      expect(keys(leases)).toEqual(["c"]);
      await handBack(rig.db, leases);
      expect(keys(await at.next(100))).toEqual(["a", "b", "c"]);
    });

    it("does not look at the lanes of a closed upstream, and does once it is open again", async () => {
      await rig.follow("a", "other:b");
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 60_000, reason: "asked to wait" });
      expect(keys(await at.next())).toEqual(["b"]);
      const ids = rig.lanes.rows().map((r) => ({ lane_id: r.lane_id, mark: "-infinity" }));
      const wake = await nextWake(rig.db, ids, "-infinity");
      expect(wake.due_ms).toBe(60_000);
      await rig.clock.advance(60_000);
      expect(keys(await at.next())).toEqual(["a"]);
    });

    it("a shorter closing does not open an upstream earlier", async () => {
      await rig.follow("a");
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 60_000, reason: "long" });
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 1_000, reason: "short" });
      await rig.clock.advance(2_000);
      expect(await at.next()).toEqual([]);
    });

    it("begins at the low-water mark, and finds what became due below it by looking from the beginning again", async () => {
      await rig.follow("a", "b");
      await dueAgo({ a: 60_000, b: -3600_000 });
      expect(keys(await at.next())).toEqual(["a"]);
      // A commit that took very long makes something due that lies below the mark by now.
      await dueAgo({ b: 50_000 });
      expect(await at.next()).toEqual([]);
      await rig.clock.advance(10_001);
      expect(keys(await at.next())).toEqual(["b"]);
    });

    it("brings along what falls due within a fifth of the period, where the kind is pulled together", async () => {
      await rig.follow("joint:a", "joint:b", "joint:c", "d", "e");
      await dueAgo({ a: 1_000, b: -11 * 60_000, c: -13 * 60_000, d: 1_000, e: -60_000 });
      expect(keys(await at.next())).toEqual(["a", "b", "d"]);
    });

    it("brings nothing along while nothing is due", async () => {
      await rig.follow("joint:b");
      await dueAgo({ b: -60_000 });
      expect(await at.next()).toEqual([]);
    });
  });

  describe("a bounded lane", () => {
    it("never has more live leases over all workers than its bound", async () => {
      await rig.follow("few:a", "few:b", "few:c", "few:d", "few:e");
      const other = at.newClaims();
      const first = await at.next(2, 1);
      const second = await at.next(100, 2, other);
      expect(first.length + second.length).toBe(3);
      expect(await countLive(rig.db, "toy", "few", "toy.example")).toBe(3);
      expect(await at.next(100, 1)).toEqual([]);
      await handBack(rig.db, [first[0]!]);
      expect(await at.next(100, 2, other)).toHaveLength(1);
    });

    it("does not count leases that have ended", async () => {
      await rig.follow("few:a", "few:b", "few:c", "few:d");
      expect(await at.next()).toHaveLength(3);
      await rig.clock.advance(TTL + 1);
      expect(await countLive(rig.db, "toy", "few", "toy.example")).toBe(0);
      expect(keys(await at.next())).toEqual(["d"]);
    });
  });

  describe("a first-come lane", () => {
    it("serves in the order in which people asked, one at a time", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      const [first] = await at.next();
      expect(first!.key).toBe("z");
      expect(await at.next()).toEqual([]);
    });

    it("keeps the head's place while it waits, and serves the next meanwhile", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      await rig.clock.advance(10);
      await rig.follow("line:b");
      const [z] = await at.next();
      await finish(rig.db, [at.endWith(z!, later(5_000, "wait"))]);
      const [a] = await at.next();
      expect(a!.key).toBe("a");
      await finish(rig.db, [at.endWith(a!, more())]);
      await rig.clock.advance(5_000);
      expect((await at.next())[0]!.key).toBe("z");
    });

    it("puts what was fresh at the end of the line", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      const [z] = await at.next();
      await finish(rig.db, [at.endWith(z!, fresh())]);
      await refresh(rig.db, { source: "toy", kind: "line", key: "z" });
      expect((await at.next())[0]!.key).toBe("a");
    });
  });
});
