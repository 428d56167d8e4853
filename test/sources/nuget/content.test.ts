/** The packages themselves: passed on from the feed, for machines that reach nothing else. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

const BASE = "/nuget/v3/flatcontainer/some.package/1.0.0";
const THERE = "/v3-flatcontainer/some.package/1.0.0";

let rig: NuGetRig;

beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(async () => {
  await rig.reset({ content: "proxy" });
  rig.feed.commit([{ id: "Some.Package", version: "1.0.0" }]);
  rig.feed.instead.set(`${THERE}/some.package.1.0.0.nupkg`, () => ({
    status: 200,
    headers: { "content-type": "application/octet-stream" },
    body: "PK and all the rest",
  }));
  rig.feed.instead.set(`${THERE}/some.package.nuspec`, () => ({ status: 200, headers: {}, body: "<package/>" }));
  await rig.read();
});
afterEach(() => rig.end());

/** Lets time pass until it is answered. */
async function got(path: string): Promise<Response> {
  let response: Response | null = null;
  const asking = rig.get(path).then((answer) => {
    response = answer;
  });
  await rig.clock.until(() => response !== null, 600_000);
  await asking;
  return response!;
}

describe("in proxy mode", () => {
  it("a package and its nuspec are what the feed has, in any case", async () => {
    const nupkg = await got(`${BASE}/Some.Package.1.0.0.nupkg`);
    expect([nupkg.status, nupkg.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(await nupkg.text()).toBe("PK and all the rest");
    expect(await (await got(`${BASE}/some.package.nuspec`)).text()).toBe("<package/>");
  });

  it("what the feed has not, is not here either, and nothing else is asked for", async () => {
    expect((await got(BASE.replace("1.0.0", "2.0.0/some.package.2.0.0.nupkg"))).status).toBe(404);
    rig.feed.asked.length = 0;
    for (const file of ["other.exe", "some.package.1.0.0.nupkg.sha512", "..%2Findex.json"])
      expect((await got(`${BASE}/${file}`)).status).toBe(404);
    expect(rig.feed.asked).toEqual([]);
  });

  it("a feed that asks us to wait is not asked again before its time, and clients are told", async () => {
    rig.feed.instead.set(`${THERE}/some.package.1.0.0.nupkg`, () => ({
      status: 429,
      headers: { "retry-after": "120" },
      body: "",
    }));
    expect((await got(`${BASE}/some.package.1.0.0.nupkg`)).status).toBe(503);
    rig.feed.asked.length = 0;
    expect((await got(`${BASE}/some.package.nuspec`)).status).toBe(503);
    expect(rig.feed.asked).toEqual([]);
  });
});
