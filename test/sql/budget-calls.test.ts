/** Budgets as calls meet them: waited for, obeyed by the whole fleet, and corrected by what upstreams say. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readBudgets } from "../../src/engine/spent.ts";
import type { TidemarkError, Upstream } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { overspent } from "../../src/testing/replay.ts";
import { wall_ms } from "../../src/testing/virtual-clock.ts";
import { stores } from "../postgres.ts";
import { CallRig, codeOf } from "./call-rig.ts";

describe.each(stores)("calls within budgets, on $store", ({ open }) => {
  let rig: CallRig;
  beforeAll(async () => {
    rig = new CallRig((await open()).db);
  });
  beforeEach(() => rig.reset(3));
  afterEach(() => rig.end());

  const sent = () => rig.upstream.requests.map(({ at_ms }) => ({ at_ms, cost: 1 }));
  /** What the reset header says: epoch seconds of the upstream's clock. */
  const epoch = (in_ms: number) => String(Math.ceil((wall_ms(rig.clock) + in_ms) / 1000));

  it("wait here when it is short, and end with the time to wait when it is long", async () => {
    const u: Upstream = { name: "u", budget: { shape: "pace", per_second: 10, burst: 2 } };
    const codes = (await rig.ended(...Array.from({ length: 8 }, () => rig.begin(u)))).map(codeOf);
    const refused = codes.filter((code) => code === "UpstreamBusy").length;
    expect(refused).toBeGreaterThan(0);
    expect(rig.calls).toBe(8 - refused);
    expect(rig.calls).toBeGreaterThan(2);
    expect(rig.clock.elapsed_ms()).toBeLessThan(1_000);
    expect(overspent(sent(), { shape: "pace", per_second: 10, burst: 2 })).toBeNull();
  });

  it("are each an event: with status, size, time, cost, wait, and what they took of which budget", async () => {
    const u: Upstream = {
      name: "u",
      budgets: {
        requests: { shape: "pace", per_second: 10, burst: 1 },
        tokens: { shape: "window", most: 100, period_ms: 60_000, by: "host" },
      },
      concurrency: 5,
    };
    rig.answer = () => ({ status: 404, body: "nobody" });
    const request = { budgets: [{ budget: "requests" }, { budget: "tokens", cost: 30 }] };
    await rig.call(u, request);
    await rig.call(u, request);
    const [first, second] = rig.events_named("upstream_call");
    const took = [
      { budget: "u/requests", cost: 1, window: 0 },
      { budget: `u/tokens:${new URL(rig.upstream.url).host}`, cost: 30, window: 1 },
    ];
    expect(first).toEqual({ upstream: "u", status: 404, bytes: 6, ms: 0, cost: 1, wait_ms: 0, took });
    // A call costs a tenth of a second at this pace, and the twenty milliseconds in which the first may have left.
    expect(second!.wait_ms).toBeGreaterThanOrEqual(100);
    expect(second!.wait_ms).toBeLessThan(250);
    rig.upstream.trouble = () => ({ trouble: "cut" });
    await rig.call(u, { budgets: [] });
    expect(rig.events_named("upstream_call").at(-1)).toMatchObject({ status: 0, bytes: 0, cost: 1 });
  });

  it("are told their own turn, so that those who wait do not come back together", async () => {
    const u: Upstream = { name: "u", budget: { shape: "pace", per_second: 1, burst: 1 } };
    const all = await rig.ended(...Array.from({ length: 5 }, () => rig.begin(u)));
    const waits = all.flatMap((one) => (one instanceof Error ? [Math.round(one.wait_ms! / 1000)] : []));
    expect(waits.toSorted()).toEqual([1, 2, 3, 4]);
  });

  it("of three processes together never spend more than their pace, whichever second one looks at", async () => {
    const budget = { shape: "pace", per_second: 20, burst: 30 } as const;
    const u: Upstream = { name: "u", budget };
    for (let n = 0; n < 40; n += 1) {
      await rig.ended(...Array.from({ length: 9 }, (_, i) => rig.begin(u, {}, 1n, i % 3)));
      await rig.clock.advance((n * 37) % 250);
    }
    expect(overspent(sent(), budget)).toBeNull();
    const seconds = rig.clock.elapsed_ms() / 1000;
    expect(rig.calls).toBeGreaterThan(15 * seconds);
  });

  it("leave a share its reserve, however many others call", async () => {
    const u: Upstream = { name: "u", budget: { shape: "pace", per_second: 10, burst: 30 }, shares: { search: 0.3 } };
    await rig.ended(...Array.from({ length: 60 }, (_, i) => rig.begin(u, {}, 1n, i % 2)));
    const found = await rig.ended(...Array.from({ length: 5 }, () => rig.begin(u, { share: "search" }, 1n, 2)));
    expect(found.map(codeOf)).toEqual(Array(5).fill("answer"));
    await expect(rig.call(u, { share: "serach" })).resolves.toMatchObject({
      message: 'u declares no share "serach".',
    });
  });

  it("take what they cost from several budgets, and settle what they really cost", async () => {
    const u: Upstream = {
      name: "u",
      budgets: {
        requests: { shape: "window", most: 100, period_ms: 60_000 },
        tokens: { shape: "window", most: 10_000, period_ms: 60_000 },
      },
    };
    rig.answer = () => ({ body: { usage: 1_500 } });
    const used = async () => {
      // What was drawn ahead has gone back by then.
      await rig.clock.advance(600);
      return Object.fromEntries((await readBudgets(rig.db)).map((b) => [b.budget, b.used]));
    };
    const budgets = [{ budget: "requests" }, { budget: "tokens", cost: 3_000 }];
    await rig.call(u, { budgets });
    expect(await used()).toEqual({ "u/requests": 1, "u/tokens": 3_000 });
    await rig.call(u, { budgets, settle: () => ({ tokens: 1_500 }) });
    expect(await used()).toEqual({ "u/requests": 2, "u/tokens": 4_500 });
    await rig.call(u, { budgets: [{ budget: "tokens", cost: 5_000 }], settle: () => 5_400 });
    expect(await used()).toEqual({ "u/requests": 2, "u/tokens": 9_900 });
    expect(await rig.call(u, { budgets })).toMatchObject({ details: { budget: "u/tokens", why: "spent" } });
    expect(await used()).toEqual({ "u/requests": 2, "u/tokens": 9_900 });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -5])(
    "cost what was estimated when they are said to cost %d",
    async (real) => {
      const u: Upstream = { name: "u", budget: { shape: "window", most: 100, period_ms: 60_000 } };
      await rig.call(u, { cost: 3, settle: () => real });
      await rig.clock.advance(600);
      expect(await readBudgets(rig.db)).toMatchObject([{ used: 3, total: 3 }]);
      expect(await rig.outcome(u)).toBe("answer");
    },
  );

  it("that were allowed too late to be made are not counted among those that are out", async () => {
    const u: Upstream = { name: "u", concurrency: 2 };
    let slow = 3;
    const query: Db["query"] = async (statement, options) => {
      const result = await rig.db.query<never>(statement, options);
      if (statement.text.includes("tidemark.take(") && slow-- > 0) await rig.clock.sleep(600);
      return result;
    };
    await rig.restart({}, Object.assign(Object.create(rig.db) as Db, { query }));
    expect(await rig.outcome(u)).toBe("answer");
    expect(rig.calls).toBe(1);
  });

  it("pass their places on within a process, which asks for as many as it has use for", async () => {
    const u: Upstream = { name: "u", concurrency: 3 };
    let asked = 0;
    const query: Db["query"] = (statement, options) => {
      if (statement.text.includes("tidemark.take_flights(")) asked += 1;
      return rig.db.query<never>(statement, options);
    };
    await rig.restart({}, Object.assign(Object.create(rig.db) as Db, { query }));
    const codes = (await rig.ended(...Array.from({ length: 24 }, () => rig.begin(u)))).map(codeOf);
    expect(codes).toEqual(Array(24).fill("answer"));
    expect(asked).toBeLessThan(8);
    await rig.clock.advance(100);
    expect(await readBudgets(rig.db)).toMatchObject([{ budget: "u/at once", used: 0 }]);
  });

  it("are bounded by what the code says now, whatever it said before", async () => {
    expect(await rig.outcome({ name: "u", concurrency: 3 })).toBe("answer");
    await rig.restart();
    expect(await rig.outcome({ name: "u", concurrency: 2 })).toBe("answer");
    expect(await readBudgets(rig.db)).toMatchObject([{ budget: "u/at once", room: 2 }]);
  });

  it("keep a gap to each politeness group, over all processes", async () => {
    const u: Upstream = { name: "u", budget: { shape: "gap", gap_ms: 1_000, by: "group" } };
    for (let n = 0; n < 12; n += 1) {
      await rig.ended(...[0, 1, 2].map((p) => rig.begin(u, { group: p === 2 ? "b" : "a" }, 1n, p)));
      await rig.clock.advance(400);
    }
    for (const group of ["/a", "/b"]) {
      const calls = rig.upstream.requests.filter((r) => r.path === group).map(({ at_ms }) => ({ at_ms, cost: 1 }));
      expect(calls.length).toBeGreaterThan(2);
      expect(overspent(calls, { shape: "gap", gap_ms: 1_000 })).toBeNull();
    }
  });

  it("are out at once only as many as may be, and those of the dead do not count for ever", async () => {
    const u: Upstream = { name: "u", concurrency: 2 };
    rig.upstream.trouble = () => ({ trouble: "hang" });
    const out = Array.from({ length: 6 }, (_, i) => rig.begin(u, {}, 1n, i % 3));
    await rig.clock.until(() => rig.calls === 2);
    await rig.clock.advance(5_000);
    expect(rig.calls).toBe(2);
    const codes = (await rig.ended(...out)).map(codeOf);
    expect(codes.toSorted()).toEqual([...Array(4).fill("UpstreamBusy"), "UpstreamDown", "UpstreamDown"]);
    rig.upstream.trouble = () => null;
    expect(await rig.outcome(u)).toBe("answer");
  });

  describe("that are told to wait", () => {
    const u: Upstream = { name: "u", budget: { shape: "window", most: 100, period_ms: 3600_000 } };
    const told = async (reply: { status: number; headers?: Record<string, string>; body?: unknown }) => {
      rig.answer = () => reply;
      return (await rig.call(u)) as TidemarkError;
    };
    /** Nobody calls before the time is over, and everybody afterwards. */
    const obeyed = async (wait_ms: number) => {
      const calls = rig.calls;
      rig.answer = () => ({ body: "well" });
      await rig.clock.advance(wait_ms - 1_000);
      for (const process of [0, 1, 2]) expect(await rig.outcome(u, {}, 1n, process)).toBe("UpstreamBusy");
      expect(rig.calls).toBe(calls);
      await rig.clock.advance(2_100);
      for (const process of [0, 1, 2]) expect(await rig.outcome(u, {}, 1n, process)).toBe("answer");
    };

    it("by Retry-After in seconds all wait", async () => {
      expect(await told({ status: 429, headers: { "retry-after": "30" } })).toMatchObject({ wait_ms: 30_000 });
      await obeyed(30_000);
    });

    it("by Retry-After as a date all wait, by the answer's own clock", async () => {
      const at = new Date(wall_ms(rig.clock) + 90_000).toUTCString();
      expect(await told({ status: 503, headers: { "retry-after": at } })).toMatchObject({ code: "UpstreamBusy" });
      await obeyed(90_000);
    });

    it("by a spent allowance all wait for its reset", async () => {
      const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-limit": "100", "x-ratelimit-reset": epoch(120_000) };
      expect(await told({ status: 403, headers })).toMatchObject({ code: "UpstreamBusy" });
      await obeyed(120_000);
    });

    it("by GraphQL's errors with a good status all wait", async () => {
      const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": epoch(60_000) };
      const body = { errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }] };
      expect(await told({ status: 200, headers, body })).toMatchObject({ code: "UpstreamBusy" });
      await obeyed(60_000);
    });

    it("by such errors wait, too, where what they cost cannot be read from them", async () => {
      rig.answer = () => ({ body: { data: null, errors: [{ type: "RATE_LIMITED" }] } });
      const settle = () => {
        throw new Error("no cost in it");
      };
      expect(await rig.call(u, { settle })).toMatchObject({ code: "UpstreamBusy" });
    });

    it("without a time wait a minute, then two", async () => {
      const first = await told({ status: 429 });
      expect(first.wait_ms).toBeGreaterThan(53_000);
      await obeyed(first.wait_ms!);
      const second = await told({ status: 429 });
      expect(second.wait_ms! / first.wait_ms!).toBeGreaterThan(1.5);
    });

    it("are told why, and the whole fleet sees it", async () => {
      await told({ status: 429, headers: { "retry-after": "30" } });
      const refused = (await rig.call(u, {}, 1n, 2)) as TidemarkError;
      expect(refused).toMatchObject({ code: "UpstreamBusy", message: "u asked us to wait (HTTP 429)." });
      expect(refused.wait_ms).toBeGreaterThan(28_000);
      expect(rig.events_named("upstream_closed")).toMatchObject([{ upstream: "u", wait_ms: 30_000 }]);
    });
  });

  it("follow what answers say is left, also when others spend the same allowance", async () => {
    const u: Upstream = { name: "u", budgets: { core: { shape: "window", most: 5_000, period_ms: 3600_000 } } };
    let remaining = 7;
    const reset = epoch(600_000);
    rig.answer = () => {
      remaining -= 1;
      const headers = { "x-ratelimit-resource": "core", "x-ratelimit-limit": "5000", "x-ratelimit-reset": reset };
      return { headers: { ...headers, "x-ratelimit-remaining": String(Math.max(0, remaining)) } };
    };
    for (let n = 0; n < 20; n += 1) {
      await rig.call(u, {}, 1n, n % 3);
      await rig.clock.advance(600);
    }
    expect(rig.calls).toBe(7);
    expect(remaining).toBe(0);
    await rig.clock.advance(601_000);
    remaining = 5_000;
    expect(await rig.outcome(u)).toBe("answer");
  });

  it("close the lanes behind an allowance that is spent for long", async () => {
    const u: Upstream = { name: "u", budget: { shape: "window", most: 1, period_ms: 60_000 } };
    await rig.call(u);
    expect(await rig.call(u)).toMatchObject({ message: "The allowance of u is spent." });
    await rig.clock.advance(1_500);
    expect(await rig.call(u)).toMatchObject({ details: { why: "shut" }, message: "The allowance of u is spent." });
  });
});
