/** D23: what clients ask for, one request after the other, each led on by the answer before, and what they need to find there. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { NuGetRig } from "./rig.ts";
import { openShelf } from "./shelf.ts";

let rig: NuGetRig;

beforeAll(async () => {
  rig = await openShelf();
}, 120_000);
afterAll(() => rig.end());

/** Shapes: what Microsoft's documentation of the server API calls required, each with its page. */
const url = z.url();
/** learn.microsoft.com/nuget/api/service-index */
const ServiceIndex = z.object({
  version: z.literal("3.0.0"),
  resources: z.array(z.object({ "@id": url, "@type": z.string() })),
});
/** learn.microsoft.com/nuget/api/package-base-address-resource */
const Versions = z.object({ versions: z.array(z.string().regex(/^[0-9a-z.+-]+$/)).min(1) });
/** learn.microsoft.com/nuget/api/registration-base-url-resource */
const Entry = z.object({ "@id": url, id: z.string(), version: z.string() });
const Leaf = z.object({ "@id": url, catalogEntry: Entry, packageContent: url });
const Page = z.object({
  "@id": url,
  count: z.number(),
  lower: z.string(),
  upper: z.string(),
  items: z.array(Leaf).optional(),
});
const Registration = z.object({ count: z.number(), items: z.array(Page) });
/** learn.microsoft.com/nuget/api/search-query-service-resource */
const Search = z.object({
  totalHits: z.number(),
  data: z.array(
    z.object({
      id: z.string(),
      version: z.string(),
      versions: z.array(z.object({ "@id": url, version: z.string(), downloads: z.number() })).min(1),
      packageTypes: z.array(z.object({ name: z.string() })),
      registration: url,
      tags: z.union([z.string(), z.array(z.string())]),
      authors: z.union([z.string(), z.array(z.string())]),
    }),
  ),
});
/** learn.microsoft.com/nuget/api/search-autocomplete-service-resource */
const Completed = z.object({ data: z.array(z.string()) });

/** Follows an address that an answer gave: everything has to lead back here. */
async function follow<T>(address: string, shape: z.ZodType<T>): Promise<T> {
  const { origin, pathname, search } = new URL(address);
  expect(origin).toBe("http://mirror.example");
  return shape.parse(await rig.json(`${pathname}${search}`));
}

async function partOf(...types: string[]): Promise<string> {
  const { resources } = await follow("http://mirror.example/nuget/v3/index.json", ServiceIndex);
  // The newest that it knows, as clients choose.
  for (const type of types) {
    const found = resources.find((resource) => resource["@type"] === type);
    if (found) return found["@id"];
  }
  throw new Error(`none of ${types.join(", ")} is there`);
}

const registrations = ["RegistrationsBaseUrl/Versioned", "RegistrationsBaseUrl/3.6.0", "RegistrationsBaseUrl/3.4.0"];

describe("dotnet restore", () => {
  it("finds the versions of a package, and is led to the package", async () => {
    const base = await partOf("PackageBaseAddress/3.0.0");
    expect(base.endsWith("/")).toBe(true);
    const { versions } = await follow(`${base}newtonsoft.json/index.json`, Versions);
    expect(versions).toContain("13.0.1");
    const nupkg = new URL(`${base}newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg`);
    expect((await rig.get(nupkg.pathname)).status).toBe(302);
  });

  it("is told with 404 that a package is not here, and goes on to its next source", async () => {
    const base = new URL(await partOf("PackageBaseAddress/3.0.0"));
    expect((await rig.get(`${base.pathname}no.such.package/index.json`)).status).toBe(404);
  });
});

describe("dotnet list package --outdated", () => {
  it("reads every version with its metadata, on pages of their own where they are many", async () => {
    const base = await partOf(...registrations);
    const { items } = await follow(`${base}many129/index.json`, Registration);
    const leaves = await Promise.all(items.map(async (page) => page.items ?? (await follow(page["@id"], Page)).items!));
    expect(leaves.flat().map((leaf) => leaf.catalogEntry.version)).toHaveLength(129);
  });

  it("sees what is deprecated and what is vulnerable", async () => {
    const base = await partOf(...registrations);
    const entry = async (id: string) =>
      (await rig.json<{ items: { items: { catalogEntry: object }[] }[] }>(new URL(`${base}${id}/index.json`).pathname))
        .items[0]!.items[0]!.catalogEntry;
    expect(await entry("old")).toMatchObject({ deprecation: { reasons: ["Legacy"] } });
    expect(await entry("holey")).toMatchObject({ vulnerabilities: [{ severity: "2" }] });
  });
});

/**
 * The fields of registration documents as nuget.org serves them (registration3-gz-semver2/microbuild.core/index.json of 2018, and that of a package
 * with external pages), as NuGet's own tests keep them. Ids of commits and JSON-LD contexts are left out: no client reads them, and a mirror has none.
 */
const real = {
  index: ["@id", "@type", "commitTimeStamp", "count", "items"],
  page: ["@id", "@type", "commitTimeStamp", "count", "items", "parent", "lower", "upper"],
  leaf: ["@id", "@type", "commitTimeStamp", "catalogEntry", "packageContent", "registration"],
  entry: [
    ...[
      "@id",
      "@type",
      "authors",
      "description",
      "iconUrl",
      "id",
      "language",
      "licenseUrl",
      "listed",
      "minClientVersion",
    ],
    ...["packageContent", "projectUrl", "published", "requireLicenseAcceptance", "summary", "tags", "title", "version"],
  ],
  leaf_alone: ["@id", "@type", "catalogEntry", "listed", "packageContent", "published", "registration"],
};

describe("a client that knows nuget.org's documents", () => {
  type Fields = Record<string, unknown> & { items: (Fields & { catalogEntry: Fields })[] };
  const missing = (document: object, fields: string[]) => fields.filter((field) => !(field in document));

  it("finds every field of theirs in ours, inline or on pages of their own", async () => {
    const base = new URL(await partOf(...registrations)).pathname;
    const index = await rig.json<Fields>(`${base}hidden/index.json`);
    const [page] = index.items;
    const [leaf] = page!.items;
    expect(missing(index, real.index)).toEqual([]);
    expect(missing(page!, real.page)).toEqual([]);
    expect(missing(leaf!, real.leaf)).toEqual([]);
    expect(missing(leaf!.catalogEntry, real.entry)).toEqual([]);
    const named = (await rig.json<Fields>(`${base}many129/index.json`)).items[0]!;
    expect(missing(named, real.page)).toEqual(["items"]);
    expect(missing(await rig.json(new URL(String(named["@id"])).pathname), real.page)).toEqual([]);
    expect(missing(await rig.json(`${base}hidden/1.0.0.json`), real.leaf_alone)).toEqual([]);
  });
});

describe("nuget search and Visual Studio", () => {
  it("browse without a word: 26 at a time, releases only, with SemVer 2", async () => {
    const service = await partOf("SearchQueryService/3.5.0", "SearchQueryService");
    const first = await follow(`${service}?q=&skip=0&take=26&prerelease=false&semVerLevel=2.0.0`, Search);
    expect(first.data.length).toBeGreaterThan(10);
    expect(first.data.every(({ version }) => !version.includes("-"))).toBe(true);
  });

  it("search, and open what they found", async () => {
    const service = await partOf("SearchQueryService/3.5.0", "SearchQueryService");
    const { data } = await follow(
      `${service}?q=newtonsoft.json&skip=0&take=20&prerelease=true&semVerLevel=2.0.0`,
      Search,
    );
    expect(data[0]!.id).toBe("Newtonsoft.Json");
    const { items } = await follow(data[0]!.registration, Registration);
    expect(items[0]!.items!.at(-1)!.catalogEntry.version).toBe(data[0]!.version);
  });

  it("complete what is typed into a project file", async () => {
    const service = await partOf("SearchAutocompleteService/3.5.0", "SearchAutocompleteService");
    expect((await follow(`${service}?q=newton&take=20&prerelease=true&semVerLevel=2.0.0`, Completed)).data).toContain(
      "Newtonsoft.Json",
    );
    expect((await follow(`${service}?id=newtonsoft.json&prerelease=true&semVerLevel=2.0.0`, Completed)).data).toContain(
      "13.0.2-beta1",
    );
  });
});
