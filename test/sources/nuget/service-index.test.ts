/** Service indexes that move, are relative or lack what is needed; and catalogs that are read from a date on, or once more. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset());
afterEach(() => rig.end());

const a = (version: string) => ({ id: "A", version });
const b = (version: string) => ({ id: "B", version });

describe("D26: a service index", () => {
  const answer = (resources: object[]) => ({
    status: 200,
    headers: {},
    body: JSON.stringify({ version: "3.0.0", resources }),
  });

  it("may name its parts relative to itself", async () => {
    rig.feed.commit([a("1.0.0")]);
    rig.feed.instead.set("/v3/index.json", () =>
      answer([{ "@id": "catalog0/index.json", "@type": ["Catalog/3.0.0"] }]),
    );
    await rig.read();
    expect(await rig.versions("a")).toEqual(["1.0.0"]);
  });

  it("without a catalog cannot be followed, and says so", async () => {
    rig.feed.instead.set("/v3/index.json", () => answer([{ "@id": "/q", "@type": "SearchQueryService" }]));
    await rig.read();
    const [status] = Object.values(await rig.status());
    expect(status).toMatchObject({ status: "gone", reason: expect.stringContaining("names no Catalog/3.0.0") });
  });

  it("is asked again when the catalog is not where it was", async () => {
    rig.feed.commit([a("1.0.0")]);
    await rig.read();
    let moved = false;
    rig.feed.instead.set("/v3/catalog0/index.json", () => (moved ? { status: 404, headers: {}, body: "" } : null));
    moved = true;
    rig.feed.instead.set("/v3/index.json", () => answer([{ "@id": "/new/index.json", "@type": "Catalog/3.0.0" }]));
    rig.feed.instead.set("/new/index.json", () => {
      const page = rig.feed.pageDocument(0, rig.upstream.url) as { commitTimeStamp: string; count: number };
      const item = {
        "@id": `${rig.upstream.url}/v3/catalog0/page0.json`,
        commitTimeStamp: page.commitTimeStamp,
        count: page.count,
      };
      return {
        status: 200,
        headers: {},
        body: JSON.stringify({ commitTimeStamp: page.commitTimeStamp, items: [item] }),
      };
    });
    rig.feed.commit([a("1.0.1")]);
    await rig.poll();
    await rig.poll();
    await rig.poll();
    expect(await rig.versions("a")).toEqual(["1.0.0", "1.0.1"]);
  });

  it("that asks us to wait is waited for", async () => {
    rig.feed.commit([a("1.0.0")]);
    rig.feed.instead.set("/v3/index.json", (times) =>
      times > 1 ? null : { status: 429, headers: { "retry-after": "30" }, body: "" },
    );
    await rig.read();
    await rig.poll();
    expect(await rig.versions("a")).toEqual(["1.0.0"]);
    expect(Object.values(await rig.status()).map((row) => row.failures)).toEqual([0, 0]);
  });
});

describe("a replay", () => {
  it("reads what happened since a date once more, leaves too", async () => {
    rig.feed.page_most = 1;
    rig.feed.commit([a("1.0.0")], { stamp: "2020-01-01T00:00:00.1Z" });
    const last = rig.feed.commit([b("1.0.0")], { stamp: "2020-02-01T00:00:00.1Z" });
    await rig.read();
    rig.feed.asked.length = 0;
    await rig.followed(`${rig.upstream.url}/v3/index.json`, { replay: "2020-01-15" });
    await rig.poll();
    expect(rig.feed.asked.filter((path) => path.includes("/data/"))).toEqual([expect.stringContaining("b.1.0.0")]);
    expect(await rig.cursor()).toMatchObject({ public: last, pending: 0 });
    expect(await rig.anomalies()).toEqual({});
  });

  it("a feed may be followed from a date on", async () => {
    rig.feed.page_most = 1;
    rig.feed.commit([a("1.0.0")], { stamp: "2020-01-01T00:00:00.1Z" });
    rig.feed.commit([b("1.0.0")], { stamp: "2020-02-01T00:00:00.1Z" });
    await rig.read({ since: "2020-01-15" });
    expect([await rig.versions("a"), await rig.versions("b")]).toEqual([[], ["1.0.0"]]);
  });
});
