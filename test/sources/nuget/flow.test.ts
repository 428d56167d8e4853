/** From a service index to a feed that clients can use: what is published is there, in the state of its newest event. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset());
afterEach(() => rig.end());

const a = (version: string, leaf: Record<string, unknown> = {}) => ({ id: "Newtonsoft.Json", version, leaf });

describe("a feed", () => {
  it("is mirrored from its first commit, and followed", async () => {
    rig.feed.commit([a("1.0.0"), { id: "Other", version: "2.0" }]);
    const first = rig.feed.commit([a("1.1.0-Beta.1")]);
    await rig.read();
    expect(await rig.versions("newtonsoft.json")).toEqual(["1.0.0", "1.1.0-beta.1"]);
    expect(await rig.versions("OTHER")).toEqual(["2.0.0"]);
    expect(await rig.cursor()).toMatchObject({ internal: first, public: first, pending: 0, skipped: [] });
    const second = rig.feed.commit([a("1.1.0")]);
    await rig.poll();
    expect(await rig.versions("newtonsoft.json")).toEqual(["1.0.0", "1.1.0-beta.1", "1.1.0"]);
    expect(await rig.cursor()).toMatchObject({ public: second });
  });

  it("asks for one document when nothing is new, and for two and the leaf when something is", async () => {
    rig.feed.commit([a("1.0.0")]);
    await rig.read();
    rig.feed.asked.length = 0;
    await rig.poll();
    expect(new Set(rig.feed.asked)).toEqual(new Set(["/v3/catalog0/index.json"]));
    rig.feed.commit([a("1.0.1")]);
    rig.feed.asked.length = 0;
    await rig.poll();
    expect(rig.feed.asked.filter((path) => !path.includes("/data/")).slice(0, 2)).toEqual([
      "/v3/catalog0/index.json",
      "/v3/catalog0/page0.json",
    ]);
    expect(rig.feed.asked.filter((path) => path.includes("/page"))).toHaveLength(1);
    expect(rig.feed.asked.filter((path) => path.includes("/data/"))).toHaveLength(1);
  });

  it("has in its search what it has in its registration", async () => {
    rig.feed.commit([a("1.0.0", { tags: ["json"], description: "Reads and writes JSON." })]);
    await rig.read();
    const { totalHits, data } = await rig.json<{ totalHits: number; data: { id: string; version: string }[] }>(
      "/nuget/v3/search?q=json",
    );
    expect({ totalHits, data }).toMatchObject({ totalHits: 1, data: [{ id: "Newtonsoft.Json", version: "1.0.0" }] });
    const index = await rig.json("/nuget/v3/registration-gz-semver2/newtonsoft.json/index.json");
    expect(index).toMatchObject({
      count: 1,
      items: [{ count: 1, lower: "1.0.0", items: [{ catalogEntry: { listed: true } }] }],
    });
  });
});
