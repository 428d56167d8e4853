/** A lease from its claim to its end: renewed, handed back, finished, or ended because its holder died; on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { finish } from "../../src/engine/finish.ts";
import { countLive, nextWake } from "../../src/engine/holds.ts";
import { claim, handBack, renew } from "../../src/engine/lease.ts";
import { fresh, more } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Claiming, idle, keys, one, TTL } from "./claiming.ts";
import type { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("leases, on $store", ({ open }) => {
  let at: Claiming;
  let rig: Rig;
  const source = toySource({ page: toyKind() });

  beforeAll(async () => {
    at = await Claiming.open(open);
    rig = at.rig;
  });
  beforeEach(() => at.reset(source));
  afterEach(() => at.end());

  describe("a lease", () => {
    it("is renewed while it lives, and not once it has ended", async () => {
      await rig.follow("a", "b");
      const leases = await at.next();
      await rig.clock.advance(TTL - 1);
      expect(await renew(rig.db, [leases[0]!], TTL)).toEqual(new Set([leases[0]!.resource_id]));
      await rig.clock.advance(2);
      expect(await renew(rig.db, leases, TTL)).toEqual(new Set([leases[0]!.resource_id]));
    });

    it("of another number is neither renewed, nor handed back, nor finished", async () => {
      await rig.follow("a");
      const [old] = await at.next();
      await handBack(rig.db, [old!]);
      const [now] = await at.next();
      expect(await renew(rig.db, [old!], TTL)).toEqual(new Set());
      expect(await handBack(rig.db, [old!])).toBe(0);
      expect(await finish(rig.db, [at.endWith(old!, fresh())])).toEqual(new Set());
      expect(await finish(rig.db, [at.endWith(now!, fresh())])).toEqual(new Set([now!.resource_id]));
    });

    it("that has ended cannot be finished, even while nobody else has it", async () => {
      await rig.follow("a");
      const [lease] = await at.next();
      await rig.clock.advance(TTL);
      expect(await finish(rig.db, [at.endWith(lease!, fresh())])).toEqual(new Set());
      expect((await rig.resource("a")).fresh_at).toBeNull();
    });

    it("handed back is due at once for anyone, and nothing is charged", async () => {
      await rig.follow("a");
      const [lease] = await at.next();
      expect(await handBack(rig.db, [lease!])).toBe(1);
      expect(await rig.resource("a")).toMatchObject({ failures: 0, status: "due", due_in_ms: 0 });
      expect(keys(await at.next(1, 2, at.newClaims()))).toEqual(["a"]);
    });

    it("of the dead expires: due at once, above every low-water mark, one failure charged", async () => {
      await rig.follow("a", "b");
      const [a] = await at.next(1);
      await rig.clock.advance(TTL - 1);
      expect(await at.expired()).toEqual([]);
      await rig.clock.advance(1);
      expect(await at.expired()).toEqual([{ resource_id: a!.resource_id, failures: 1 }]);
      expect(await rig.resource(a!.key)).toMatchObject({ failures: 1, status: "due", due_in_ms: 0, lease_until: null });
      expect(await at.expired()).toEqual([]);
      expect(await at.holds()).toEqual([]);
    });

    it("that was renewed outlives its hold's time, and is found when it ends all the same", async () => {
      await rig.follow("a", "b");
      const [a, b] = await at.next(2);
      await rig.clock.advance(TTL / 2);
      await renew(rig.db, [a!], TTL);
      await rig.clock.advance(TTL / 2);
      expect(await at.expired()).toEqual([{ resource_id: b!.resource_id, failures: 1 }]);
      expect(await nextWake(rig.db, [], "-infinity")).toEqual({ due_ms: null, expiry_ms: TTL / 2 });
      await rig.clock.advance(TTL / 2);
      expect(await at.expired()).toEqual([{ resource_id: a!.resource_id, failures: 1 }]);
      expect(await at.holds()).toEqual([]);
    });

    it("that ended, and was taken again by another, is not ended by what is left of the old list", async () => {
      await rig.follow("a");
      const [old] = await at.next();
      await rig.clock.advance(TTL - 1);
      await finish(rig.db, [at.endWith(old!, more())]);
      const [now] = await at.next(1, 2, at.newClaims());
      await rig.clock.advance(1);
      expect(await at.expired()).toEqual([]);
      expect(await countLive(rig.db, "toy", "page", "toy.example")).toBe(1);
      expect(await finish(rig.db, [at.endWith(now!, fresh())])).toEqual(new Set([now!.resource_id]));
    });

    it("comes off the list with the next claim, once all of its claim have ended", async () => {
      await rig.follow("a");
      const [a] = await at.next();
      await finish(rig.db, [at.endWith(a!, more())]);
      expect(await at.holds()).toHaveLength(1);
      await at.claims.next(0, idle, { worker_id: 1, ttl_ms: TTL, over: () => [a!.hold_id] });
      expect(await at.holds()).toHaveLength(1);
      await at.claims.next(1, idle, { worker_id: 1, ttl_ms: TTL, over: () => [a!.hold_id] });
      expect(await at.holds()).not.toContainEqual({ hold_id: a!.hold_id });
    });

    it("is finished where it is now, if mail moved its row since it was claimed", async () => {
      await rig.follow("a", "b");
      const leases = await at.next();
      await rig.db.query(
        sql`update tidemark.due set mail_seq = mail_seq where resource_id = ${leases[0]!.resource_id}`,
      );
      const done = await finish(
        rig.db,
        leases.map((l) => at.endWith(l, fresh())),
      );
      expect(done).toEqual(new Set(leases.map((l) => l.resource_id)));
    });

    it("tells the sleeper when it ends", async () => {
      await rig.follow("a");
      await at.next();
      await rig.clock.advance(1_000);
      expect(await nextWake(rig.db, [], "-infinity")).toEqual({ due_ms: null, expiry_ms: TTL - 1_000 });
    });
  });

  it("a finish sets freshness to the moment the pull began, because only what was true then is known", async () => {
    await rig.follow("a");
    const [lease] = await claim(
      rig.db,
      [{ lane_id: (await rig.resource("a")).lane_id, mark: "-infinity", most: 1, ahead_ms: 0 }],
      one,
    );
    await rig.clock.advance(7_000);
    await finish(rig.db, [at.endWith(lease!, fresh())]);
    const a = await rig.resource("a");
    expect(a.fresh_at).toBe(lease!.tried_at);
    expect(a.due_in_ms).toBeGreaterThan(0);
  });
});
