/** Catalogs as they really are (without order, split, growing, going back, stale) lose nothing and stall nothing, and everything odd is counted. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stampOf } from "../../../src/demo/nuget/feed.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset());
afterEach(() => rig.end());

const a = (version: string, leaf: Record<string, unknown> = {}) => ({ id: "A", version, leaf });
const b = (version: string) => ({ id: "B", version });

describe("a catalog", () => {
  it("D1: has two commits 100 ns apart, and both are read", async () => {
    rig.feed.commit([a("1.0.0")], { stamp: "2020-01-01T00:00:00.1579766Z" });
    await rig.read();
    const second = rig.feed.commit([a("1.0.1")], { stamp: "2020-01-01T00:00:00.1579767Z" });
    await rig.poll();
    expect(await rig.versions("a")).toEqual(["1.0.0", "1.0.1"]);
    expect(await rig.cursor()).toMatchObject({ internal: second, public: second, pending: 0 });
  });

  it("D2: writes fractions with as many digits as it likes, and the cursor is what it wrote", async () => {
    rig.feed.commit([a("1.0.0")], { stamp: "2020-01-01T00:00:00.788239Z" });
    const second = rig.feed.commit([a("1.0.1")], { stamp: "2020-01-01T00:00:01Z" });
    await rig.read();
    expect(await rig.cursor()).toMatchObject({ internal: second, public: second });
    expect(await rig.versions("a")).toEqual(["1.0.0", "1.0.1"]);
  });

  it.each(["newest first", "oldest first", "mixed"] as const)(
    "D3: has its items %s, and page 10 before page 2",
    async (order) => {
      rig.feed.order = order;
      rig.feed.page_most = 4;
      // The last page has two events of one version.
      for (let n = 0; n < 24; n += 1)
        rig.feed.commit([a(`1.0.${n}`, { listed: n % 2 === 1 }), a("0.1.0", { listed: n % 2 === 1 })]);
      await rig.read();
      expect(rig.feed.pages.length).toBeGreaterThan(10);
      expect(await rig.versions("a")).toHaveLength(25);
      const state = await rig.state();
      expect(state.find((row) => row.version_key === "0.1.0")).toMatchObject({ listed: true, stamp: stampOf(24) });
      expect(await rig.anomalies()).toEqual({});
    },
  );

  it("D6: has a version twice in one commit, and one of them wins for everybody", async () => {
    for (const names of [
      ["x", "y"],
      ["y", "x"],
    ]) {
      await rig.end();
      await rig.reset();
      rig.feed.commit(names.map((name) => ({ ...a("1.0.0", { listed: name === "y" }), name })));
      await rig.read();
      expect(await rig.cursor()).toMatchObject({ pending: 0, public: stampOf(1) });
      expect(await rig.state()).toMatchObject([{ version_key: "1.0.0", listed: true }]);
      expect(await rig.anomalies()).toEqual({ "a version twice in one commit": 1 });
    }
  });

  it("D7: splits a commit over two pages, and the cursor passes it when both were read", async () => {
    rig.feed.commit([a("1.0.0")]);
    const split = rig.feed.commit([a("2.0.0"), b("2.0.0")], { split: 1 });
    await rig.read();
    expect(await rig.cursor()).toMatchObject({ internal: split, public: split });
    expect([await rig.versions("a"), await rig.versions("b")]).toEqual([["1.0.0", "2.0.0"], ["2.0.0"]]);
  });

  it("D7: has a newest commit that still grows, and the cursor waits until it does not", async () => {
    const first = rig.feed.commit([a("1.0.0")]);
    const growing = rig.feed.commit([a("2.0.0")], { unannounced: true });
    await rig.read();
    expect(await rig.versions("a")).toEqual(["1.0.0", "2.0.0"]);
    expect(await rig.cursor()).toMatchObject({ internal: first, public: first });
    rig.feed.commit([b("2.0.0")], { stamp: growing, unannounced: true });
    await rig.poll();
    expect(await rig.versions("b")).toEqual(["2.0.0"]);
    await rig.poll();
    expect(await rig.cursor()).toMatchObject({ internal: growing, public: growing, pending: 0 });
  });

  it("D8: goes back in time on the next page, and what it says there is not lost", async () => {
    rig.feed.page_most = 1;
    rig.feed.commit([a("1.0.0")], { stamp: "2020-01-01T00:00:10.0000000Z" });
    await rig.read();
    rig.feed.commit([b("1.0.0")], { stamp: "2020-01-01T00:00:07.4800000Z" });
    const last = rig.feed.commit([b("1.0.1")], { stamp: "2020-01-01T00:00:11.0000000Z" });
    await rig.poll();
    expect(await rig.versions("b")).toEqual(["1.0.0", "1.0.1"]);
    expect(await rig.anomalies()).toEqual({ "a time that went back": 1 });
    expect(await rig.cursor()).toMatchObject({ public: last, pending: 0 });
  });

  it("D8: goes back in time for one version, and what is newer stays", async () => {
    rig.feed.page_most = 1;
    rig.feed.commit([a("1.0.0", { listed: false })], { stamp: "2020-01-01T00:00:10.0000000Z" });
    rig.feed.commit([a("1.0.0", { listed: true })], { stamp: "2020-01-01T00:00:07.4800000Z" });
    rig.feed.commit([b("1.0.1")]);
    await rig.read();
    expect((await rig.state()).find((row) => row.lower_id === "a")).toMatchObject({ listed: false });
  });

  it("D9: says another count and time of a page than the page itself, without ids of commits, and the page is right", async () => {
    rig.feed.commit([a("1.0.0"), b("1.0.0")], { zero_id: true });
    rig.feed.pages[0]!.told.count = 7;
    rig.feed.instead.set("/v3/catalog0/page0.json", () => {
      const page = rig.feed.pageDocument(0, rig.upstream.url) as Record<string, unknown>;
      return { status: 200, headers: {}, body: JSON.stringify({ ...page, count: 5 }) };
    });
    await rig.read();
    expect([await rig.versions("a"), await rig.versions("b")]).toEqual([["1.0.0"], ["1.0.0"]]);
    expect(await rig.anomalies()).toEqual({ "a commit without an id": 1, "a page with another count than items": 1 });
  });

  it("D10: has items of types that nobody knows, and types in lists; what is unknown is counted and passed", async () => {
    rig.feed.commit([a("1.0.0"), a("1.0.1"), a("1.0.2")]);
    rig.feed.instead.set("/v3/catalog0/page0.json", () => {
      const page = rig.feed.pageDocument(0, rig.upstream.url) as { items: Record<string, unknown>[] };
      page.items[0]!["@type"] = "nuget:PackageHologram";
      page.items[1]!["@type"] = ["nuget:PackageDetails", "nuget:More"];
      return {
        status: 200,
        headers: {},
        body: JSON.stringify({ ...page, items: [...page.items, { odd: true }], count: 4 }),
      };
    });
    await rig.read();
    expect(await rig.versions("a")).toEqual(["1.0.0", "1.0.1"]);
    expect(await rig.cursor()).toMatchObject({ public: stampOf(1) });
    expect(await rig.anomalies()).toEqual({
      "an item of a type that nobody knows": 1,
      "an item that cannot be read": 1,
    });
  });

  it("has pages of 2,765 items, which go in several commits", async () => {
    rig.feed.page_most = 3_000;
    rig.feed.commit(Array.from({ length: 2_765 }, (_, n) => ({ id: `P${n % 40}`, version: `1.0.${n}` })));
    await rig.end();
    const { feed } = rig;
    await rig.reset({ leaves: "none" });
    rig.feed = feed;
    await rig.read();
    expect(await rig.state()).toHaveLength(2_765);
    expect(await rig.cursor()).toMatchObject({ public: stampOf(1), pending: 0 });
  });

  it("is not read on while too many of its events wait", async () => {
    let open = false;
    const publish = (from: number, to: number) => {
      for (let n = from; n < to; n += 1) rig.feed.commit([{ id: `P${n}`, version: "1.0.0" }]);
      for (const { items } of rig.feed.pages)
        for (const { path } of items)
          rig.feed.instead.set(path, () => (open ? null : { status: 404, headers: {}, body: "" }));
    };
    rig.feed.page_most = 2;
    publish(0, 6);
    await rig.followed(`${rig.upstream.url}/v3/index.json`);
    rig.start({ messages_max: 5 });
    await rig.clock.advance(10_000);
    publish(6, 12);
    await rig.clock.advance(70_000);
    expect(await rig.cursor()).toMatchObject({ internal: stampOf(6), pending: 6 });
    expect((await rig.status())[`catalog ${rig.upstream.url}/v3/index.json`]).toMatchObject({
      failures: 0,
      reason: expect.stringContaining("More than 5 messages wait"),
    });
    open = true;
    await rig.clock.advance(120_000);
    await rig.calm();
    expect(await rig.state()).toHaveLength(12);
    expect(await rig.cursor()).toMatchObject({ public: stampOf(12), pending: 0, skipped: [] });
  });

  it("D25: is asked only for what changed: its index with its tag, and its last page", async () => {
    rig.feed.page_most = 1;
    for (let n = 0; n < 30; n += 1) rig.feed.commit([a(`1.0.${n}`)]);
    await rig.read();
    rig.feed.asked.length = 0;
    rig.feed.commit([a("2.0.0")]);
    await rig.poll();
    expect(rig.feed.asked.filter((path) => path.includes("/page"))).toEqual(["/v3/catalog0/page30.json"]);
    const looks = rig.upstream.requests.filter(({ path }) => path === "/v3/catalog0/index.json");
    expect(looks.slice(1).every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
  });

  it("D27: gives a page of long ago from a stale edge, and is asked again before anything behind it is read", async () => {
    rig.feed.page_most = 3;
    rig.feed.commit([a("1.0.0"), a("1.0.1")]);
    await rig.read();
    rig.feed.commit([a("1.0.2")]);
    const last = rig.feed.commit([b("1.0.0")]);
    let asked = 0;
    rig.feed.instead.set("/v3/catalog0/page0.json", () => {
      asked += 1;
      if (asked > 1) return null;
      return { status: 200, headers: {}, body: JSON.stringify(rig.feed.pageDocument(0, rig.upstream.url, 2)) };
    });
    await rig.poll();
    expect(asked).toBe(2);
    expect(await rig.versions("a")).toEqual(["1.0.0", "1.0.1", "1.0.2"]);
    expect(await rig.cursor()).toMatchObject({ public: last });
  });

  it("D27: gives an old page for ever, and then it is the index that is wrong", async () => {
    rig.feed.commit([a("1.0.0")]);
    rig.feed.pages[0]!.told.stamp = "2030-01-01T00:00:00Z";
    rig.feed.commit([b("1.0.0")], { split: 0, stamp: "2030-01-02T00:00:00Z" });
    await rig.read();
    await rig.poll();
    await rig.poll();
    expect([await rig.versions("a"), await rig.versions("b")]).toEqual([["1.0.0"], ["1.0.0"]]);
    expect(await rig.anomalies()).toEqual({ "a page older than its index": 1 });
  });
});
