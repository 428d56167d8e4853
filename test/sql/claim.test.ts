/** Claiming, renewing, handing back and expiring leases, and the lanes that bound them, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { finish } from "../../src/engine/finish.ts";
import { claim, countLive, expire, handBack, type Lease, nextWake, renew } from "../../src/engine/lease.ts";
import { endOf } from "../../src/engine/outcome.ts";
import { close } from "../../src/engine/upstream-closing.ts";
import { fresh, type Lane, later, more, type Outcome, refresh } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

const TTL = 30_000;

describe.each(stores)("leases, on $store", ({ open }) => {
  let rig: Rig;
  let claims: Claims;
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
  const next = (free = 100, worker_id = 1, from = claims) => from.next(free, () => 0, 0, worker_id);
  const newClaims = () => new Claims({ db: rig.db, lanes: rig.lanes, clock: rig.clock, slots: 100, ttl_ms: TTL });
  const keys = (leases: Lease[]) => leases.map((l) => l.key).sort();
  const endWith = (lease: Lease, outcome: Outcome) => {
    const pair = rig.lanes.known(rig.lanes.spec("toy", lease.kind, lease.key, {}, { at: 0, done: false }))!;
    const end = endOf(outcome, lease, rig.lanes.kind("toy", lease.kind), false, lease.now_ms);
    const { resource_id, lease_no, mail_done } = lease;
    const first_come = rig.lanes.row(lease.lane_id)!.first_come;
    const lane_id = end.keep_place ? lease.lane_id : pair.routine;
    return { resource_id, lease_no, lane_id, first_come, mail_done, end };
  };

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(async () => {
    await rig.reset(source);
    claims = newClaims();
  });
  afterEach(async () => {
    await rig.db.query(sql`update tidemark.due set lease_until = null`);
    await rig.end();
  });

  describe("a claim", () => {
    it("takes the most overdue first", async () => {
      await rig.follow("a", "b", "c", "d");
      await dueAgo({ a: 1_000, b: 3_000, c: 2_000, d: -1_000 });
      const { lane_id } = await rig.resource("a");
      const two = () => claim(rig.db, [{ lane_id, mark: "-infinity", most: 2, ahead_ms: 0 }], TTL, 1);
      expect(keys(await two())).toEqual(["b", "c"]);
      expect(keys(await two())).toEqual(["a"]);
      expect(await two()).toEqual([]);
    });

    it("gives each lease a number that only ever grows", async () => {
      await rig.follow("a");
      const numbers: bigint[] = [];
      for (let i = 0; i < 4; i += 1) {
        const [lease] = await next(1);
        numbers.push(lease!.lease_no);
        await handBack(rig.db, [lease!]);
      }
      expect(numbers).toEqual([1n, 2n, 3n, 4n]);
    });

    it("serves what people asked for before what is routine, and keeps slots for it", async () => {
      await rig.follow("a", "b", "c");
      await dueAgo({ a: 9_000, b: 9_000 });
      const leases = await next(3);
      // Ten of a hundred slots are kept: of three free ones only what was asked for gets any.
      expect(keys(leases)).toEqual(["c"]);
      await handBack(rig.db, leases);
      expect(keys(await next(100))).toEqual(["a", "b", "c"]);
    });

    it("does not look at the lanes of a closed upstream, and does once it is open again", async () => {
      await rig.follow("a", "other:b");
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 60_000, reason: "asked to wait" });
      expect(keys(await next())).toEqual(["b"]);
      const ids = rig.lanes.rows().map((r) => ({ lane_id: r.lane_id, mark: "-infinity" }));
      const wake = await nextWake(rig.db, ids, [], "-infinity");
      expect(wake.due_ms).toBe(60_000);
      await rig.clock.advance(60_000);
      expect(keys(await next())).toEqual(["a"]);
    });

    it("a shorter closing does not open an upstream earlier", async () => {
      await rig.follow("a");
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 60_000, reason: "long" });
      await close(rig.db, { what: "upstream", name: "toy.example", wait_ms: 1_000, reason: "short" });
      await rig.clock.advance(2_000);
      expect(await next()).toEqual([]);
    });

    it("begins at the low-water mark, and finds what became due below it by looking from the beginning again", async () => {
      await rig.follow("a", "b");
      await dueAgo({ a: 60_000, b: -3600_000 });
      expect(keys(await next())).toEqual(["a"]);
      // A commit that took very long makes something due that lies below the mark by now.
      await dueAgo({ b: 50_000 });
      expect(await next()).toEqual([]);
      await rig.clock.advance(10_001);
      expect(keys(await next())).toEqual(["b"]);
    });

    it("brings along what falls due within a fifth of the period, where the kind is pulled together", async () => {
      await rig.follow("joint:a", "joint:b", "joint:c", "d", "e");
      await dueAgo({ a: 1_000, b: -11 * 60_000, c: -13 * 60_000, d: 1_000, e: -60_000 });
      expect(keys(await next())).toEqual(["a", "b", "d"]);
    });

    it("brings nothing along while nothing is due", async () => {
      await rig.follow("joint:b");
      await dueAgo({ b: -60_000 });
      expect(await next()).toEqual([]);
    });
  });

  describe("a bounded lane", () => {
    it("never has more live leases over all workers than its bound", async () => {
      await rig.follow("few:a", "few:b", "few:c", "few:d", "few:e");
      const other = newClaims();
      const first = await next(2, 1);
      const second = await next(100, 2, other);
      expect(first.length + second.length).toBe(3);
      expect(await countLive(rig.db, "toy", "few", "toy.example")).toBe(3);
      expect(await next(100, 1)).toEqual([]);
      await handBack(rig.db, [first[0]!]);
      expect(await next(100, 2, other)).toHaveLength(1);
    });

    it("does not count leases that have ended", async () => {
      await rig.follow("few:a", "few:b", "few:c", "few:d");
      expect(await next()).toHaveLength(3);
      await rig.clock.advance(TTL + 1);
      expect(await countLive(rig.db, "toy", "few", "toy.example")).toBe(0);
      expect(keys(await next())).toEqual(["d"]);
    });
  });

  describe("a first-come lane", () => {
    it("serves in the order in which people asked, one at a time", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      const [first] = await next();
      expect(first!.key).toBe("z");
      expect(await next()).toEqual([]);
    });

    it("keeps the head's place while it waits, and serves the next meanwhile", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      await rig.clock.advance(10);
      await rig.follow("line:b");
      const [z] = await next();
      await finish(rig.db, [endWith(z!, later(5_000, "wait"))]);
      const [a] = await next();
      expect(a!.key).toBe("a");
      await finish(rig.db, [endWith(a!, more())]);
      await rig.clock.advance(5_000);
      expect((await next())[0]!.key).toBe("z");
    });

    it("puts what was fresh at the end of the line", async () => {
      await rig.follow("line:z");
      await rig.clock.advance(10);
      await rig.follow("line:a");
      const [z] = await next();
      await finish(rig.db, [endWith(z!, fresh())]);
      await refresh(rig.db, { source: "toy", kind: "line", key: "z" });
      expect((await next())[0]!.key).toBe("a");
    });
  });

  describe("a lease", () => {
    it("is renewed while it lives, and not once it has ended", async () => {
      await rig.follow("a", "b");
      const leases = await next();
      await rig.clock.advance(TTL - 1);
      expect(await renew(rig.db, [leases[0]!], TTL)).toEqual(new Set([leases[0]!.resource_id]));
      await rig.clock.advance(2);
      expect(await renew(rig.db, leases, TTL)).toEqual(new Set([leases[0]!.resource_id]));
    });

    it("of another number is neither renewed, nor handed back, nor finished", async () => {
      await rig.follow("a");
      const [old] = await next();
      await handBack(rig.db, [old!]);
      const [now] = await next();
      expect(await renew(rig.db, [old!], TTL)).toEqual(new Set());
      expect(await handBack(rig.db, [old!])).toBe(0);
      expect(await finish(rig.db, [endWith(old!, fresh())])).toEqual(new Set());
      expect(await finish(rig.db, [endWith(now!, fresh())])).toEqual(new Set([now!.resource_id]));
    });

    it("that has ended cannot be finished, even while nobody else has it", async () => {
      await rig.follow("a");
      const [lease] = await next();
      await rig.clock.advance(TTL);
      expect(await finish(rig.db, [endWith(lease!, fresh())])).toEqual(new Set());
      expect((await rig.resource("a")).fresh_at).toBeNull();
    });

    it("handed back is due at once for anyone, and nothing is charged", async () => {
      await rig.follow("a");
      const [lease] = await next();
      expect(await handBack(rig.db, [lease!])).toBe(1);
      expect(await rig.resource("a")).toMatchObject({ failures: 0, status: "due", due_in_ms: 0 });
      expect(keys(await next(1, 2, newClaims()))).toEqual(["a"]);
    });

    it("of the dead expires: due at once, above every low-water mark, one failure charged", async () => {
      await rig.follow("a", "b");
      const [a] = await next(1);
      const lanes = rig.lanes.rows().map((r) => r.lane_id);
      await rig.clock.advance(TTL - 1);
      expect(await expire(rig.db, lanes, "-infinity", 100)).toEqual([]);
      await rig.clock.advance(1);
      expect(await expire(rig.db, lanes, "-infinity", 100)).toEqual([{ resource_id: a!.resource_id, failures: 1 }]);
      expect(await rig.resource(a!.key)).toMatchObject({ failures: 1, status: "due", due_in_ms: 0, lease_until: null });
      expect(await expire(rig.db, lanes, "-infinity", 100)).toEqual([]);
    });

    it("tells the sleeper when it ends", async () => {
      await rig.follow("a");
      await next();
      const lanes = rig.lanes.rows().map((r) => r.lane_id);
      await rig.clock.advance(1_000);
      expect(await nextWake(rig.db, [], lanes, "-infinity")).toEqual({ due_ms: null, expiry_ms: TTL - 1_000 });
    });
  });

  it("a finish sets freshness to the moment the pull began, because only what was true then is known", async () => {
    await rig.follow("a");
    const [lease] = await claim(
      rig.db,
      [{ lane_id: (await rig.resource("a")).lane_id, mark: "-infinity", most: 1, ahead_ms: 0 }],
      TTL,
      1,
    );
    await rig.clock.advance(7_000);
    await finish(rig.db, [endWith(lease!, fresh())]);
    const a = await rig.resource("a");
    expect(a.fresh_at).toBe(lease!.tried_at);
    expect(a.due_in_ms).toBeGreaterThan(0);
  });
});
