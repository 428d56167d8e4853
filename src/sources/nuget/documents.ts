/** The documents of the V3 protocol that clients are given, made from rows of the mirror, purely. */
import type { VersionRow } from "./feed-rows.ts";
import type { DependencyGroup } from "./leaf.ts";
import { lowerId } from "./package-id.ts";
import { ticksOf } from "./stamp.ts";

/** Where the parts of a feed are, below the address that the client used. */
export class Places {
  readonly root: string;

  /** `root` is the address of the service index without its last part. */
  constructor(root: string) {
    this.root = root.replace(/\/+$/, "");
  }

  hive(hive: Hive): string {
    return `${this.root}/${hive}`;
  }

  registration(hive: Hive, lower_id: string, rest: string): string {
    return `${this.hive(hive)}/${encodeURIComponent(lower_id)}/${rest}`;
  }

  content(lower_id: string, version_key: string): string {
    const [id, version] = [encodeURIComponent(lower_id), encodeURIComponent(version_key)];
    return `${this.root}/flatcontainer/${id}/${version}/${id}.${version}.nupkg`;
  }
}

/** Plain for the oldest clients, compressed for later ones, and with SemVer 2 for those that know it. */
export const hives = ["registration", "registration-gz", "registration-gz-semver2"] as const;
export type Hive = (typeof hives)[number];

const types: [string, string[], string][] = [
  [
    "search",
    ["SearchQueryService", "SearchQueryService/3.0.0-beta", "SearchQueryService/3.0.0-rc", "SearchQueryService/3.5.0"],
    "Search for packages.",
  ],
  [
    "autocomplete",
    [
      "SearchAutocompleteService",
      "SearchAutocompleteService/3.0.0-beta",
      "SearchAutocompleteService/3.0.0-rc",
      "SearchAutocompleteService/3.5.0",
    ],
    "Complete the ids and versions of packages.",
  ],
  [
    "registration/",
    ["RegistrationsBaseUrl", "RegistrationsBaseUrl/3.0.0-beta", "RegistrationsBaseUrl/3.0.0-rc"],
    "Versions of packages, without SemVer 2.",
  ],
  ["registration-gz/", ["RegistrationsBaseUrl/3.4.0"], "Versions of packages, compressed, without SemVer 2."],
  [
    "registration-gz-semver2/",
    ["RegistrationsBaseUrl/3.6.0", "RegistrationsBaseUrl/Versioned"],
    "Versions of packages, compressed, with SemVer 2.",
  ],
  ["flatcontainer/", ["PackageBaseAddress/3.0.0"], "The packages themselves."],
];

/** What a client reads first. */
export function serviceIndex({ root }: Places): object {
  const resources = types.flatMap(([path, names, comment]) =>
    names.map((type) => ({
      "@id": `${root}/${path}`,
      "@type": type,
      ...(type === "RegistrationsBaseUrl/Versioned" ? { clientVersion: "4.3.0-alpha" } : {}),
      comment,
    })),
  );
  return { version: "3.0.0", resources };
}

/** From so many versions on, pages are documents of their own. */
const INLINE_BELOW = 128;
const PAGE_MOST = 64;

interface Page {
  lower: VersionRow;
  upper: VersionRow;
  rows: VersionRow[];
}

function pagesOf(rows: VersionRow[]): Page[] {
  const pages: Page[] = [];
  for (let at = 0; at < rows.length; at += PAGE_MOST) {
    const part = rows.slice(at, at + PAGE_MOST);
    pages.push({ lower: part[0]!, upper: part.at(-1)!, rows: part });
  }
  return pages;
}

export function registrationIndex(places: Places, hive: Hive, lower_id: string, rows: VersionRow[]): object {
  const index = places.registration(hive, lower_id, "index.json");
  const inline = rows.length < INLINE_BELOW;
  const pages = pagesOf(rows);
  return {
    "@id": index,
    "@type": ["catalog:CatalogRoot", "PackageRegistration", "catalog:Permalink"],
    commitTimeStamp: newestStamp(rows),
    count: pages.length,
    items: pages.map((page) => pageDocument(places, hive, lower_id, page, inline ? "inline" : "named")),
  };
}

/** A page by the versions that it begins and ends with; null when there is none such now. */
export function registrationPage(
  places: Places,
  hive: Hive,
  lower_id: string,
  rows: VersionRow[],
  lower: string,
  upper: string,
): object | null {
  const from = rows.findIndex((row) => row.version_key === lower);
  const to = rows.findIndex((row) => row.version_key === upper);
  if (from < 0 || to < from) return null;
  // A client may ask for a page of an index that it read a moment ago: what lies between is what it asked for.
  const part = rows.slice(from, to + 1);
  return pageDocument(places, hive, lower_id, { lower: part[0]!, upper: part.at(-1)!, rows: part }, "alone");
}

function pageDocument(
  places: Places,
  hive: Hive,
  lower_id: string,
  page: Page,
  how: "inline" | "named" | "alone",
): object {
  const { lower, upper, rows } = page;
  const index = places.registration(hive, lower_id, "index.json");
  const range = `${encodeURIComponent(lower.version_key)}/${encodeURIComponent(upper.version_key)}`;
  return {
    "@id": how === "inline" ? `${index}#page/${range}` : places.registration(hive, lower_id, `page/${range}.json`),
    "@type": "catalog:CatalogPage",
    commitTimeStamp: newestStamp(rows),
    count: rows.length,
    ...(how === "named" ? {} : { items: rows.map((row) => itemOf(places, hive, lower_id, row)) }),
    parent: index,
    lower: lower.version,
    upper: upper.version,
  };
}

/** By time, not by letter: fractions have as many digits as they like. */
function newestStamp(rows: VersionRow[]): string {
  return rows.map(({ stamp }) => stamp).reduce((a, b) => (ticksOf(b)! > ticksOf(a)! ? b : a));
}

function itemOf(places: Places, hive: Hive, lower_id: string, row: VersionRow): object {
  const content = places.content(lower_id, row.version_key);
  return {
    "@id": places.registration(hive, lower_id, `${encodeURIComponent(row.version_key)}.json`),
    "@type": "Package",
    commitTimeStamp: row.stamp,
    catalogEntry: entryOf(places, hive, row, content),
    packageContent: content,
    registration: places.registration(hive, lower_id, "index.json"),
  };
}

/** Some clients look for each of these fields, empty or not. */
function entryOf(places: Places, hive: Hive, row: VersionRow, content: string): object {
  const { details } = row;
  const { deprecation, vulnerabilities, dependencyGroups } = details;
  return {
    "@id": row.leaf,
    "@type": "PackageDetails",
    authors: details.authors ?? "",
    ...(dependencyGroups
      ? { dependencyGroups: dependencyGroups.map((group) => groupOf(places, hive, row.leaf, group)) }
      : {}),
    ...(deprecation ? { deprecation: { "@id": `${row.leaf}#deprecation`, ...deprecation } } : {}),
    description: details.description ?? "",
    iconUrl: details.iconUrl ?? "",
    id: row.id,
    language: details.language ?? "",
    licenseExpression: details.licenseExpression ?? "",
    licenseUrl: details.licenseUrl ?? "",
    listed: row.listed,
    minClientVersion: details.minClientVersion ?? "",
    packageContent: content,
    projectUrl: details.projectUrl ?? "",
    ...(row.published ? { published: row.published } : {}),
    requireLicenseAcceptance: details.requireLicenseAcceptance ?? false,
    summary: details.summary ?? "",
    tags: details.tags ?? [],
    title: details.title ?? "",
    version: row.full_version,
    ...(vulnerabilities ? { vulnerabilities } : {}),
  };
}

function groupOf(places: Places, hive: Hive, leaf: string, { targetFramework, dependencies }: DependencyGroup): object {
  const group = `${leaf}#dependencygroup${targetFramework ? `/${targetFramework.toLowerCase()}` : ""}`;
  return {
    "@id": group,
    "@type": "PackageDependencyGroup",
    ...(targetFramework ? { targetFramework } : {}),
    ...(dependencies
      ? {
          dependencies: dependencies.map(({ id, range }) => ({
            "@id": `${group}/${lowerId(id)}`,
            "@type": "PackageDependency",
            id,
            range,
            registration: places.registration(hive, lowerId(id), "index.json"),
          })),
        }
      : {}),
  };
}

export function registrationLeaf(places: Places, hive: Hive, lower_id: string, row: VersionRow): object {
  return {
    "@id": places.registration(hive, lower_id, `${encodeURIComponent(row.version_key)}.json`),
    "@type": ["Package", "http://schema.nuget.org/catalog#Permalink"],
    catalogEntry: row.leaf,
    listed: row.listed,
    packageContent: places.content(lower_id, row.version_key),
    ...(row.published ? { published: row.published } : {}),
    registration: places.registration(hive, lower_id, "index.json"),
  };
}
