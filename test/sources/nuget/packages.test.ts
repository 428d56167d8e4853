/** Packages and their versions, event by event: listed and not, deleted and back, poisoned, and how far the public cursor is. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FeedEvent } from "../../../src/demo/nuget/feed.ts";
import { stampOf } from "../../../src/demo/nuget/feed.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset());
afterEach(() => rig.end());

const a = (version: string, leaf: Record<string, unknown> = {}): FeedEvent => ({ id: "A", version, leaf });
const removed = (version: string, id = "A"): FeedEvent => ({ id, version, deletes: true });
const search = async (query: string) =>
  (
    await rig.json<{ data: { id: string; version: string; versions: { version: string }[] }[] }>(
      `/nuget/v3/search?${query}`,
    )
  ).data;

describe("a version", () => {
  it("D4: that was unlisted and listed again in two commits on two pages is listed", async () => {
    rig.feed.page_most = 1;
    rig.feed.commit([a("1.0.0")]);
    rig.feed.commit([a("1.0.0", { listed: false })]);
    rig.feed.commit([a("1.0.0", { listed: true })]);
    await rig.followed(`${rig.upstream.url}/v3/index.json`);
    rig.start();
    rig.start();
    await rig.calm();
    expect(await rig.state()).toMatchObject([{ listed: true, stamp: stampOf(3) }]);
    rig.feed.commit([a("1.0.0", { listed: false })]);
    await rig.poll();
    expect(await rig.state()).toMatchObject([{ listed: false }]);
  });

  it.each([
    ["no word and the year 1900", { listed: undefined, published: "1900-01-01T00:00:00Z" }, false],
    ["no word and the year 1900 with an offset", { listed: undefined, published: "1900-01-01T00:00:00+00:00" }, false],
    ["no word and another year", { listed: undefined, published: "2019-01-01T00:00:00Z" }, true],
    ["a yes and the year 1900", { listed: true, published: "1900-01-01T00:00:00Z" }, true],
    ["a no and another year", { listed: false, published: "2019-01-01T00:00:00Z" }, false],
  ])("D11: with %s is listed: %o", async (_, leaf, listed) => {
    rig.feed.commit([a("1.0.0", leaf)]);
    await rig.read();
    expect(await rig.state()).toMatchObject([{ listed }]);
  });

  it("D12: that was deleted and pushed again is there; one that nobody knows may be deleted", async () => {
    rig.feed.commit([a("1.0.0"), a("2.0.0")]);
    rig.feed.commit([removed("1.0.0"), removed("9.9.9", "Nobody")]);
    await rig.read();
    expect([await rig.versions("a"), await rig.versions("nobody")]).toEqual([["2.0.0"], []]);
    rig.feed.commit([a("1.0.0")]);
    await rig.poll();
    expect(await rig.versions("a")).toEqual(["1.0.0", "2.0.0"]);
    expect(rig.feed.asked.filter((path) => path.includes("nobody"))).toEqual([]);
  });

  it("D12: is deleted by a version that is written otherwise, and an id in another case", async () => {
    rig.feed.commit([{ id: "Some.Package", version: "1.0.0" }]);
    await rig.read();
    rig.feed.commit([removed("1.0.0.0", "SOME.package")]);
    await rig.poll();
    expect(await rig.versions("some.package")).toEqual([]);
  });

  it("D13: that flows again without a change looks as before", async () => {
    rig.feed.commit([a("1.0.0", { tags: ["x"] })]);
    await rig.read();
    const before = await search("q=a");
    rig.feed.commit([a("1.0.0", { tags: ["x"] })]);
    await rig.poll();
    expect(await search("q=a")).toEqual(before);
  });

  it("D14: may have anything where dependencies, tags and authors belong", async () => {
    const leaf = {
      authors: ["Ann", "Bob"],
      tags: "one two,three",
      dependencyGroups: {
        targetFramework: "net8.0",
        dependencies: [
          { id: "X", range: ["[1.0.0, )"] },
          { id: "Y", range: "" },
          { id: "Z" },
          { id: "W", range: "nonsense" },
          {},
        ],
      },
    };
    rig.feed.commit([a("1.0.0", leaf), a("1.0.1", { dependencyGroups: [{ targetFramework: "net9.0" }] })]);
    await rig.read();
    const index = await rig.json<{ items: { items: { catalogEntry: Record<string, unknown> }[] }[] }>(
      "/nuget/v3/registration-gz-semver2/a/index.json",
    );
    const [first, second] = index.items[0]!.items.map((item) => item.catalogEntry);
    expect(first).toMatchObject({ authors: "Ann, Bob", tags: ["one", "two", "three"] });
    const [group] = first!.dependencyGroups as { dependencies: { id: string; range: string }[] }[];
    expect(group!.dependencies.map(({ id, range }) => [id, range])).toEqual([
      ["X", "[1.0.0, )"],
      ["Y", "(, )"],
      ["Z", "(, )"],
      ["W", "(, )"],
    ]);
    expect(second!.dependencyGroups).toMatchObject([{ targetFramework: "net9.0" }]);
  });

  it("is spelt as its newest event spells the id", async () => {
    rig.feed.commit([{ id: "newtonsoft.json", version: "1.0.0" }]);
    rig.feed.commit([{ id: "Newtonsoft.Json", version: "1.0.1" }]);
    await rig.read();
    expect((await search("q=newtonsoft")).map(({ id }) => id)).toEqual(["Newtonsoft.Json"]);
    // A deletion spells it as somebody once typed it.
    rig.feed.commit([removed("1.0.0", "NEWTONSOFT.json")]);
    await rig.poll();
    expect((await search("q=newtonsoft")).map(({ id }) => id)).toEqual(["Newtonsoft.Json"]);
  });
});

describe("a leaf", () => {
  const poison = "/v3/catalog0/data/2015.02.01.06.22.46.765/a.1.0.0.json";

  it("D15: that is not there is tried again, then parked, and the cursor says what it passed over", async () => {
    rig.feed.commit([a("1.0.0"), { id: "B", version: "1.0.0" }]);
    const last = rig.feed.commit([a("1.0.1")]);
    rig.feed.instead.set(poison, () => ({ status: 404, headers: {}, body: "" }));
    await rig.followed(`${rig.upstream.url}/v3/index.json`);
    rig.start();
    await rig.clock.advance(10_000);
    expect(await rig.versions("b")).toEqual(["1.0.0"]);
    expect(await rig.cursor()).toMatchObject({ internal: last, public: null, skipped: [] });
    await rig.clock.advance(3600_000);
    await rig.calm();
    const cursor = await rig.cursor();
    expect(cursor).toMatchObject({ public: last, pending: 0 });
    expect(cursor.skipped).toMatchObject([
      { package: "a", version: "1.0.0", reason: expect.stringContaining("HTTP 404") },
    ]);
    expect(await rig.versions("a")).toEqual(["1.0.1"]);
  });

  it("D15: that comes a little later than its page is read then", async () => {
    rig.feed.commit([a("1.0.0")]);
    rig.feed.instead.set(poison, (times) => (times > 2 ? null : { status: 404, headers: {}, body: "" }));
    await rig.read();
    await rig.clock.advance(600_000);
    await rig.calm();
    expect(await rig.versions("a")).toEqual(["1.0.0"]);
    expect((await rig.cursor()).skipped).toEqual([]);
  });

  it("of another package is not taken for this one's", async () => {
    rig.feed.commit([a("1.0.0")]);
    rig.feed.instead.set(poison, (times) =>
      times > 1 ? null : { status: 200, headers: {}, body: JSON.stringify({ id: "B", version: "3.0.0" }) },
    );
    await rig.read();
    await rig.clock.advance(600_000);
    await rig.calm();
    expect(await rig.versions("a")).toEqual(["1.0.0"]);
  });

  it.each([
    ["all", 4],
    ["newest", 2],
    ["none", 0],
  ])("is read of %s of the versions, as the setting says", async (leaves, read) => {
    await rig.end();
    await rig.reset({ leaves });
    rig.feed.commit([a("1.0.0"), a("1.1.0"), a("2.0.0-rc"), a("0.9.0")]);
    await rig.read();
    expect(rig.feed.asked.filter((path) => path.includes("/data/"))).toHaveLength(read);
    expect(await rig.versions("a")).toEqual(["0.9.0", "1.0.0", "1.1.0", "2.0.0-rc"]);
    rig.feed.commit([removed("2.0.0-rc"), removed("1.1.0")]);
    await rig.poll();
    const [found] = await search("q=a");
    expect(found).toMatchObject({ version: "1.0.0" });
    expect(rig.feed.asked.filter((path) => path.includes("a.1.0.0")).length).toBe(leaves === "none" ? 0 : 1);
  });

  it("is read once for several events of a version on a page", async () => {
    for (let n = 0; n < 10; n += 1) rig.feed.commit([a("1.0.0", { listed: n % 2 === 1 })]);
    await rig.read();
    expect(rig.feed.asked.filter((path) => path.includes("/data/"))).toHaveLength(1);
    expect(await rig.state()).toMatchObject([{ listed: true }]);
  });

  it("of a deleted version is not read", async () => {
    rig.feed.commit([a("1.0.0"), removed("2.0.0")]);
    await rig.read();
    expect(rig.feed.asked.filter((path) => path.includes("/data/"))).toHaveLength(1);
  });
});

describe("D17: the public cursor", () => {
  it("moves over whole commits, when nothing before waits any more", async () => {
    const stamps = ["C", "D", "E"].map((id) => rig.feed.commit([{ id, version: "1.0.0" }]));
    const gates = new Set<string>();
    for (const [n, id] of ["c", "d", "e"].entries()) {
      const folder = stamps[n]!.slice(0, 23).replaceAll(/[-T:]/g, ".");
      rig.feed.instead.set(`/v3/catalog0/data/${folder}/${id}.1.0.0.json`, () =>
        gates.has(id) ? null : { status: 404, headers: {}, body: "" },
      );
    }
    await rig.followed(`${rig.upstream.url}/v3/index.json`);
    rig.start();
    const seen: (string | null)[] = [];
    // A leaf that is not there is tried again after 15, 30 and 60 seconds.
    for (const [id, ms] of [
      ["d", 20_000],
      ["e", 40_000],
      ["c", 90_000],
    ] as const) {
      await rig.clock.advance(1_000);
      gates.add(id);
      await rig.clock.advance(ms);
      expect(await rig.versions(id)).toEqual(["1.0.0"]);
      seen.push((await rig.cursor()).public);
    }
    expect(seen).toEqual([null, null, stamps[2]]);
  });
});

describe("D5: a package with a hundred events", () => {
  it("is handled by one worker at a time, and others do not wait for it", async () => {
    rig.feed.commit(Array.from({ length: 100 }, (_, n) => a(`1.0.${n}`, { listed: false })));
    rig.feed.commit(Array.from({ length: 20 }, (_, n) => ({ id: `Q${n}`, version: "1.0.0" })));
    let at_once = 0;
    let most = 0;
    rig.events.on("pull_ended", () => {
      at_once -= 1;
    });
    rig.events.on("claim", ({ count }) => {
      at_once += count;
      most = Math.max(most, at_once);
    });
    await rig.read();
    expect(await rig.state()).toHaveLength(120);
    expect(most).toBeGreaterThan(5);
    expect(rig.ended.filter(({ outcome }) => outcome === "lost")).toEqual([]);
  });
});
