/** The V3 API as clients use it: registration, flat container, search and autocomplete, each with its rules. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FeedEvent } from "../../../src/demo/nuget/feed.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

let rig: NuGetRig;

const many = (id: string, count: number): FeedEvent[] =>
  Array.from({ length: count }, (_, n) => ({ id, version: `1.0.${n}` }));

/** One feed for all of these, which only read. */
beforeAll(async () => {
  rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
  await rig.reset();
  const { feed } = rig;
  feed.commit([
    {
      id: "Newtonsoft.Json",
      version: "13.0.1",
      leaf: { tags: ["json"], description: "A framework for JSON.", title: "Json.NET" },
    },
    { id: "Newtonsoft.Json", version: "13.0.2-beta1", leaf: { tags: ["json"], description: "A framework for JSON." } },
    { id: "Newtonsoft.Json.Bson", version: "1.0.2", leaf: { description: "Binary." } },
    { id: "System.Text.Json", version: "8.0.0", leaf: { description: "High-performance serializers." } },
    {
      id: "Other.Thing",
      version: "1.0.0",
      leaf: { description: "Reads json files, among other things.", packageTypes: [{ name: "DotnetTool" }] },
    },
    { id: "Only.Prerelease", version: "1.0.0-alpha" },
    { id: "Only.SemVer2", version: "1.0.0-alpha.1" },
    { id: "By.Dependency", version: "1.0.0" },
    {
      id: "By.Dependency",
      version: "1.1.0",
      leaf: { dependencyGroups: [{ dependencies: [{ id: "X", range: "[1.0.0-a.b, )" }] }] },
    },
    { id: "With.Metadata", version: "1.0.0", leaf: { verbatimVersion: "1.0.0+build.5" } },
    { id: "Hidden", version: "1.0.0", leaf: { listed: false } },
    { id: "Partly.Hidden", version: "1.0.0", leaf: { listed: false } },
    { id: "Partly.Hidden", version: "2.0.0-Beta" },
    { id: "EntityFrameworkCore", version: "9.0.0" },
    { id: "настройки", version: "1.0.0" },
    { id: "\u212Aelvin", version: "1.0.0" },
    { id: "x".repeat(128), version: "1.0.0" },
    {
      id: "Old",
      version: "1.0.0",
      leaf: { deprecation: { reasons: ["Legacy"], message: "Use New.", alternatePackage: { id: "New", range: "*" } } },
    },
    {
      id: "Holey",
      version: "1.0.0",
      leaf: { vulnerabilities: [{ advisoryUrl: "https://advisories.example/1", severity: "2" }] },
    },
  ]);
  for (const count of [64, 65, 127, 128, 129]) feed.commit(many(`Many${count}`, count));
  await rig.read();
}, 120_000);
afterAll(() => rig.end());

interface SearchAnswer {
  totalHits: number;
  data: { id: string; version: string; versions: { version: string }[] }[];
}
const search = (query: string) => rig.json<SearchAnswer>(`/nuget/v3/search?${query}`);
const ids = async (query: string) => (await search(query)).data.map(({ id }) => id);

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
    expect(await ids("q=hidden&prerelease=true")).toEqual(["Partly.Hidden"]);
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

describe("search", () => {
  it("finds the id itself first, then ids that begin with it, then ids with the word, then tags and descriptions", async () => {
    expect(await ids("q=newtonsoft.json")).toEqual(["Newtonsoft.Json", "Newtonsoft.Json.Bson"]);
    const found = await ids("q=json");
    expect(found[0]).toMatch(/Json$/);
    expect(found.at(-1)).toBe("Other.Thing");
    expect(new Set(found)).toEqual(
      new Set(["Newtonsoft.Json", "System.Text.Json", "Newtonsoft.Json.Bson", "Other.Thing"]),
    );
  });

  it("finds a word of an id that only its capitals make, and the beginning of one", async () => {
    expect(await ids("q=framework+core")).toEqual(["EntityFrameworkCore"]);
    expect(await ids("q=entityfr")).toEqual(["EntityFrameworkCore"]);
  });

  it("says how many there are, and gives a part of them", async () => {
    const all = await search("q=&prerelease=true&semVerLevel=2.0.0&take=1000");
    expect(all.totalHits).toBe(all.data.length);
    const some = await search("q=&prerelease=true&semVerLevel=2.0.0&skip=3&take=2");
    expect(some.totalHits).toBe(all.totalHits);
    expect(some.data.map(({ id }) => id)).toEqual(all.data.slice(3, 5).map(({ id }) => id));
    expect((await search("q=json&take=0")).data).toEqual([]);
  });

  it("D20: hides prereleases and SemVer 2 from those who do not ask for them", async () => {
    expect(await ids("q=only")).toEqual([]);
    expect(await ids("q=only&prerelease=true")).toEqual(["Only.Prerelease"]);
    expect(new Set(await ids("q=only&prerelease=true&semVerLevel=2.0.0"))).toEqual(
      new Set(["Only.Prerelease", "Only.SemVer2"]),
    );
    expect((await search("q=by.dependency")).data).toMatchObject([
      { version: "1.0.0", versions: [{ version: "1.0.0" }] },
    ]);
    expect((await search("q=by.dependency&semVerLevel=2.0.0")).data).toMatchObject([{ version: "1.1.0" }]);
    expect((await search("q=newtonsoft.json&take=1")).data).toMatchObject([
      { version: "13.0.1", versions: [{ version: "13.0.1" }] },
    ]);
    expect((await search("q=newtonsoft.json&take=1&prerelease=true")).data).toMatchObject([
      { version: "13.0.2-beta1" },
    ]);
  });

  it("takes a type of package and fields", async () => {
    expect(await ids("packageType=dotnettool")).toEqual(["Other.Thing"]);
    expect(await ids("q=packageid:newtonsoft.json")).toEqual(["Newtonsoft.Json"]);
    expect(await ids("q=tags:json")).toEqual(["Newtonsoft.Json"]);
  });

  it.each(["skip=3001", "skip=-1", "take=x", "prerelease=maybe", "semVerLevel=two"])(
    "refuses %s with a sentence",
    async (query) => {
      const response = await rig.get(`/nuget/v3/search?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: "InputInvalid", sentence: expect.stringMatching(/ must be /) },
      });
    },
  );

  it("survives what people type", async () => {
    for (const q of [
      "'",
      "\\",
      "a'b\\c:*",
      '"unclosed',
      "(",
      "&|!",
      ":",
      "   ",
      "%",
      "\u0000",
      "id:",
      "ä ö",
      "x".repeat(900),
    ])
      expect((await rig.get(`/nuget/v3/search?q=${encodeURIComponent(q)}`)).status, q).toBe(200);
  });

  it("D18: never shows a version that registration lacks", async () => {
    const { data } = await search("q=&prerelease=true&semVerLevel=2.0.0&take=1000");
    for (const { id, versions } of data) {
      const known = await rig.versions(id);
      expect(known).toEqual(
        expect.arrayContaining(versions.map(({ version }) => version.replace(/\+.*/, "").toLowerCase())),
      );
    }
  });
});

describe("autocomplete", () => {
  const complete = async (query: string) =>
    (await rig.json<{ data: string[] }>(`/nuget/v3/autocomplete?${query}`)).data;

  it("completes ids", async () => {
    expect(await complete("q=newton")).toEqual(["Newtonsoft.Json", "Newtonsoft.Json.Bson"]);
    expect(await complete("q=hidden")).toEqual([]);
  });

  it("lists the versions of an id that are listed", async () => {
    expect(await complete("id=Newtonsoft.JSON")).toEqual(["13.0.1"]);
    expect(await complete("id=newtonsoft.json&prerelease=true")).toEqual(["13.0.1", "13.0.2-beta1"]);
    expect(await complete("id=hidden")).toEqual([]);
  });
});
