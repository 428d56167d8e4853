/** Search and autocomplete, as clients use them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NuGetRig } from "./rig.ts";
import { openShelf } from "./shelf.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = await openShelf();
}, 120_000);
afterAll(() => rig.end());

interface SearchAnswer {
  totalHits: number;
  data: { id: string; version: string; versions: { version: string }[] }[];
}
const search = (query: string) => rig.json<SearchAnswer>(`/nuget/v3/search?${query}`);
const ids = async (query: string) => (await search(query)).data.map(({ id }) => id);

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
    expect(data.find(({ id }) => id === "Newest.Deleted")).toMatchObject({ version: "1.0.0" });
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
