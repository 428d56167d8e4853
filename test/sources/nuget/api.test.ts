/** Registration and flat container, each with its rules, and the service index that leads to them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NuGetRig } from "./rig.ts";
import { openShelf } from "./shelf.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = await openShelf();
}, 120_000);
afterAll(() => rig.end());

describe("the service index", () => {
  it("names every part that clients need, below its own address", async () => {
    const index = await rig.json<{ version: string; resources: { "@id": string; "@type": string }[] }>(
      "/nuget/v3/index.json",
    );
    expect(index.version).toBe("3.0.0");
    for (const { "@id": id } of index.resources) expect(id).toMatch(/^http:\/\/mirror\.example\/nuget\/v3\//);
    expect(index.resources.map((resource) => resource["@type"])).toEqual(
      expect.arrayContaining([
        ...[
          "PackageBaseAddress/3.0.0",
          "RegistrationsBaseUrl",
          "RegistrationsBaseUrl/3.4.0",
          "RegistrationsBaseUrl/3.6.0",
        ],
        ...[
          "SearchQueryService",
          "SearchQueryService/3.5.0",
          "SearchAutocompleteService",
          "SearchAutocompleteService/3.5.0",
        ],
      ]),
    );
  });

  it("is there for each feed by its number, too", async () => {
    const index = await rig.json<{ resources: { "@id": string }[] }>("/nuget/feeds/1/v3/index.json");
    expect(index.resources[0]!["@id"]).toMatch(/^http:\/\/mirror\.example\/nuget\/feeds\/1\/v3\//);
  });

  it("says how fresh it is", async () => {
    expect((await rig.get("/nuget/v3/index.json")).headers.get("tidemark-fresh-at")).toMatch(/^20\d\d-.*Z$/);
  });
});

describe("D21: registration", () => {
  const hive = "/nuget/v3/registration-gz-semver2";

  it.each([
    [64, 1, true],
    [65, 2, true],
    [127, 2, true],
    [128, 2, false],
    [129, 3, false],
  ])("of %i versions has %i pages, inline: %o", async (count, pages, inline) => {
    const index = await rig.json<{
      count: number;
      items: { "@id": string; count: number; lower: string; upper: string; items?: object[] }[];
    }>(`${hive}/many${count}/index.json`);
    expect(index.count).toBe(pages);
    expect(index.items.map((page) => page.count).reduce((a, b) => a + b)).toBe(count);
    for (const page of index.items) {
      expect(page.items !== undefined).toBe(inline);
      if (inline) continue;
      const alone = await rig.json<{ items: object[]; lower: string }>(new URL(page["@id"]).pathname);
      expect(alone).toMatchObject({ lower: page.lower, upper: page.upper, count: page.count });
      expect(alone.items).toHaveLength(page.count);
    }
  });

  it("is compressed where the protocol says so, and only there", async () => {
    for (const [name, encoding] of [
      ["registration", null],
      ["registration-gz", "gzip"],
      ["registration-gz-semver2", "gzip"],
    ])
      expect((await rig.get(`/nuget/v3/${name}/newtonsoft.json/index.json`)).headers.get("content-encoding")).toBe(
        encoding,
      );
  });

  it("has bounds without metadata and versions with it", async () => {
    const index = await rig.json(`${hive}/with.metadata/index.json`);
    expect(index).toMatchObject({
      items: [{ lower: "1.0.0", upper: "1.0.0", items: [{ catalogEntry: { version: "1.0.0+build.5" } }] }],
    });
  });

  it("D20: without SemVer 2 has none of it, also where only a dependency is", async () => {
    for (const plain of ["registration", "registration-gz"]) {
      expect((await rig.get(`/nuget/v3/${plain}/only.semver2/index.json`)).status).toBe(404);
      expect((await rig.get(`/nuget/v3/${plain}/with.metadata/index.json`)).status).toBe(404);
      expect(await rig.json(`/nuget/v3/${plain}/by.dependency/index.json`)).toMatchObject({
        items: [{ count: 1, upper: "1.0.0" }],
      });
    }
    expect(await rig.json(`${hive}/by.dependency/index.json`)).toMatchObject({ items: [{ count: 2, upper: "1.1.0" }] });
  });

  it("has a leaf for each version, and says what is deprecated, vulnerable or not listed", async () => {
    expect(await rig.json(`${hive}/hidden/1.0.0.json`)).toMatchObject({
      listed: false,
      packageContent: expect.stringMatching(/hidden\.1\.0\.0\.nupkg$/),
    });
    expect(await rig.json(`${hive}/old/index.json`)).toMatchObject({
      items: [
        {
          items: [
            { catalogEntry: { deprecation: { reasons: ["Legacy"], alternatePackage: { id: "New", range: "*" } } } },
          ],
        },
      ],
    });
    expect(await rig.json(`${hive}/holey/index.json`)).toMatchObject({
      items: [{ items: [{ catalogEntry: { vulnerabilities: [{ severity: "2" }] } }] }],
    });
    expect((await rig.get(`${hive}/nobody/index.json`)).status).toBe(404);
    expect((await rig.get(`${hive}/hidden/9.9.9.json`)).status).toBe(404);
  });
});

describe("D22: the flat container", () => {
  it("has what is not listed too, in lower case", async () => {
    expect(await rig.versions("partly.hidden")).toEqual(["1.0.0", "2.0.0-beta"]);
    expect(await rig.versions("Hidden")).toEqual(["1.0.0"]);
    const { data } = await rig.json<{ data: { id: string }[] }>("/nuget/v3/search?q=hidden&prerelease=true");
    expect(data.map(({ id }) => id)).toEqual(["Partly.Hidden"]);
    expect((await rig.get("/nuget/v3/flatcontainer/nobody/index.json")).status).toBe(404);
  });

  it("sends clients to the feed for packages and their nuspecs, and nowhere for anything else", async () => {
    const nupkg = await rig.get("/nuget/v3/flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg");
    expect([nupkg.status, nupkg.headers.get("location")]).toEqual([
      302,
      `${rig.upstream.url}/v3-flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg`,
    ]);
    expect((await rig.get("/nuget/v3/flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.nuspec")).status).toBe(302);
    expect((await rig.get("/nuget/v3/flatcontainer/newtonsoft.json/13.0.1/other.exe")).status).toBe(404);
  });

  it("D24: knows ids of any letters and length, whatever their case", async () => {
    for (const id of ["настройки", "НАСТРОЙКИ", "kelvin", "\u212AELVIN", "x".repeat(128)])
      expect(await rig.versions(id)).toEqual(["1.0.0"]);
  });
});
