/** Breakers of real calls: opened for the fleet, tested by one call, and nobody charged who is not at fault. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tell } from "../../src/engine/breaker-row.ts";
import { readBreakers } from "../../src/engine/spent.ts";
import { close } from "../../src/engine/upstream-closing.ts";
import type { TidemarkError } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { CallRig, codeOf } from "./call-rig.ts";

const u = { name: "u" };

describe.each(stores)("the breaker of an upstream, on $store", ({ open }) => {
  let rig: CallRig;
  const broken = () => {
    rig.answer = () => ({ status: 500 });
  };
  const state = async () => (await readBreakers(rig.db))[0]?.breaker ?? "closed";
  const openIt = async () => {
    broken();
    for (const resource of [1n, 2n, 3n]) await rig.call(u, {}, resource);
    expect(await state()).toBe("open");
  };

  beforeAll(async () => {
    rig = new CallRig((await open()).db);
  });
  beforeEach(() => rig.reset(3));
  afterEach(() => rig.end());

  it("opens for the whole fleet when three resources fail, and nobody calls any more", async () => {
    await openIt();
    const calls = rig.calls;
    for (const process of [0, 1, 2]) {
      const refused = (await rig.call(u, {}, 4n, process)) as TidemarkError;
      expect(refused).toMatchObject({ code: "UpstreamBusy" });
      expect(refused.wait_ms).toBeGreaterThan(50_000);
    }
    expect(rig.calls).toBe(calls);
    expect(rig.events_named("breaker_changed")).toMatchObject([{ from: "closed", to: "open", upstream: "u" }]);
  });

  it("keeps the lanes of that upstream from being scanned", async () => {
    await openIt();
    const { rows } = await rig.db.query(sql`
      select upstream from tidemark.upstream where closed_until > tidemark.now() and closed_reason like 'u answered%'`);
    expect(rows).toHaveLength(1);
  });

  it("stays closed whatever a single resource does", async () => {
    broken();
    for (let n = 0; n < 10; n += 1) await rig.call(u, {}, 1n, n % 3);
    expect(await state()).toBe("closed");
    expect(rig.calls).toBe(10);
  });

  it("stays closed while others succeed, also in another process", async () => {
    for (let n = 0n; n < 12n; n += 1n) {
      rig.answer = () => ({ status: 500 });
      await rig.call(u, {}, 100n + n, 0);
      rig.answer = () => ({ body: "well" });
      await rig.clock.advance(600);
      await rig.call(u, {}, 200n, 1);
    }
    expect(await state()).toBe("closed");
  });

  it("is tested by one call over the whole fleet, which closes it again", async () => {
    await openIt();
    await rig.clock.advance(200_000);
    rig.answer = () => ({ body: "well" });
    const calls = rig.calls;
    const begun = [0, 1, 2].map((process) => rig.begin(u, {}, BigInt(process), process));
    const all = (await rig.ended(...begun)).map(codeOf);
    expect(all.filter((one) => one === "answer").length).toBeGreaterThanOrEqual(1);
    expect(rig.calls - calls).toBe(all.filter((one) => one === "answer").length);
    expect(await state()).toBe("closed");
    await rig.clock.advance(1_000);
    expect(await rig.outcome(u, {}, 9n, 2)).toBe("answer");
    const changes = rig.events_named("breaker_changed").map((e) => e.to);
    expect(changes).toEqual(["open", "probing", "closed"]);
  });

  it("makes exactly one call while that one is out", async () => {
    await openIt();
    await rig.clock.advance(200_000);
    rig.upstream.trouble = () => ({ trouble: "hang" });
    const calls = rig.calls;
    const first = rig.begin(u, {}, 1n, 0);
    await rig.clock.until(() => rig.calls > calls);
    for (const process of [0, 1, 2]) expect(await rig.outcome(u, {}, 2n, process)).toBe("UpstreamBusy");
    expect(rig.calls).toBe(calls + 1);
    expect((await rig.ended(first))[0]).toMatchObject({ code: "UpstreamDown", charged: false });
    expect(await state()).toBe("open");
  });

  it("waits longer after each probe that failed", async () => {
    await openIt();
    const waits: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { wait_ms } = rig
        .events_named("breaker_changed")
        .filter((e) => e.to === "open")
        .at(-1)!;
      waits.push(wait_ms);
      await rig.clock.advance(wait_ms + 1);
      await rig.call(u, {}, 5n);
    }
    expect(waits[1]! / waits[0]!).toBeGreaterThan(1.5);
    expect(waits[2]! / waits[1]!).toBeGreaterThan(1.5);
  });

  it("charges nobody when everything is down, and the only one that fails where others are well", async () => {
    broken();
    expect(await rig.call(u, {}, 1n)).toMatchObject({ code: "UpstreamDown", charged: false });
    rig.answer = () => ({ body: "well" });
    await rig.clock.advance(11_000);
    await rig.call(u, {}, 2n);
    broken();
    expect(await rig.call(u, {}, 3n)).toMatchObject({ code: "UpstreamDown", charged: true });
    expect(await rig.call(u, {}, 4n)).toMatchObject({ code: "UpstreamDown", charged: false });
  });

  it("stays closed while a few of very many fail, however fast they follow one another", async () => {
    for (let n = 1; n <= 120; n += 1) {
      rig.answer = () => (n % 20 === 0 ? { status: 500 } : { body: "well" });
      await rig.call(u, {}, BigInt(n));
    }
    expect(rig.calls).toBe(120);
    expect(await state()).toBe("closed");
  });

  describe("does not shorten the time that the upstream asked for", () => {
    const closed_s = async () => {
      const { rows } = await rig.db.query<{ s: number }>(
        sql`select extract(epoch from closed_until - tidemark.now())::float8 as s from tidemark.upstream`,
      );
      return rows[0]!.s;
    };

    it("when calls that were out with that one fail and open it", async () => {
      await close(rig.db, { what: "upstream", name: "u", wait_ms: 3600_000, reason: "asked to wait" });
      for (const resource of [1n, 2n, 3n])
        await tell(rig.db, rig.events, "u", "failed", { resource, probe: false }, "it answered HTTP 500");
      expect(await readBreakers(rig.db)).toMatchObject([{ breaker: "open", closed_reason: "asked to wait" }]);
      expect(await closed_s()).toBeGreaterThan(3_500);
    });

    it("when a probe succeeds", async () => {
      await openIt();
      await rig.clock.advance(200_000);
      const probe = { resource: 1n, probe: true };
      await tell(rig.db, rig.events, "u", "asked", probe, "");
      await close(rig.db, { what: "upstream", name: "u", wait_ms: 3600_000, reason: "asked to wait" });
      await tell(rig.db, rig.events, "u", "succeeded", probe, "");
      expect(await readBreakers(rig.db)).toMatchObject([{ breaker: "closed", closed_reason: "asked to wait" }]);
      expect(await closed_s()).toBeGreaterThan(3_500);
    });

    it("when a probe succeeds whose own time is longer", async () => {
      await openIt();
      await rig.clock.advance(200_000);
      const probe = { resource: 1n, probe: true };
      await tell(rig.db, rig.events, "u", "asked", probe, "");
      await close(rig.db, { what: "upstream", name: "u", wait_ms: 30_000, reason: "asked to wait" });
      await rig.clock.advance(5_000);
      await tell(rig.db, rig.events, "u", "succeeded", probe, "");
      expect(await readBreakers(rig.db)).toMatchObject([{ breaker: "closed", closed_reason: "asked to wait" }]);
      expect(await closed_s()).toBeCloseTo(25);
      await rig.clock.advance(25_000);
      rig.answer = () => ({ body: "well" });
      expect(await rig.outcome(u)).toBe("answer");
    });
  });

  it("is closed by a probe that got its answer, although its cost cannot be read", async () => {
    await openIt();
    await rig.clock.advance(200_000);
    rig.answer = () => ({ body: "garbage" });
    const settle = () => {
      throw new Error("no cost in it");
    };
    await rig.call(u, { settle }, 1n);
    expect(await state()).toBe("closed");
  });

  it("opens when an upstream without a credential of ours answers 401", async () => {
    rig.answer = () => ({ status: 401 });
    expect(await rig.call(u)).toMatchObject({ code: "UpstreamForbids", charged: false });
    expect(await state()).toBe("open");
  });

  it("does not open for a 403, which is about one resource", async () => {
    rig.answer = () => ({ status: 403 });
    for (let n = 1n; n < 6n; n += 1n)
      expect(await rig.call(u, {}, n)).toMatchObject({ code: "UpstreamForbids", charged: true });
    expect(await state()).toBe("closed");
  });
});
