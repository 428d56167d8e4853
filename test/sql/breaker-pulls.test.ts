/** Whole pulls against an upstream that is down, busy or spent: they wait, nobody is charged, and all of it comes back. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readBreakers } from "../../src/engine/spent.ts";
import type { Upstream } from "../../src/index.ts";
import { type Asked, type PretendUpstream, pretendUpstream, type Reply } from "../../src/testing/upstream.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("pulls behind an upstream, on $store", ({ open }) => {
  let rig: Rig;
  let pretend: PretendUpstream;
  let answer: (asked: Asked) => Reply;
  let upstream: Upstream;
  const outcomes = () => [...new Set(rig.ended.map((e) => e.outcome))].sort();
  const keys = ["a", "b", "c", "d", "e"];

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(async () => {
    upstream = { name: "toy.example" };
    answer = () => ({ body: "well" });
    const page = toyKind({
      upstream: () => upstream,
      // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
      async *pull(pull) {
        await pull.fetch(`${pretend.url}/${pull.resource.key}`);
        return undefined;
      },
    });
    await rig.reset(toySource({ page }));
    pretend = await pretendUpstream(rig.clock, (asked) => answer(asked));
    await rig.follow(...keys);
  });
  afterEach(async () => {
    await rig.end();
    await pretend.close();
  });

  it("that is down are not charged, however long it lasts, and are fresh when it is back", async () => {
    answer = () => ({ status: 500 });
    rig.start();
    await rig.clock.advance(10 * 60_000);
    expect((await readBreakers(rig.db))[0]).toMatchObject({ upstream: "toy.example" });
    for (const key of keys) expect(await rig.resource(key)).toMatchObject({ failures: 0, fresh_at: null });
    expect(outcomes()).toEqual(["later"]);
    // One call at a time, each after a longer wait: ten minutes of silence cost a handful of calls.
    expect(pretend.requests.length).toBeLessThan(12);
    answer = () => ({ body: "well" });
    const isFresh = async (key: string) => (await rig.resource(key)).fresh_at !== null;
    await rig.clock.until(async () => (await Promise.all(keys.map(isFresh))).every(Boolean), 2 * 3600_000);
    expect(await readBreakers(rig.db)).toEqual([]);
  });

  it("of which one is bad are charged for that one alone", async () => {
    answer = ({ path }) => (path === "/c" ? { status: 500 } : { body: "well" });
    rig.start({ slots: 1 });
    await rig.clock.advance(3 * 60_000);
    expect((await rig.resource("c")).failures).toBeGreaterThan(0);
    for (const key of ["a", "b", "d", "e"]) expect((await rig.resource(key)).failures).toBe(0);
    expect((await readBreakers(rig.db)).filter((b) => b.breaker !== "closed")).toEqual([]);
  });

  it("that asks us to wait end with `later`, its reason and its time, and free their slots", async () => {
    answer = () => ({ status: 429, headers: { "retry-after": "120" } });
    rig.start({ slots: 1 });
    await rig.clock.advance(30_000);
    expect(pretend.requests).toHaveLength(1);
    const first = pretend.requests[0]!.path.slice(1);
    const waiting = await rig.resource(first);
    expect(waiting).toMatchObject({
      failures: 0,
      status: "waiting",
      reason: "toy.example asked us to wait (HTTP 429).",
    });
    expect(waiting.due_in_ms).toBeCloseTo(90_000, -3);
    answer = () => ({ body: "well" });
    await rig.clock.advance(89_000);
    expect(pretend.requests).toHaveLength(1);
    await rig.clock.advance(5_000);
    expect(outcomes()).toEqual(["fresh", "later"]);
    for (const key of keys) expect((await rig.resource(key)).fresh_at).not.toBeNull();
  });

  it("whose allowance is spent for long end with `later` and are scanned again when there is more", async () => {
    upstream = { name: "toy.example", budget: { shape: "window", most: 2, period_ms: 60_000 } };
    rig.start({ slots: 1 });
    await rig.clock.advance(59_000);
    expect(pretend.requests).toHaveLength(2);
    await rig.clock.advance(61_000);
    expect(pretend.requests).toHaveLength(4);
    await rig.clock.advance(61_000);
    expect(outcomes()).toEqual(["fresh", "later"]);
    for (const key of keys) expect(await rig.resource(key)).toMatchObject({ failures: 0, status: "waiting" });
    expect(pretend.requests).toHaveLength(5);
  });
});
