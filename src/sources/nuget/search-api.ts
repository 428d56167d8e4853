/** Search and autocomplete, as clients ask for them. */
import type { Hono, Context as Request } from "hono";
import type { Queryable } from "tidemark";
import { json } from "./answers.ts";
import type { Hive, Places } from "./documents.ts";
import { type Feed, readVersions } from "./feed-rows.ts";
import { lowerId } from "./package-id.ts";
import { readPrerelease, readSearch, readSemVer2 } from "./search-request.ts";
import { complete, countFound, type Found, search } from "./search-rows.ts";

export function searchRoutes(
  app: Hono,
  v3: string,
  read: Queryable,
  feedOf: (c: Request) => Promise<Feed>,
  placesOf: (c: Request) => Places,
): void {
  app.get(`${v3}/search`, async (c) => {
    const feed = await feedOf(c);
    const request = readSearch((name) => c.req.query(name));
    const [totalHits, found] = await Promise.all([
      countFound(read, feed.feed_id, request),
      request.take === 0 ? [] : search(read, feed.feed_id, request),
    ]);
    return json({ totalHits, data: found.map((one) => foundDocument(placesOf(c), request.semver2, one)) }, feed);
  });

  app.get(`${v3}/autocomplete`, async (c) => {
    const feed = await feedOf(c);
    const given = (name: string) => c.req.query(name);
    const id = given("id");
    if (id !== undefined) {
      const client = { semver2: readSemVer2(given), prerelease: readPrerelease(given), unlisted: false };
      const rows = await readVersions(read, feed.feed_id, lowerId(id), client);
      return json({ data: rows.map((row) => row.full_version) }, feed);
    }
    const asked = readSearch(given);
    const request = { ...asked, terms: asked.terms.map((term) => ({ ...term, field: "id" as const })) };
    const [totalHits, data] = await Promise.all([
      countFound(read, feed.feed_id, request),
      request.take === 0 ? [] : complete(read, feed.feed_id, request),
    ]);
    return json({ totalHits, data }, feed);
  });
}

function foundDocument(
  places: Places,
  semver2: boolean,
  { id, lower_id, full_version, package_types, details, versions }: Found,
): object {
  const hive: Hive = semver2 ? "registration-gz-semver2" : "registration";
  const registration = places.registration(hive, lower_id, "index.json");
  return {
    "@id": registration,
    "@type": "Package",
    registration,
    id,
    version: full_version,
    description: details.description ?? "",
    summary: details.summary ?? "",
    title: details.title ?? id,
    ...(details.iconUrl ? { iconUrl: details.iconUrl } : {}),
    ...(details.licenseUrl ? { licenseUrl: details.licenseUrl } : {}),
    ...(details.projectUrl ? { projectUrl: details.projectUrl } : {}),
    tags: details.tags ?? [],
    authors: details.authors ? details.authors.split(/,\s*/) : [],
    // A catalog says nothing of downloads.
    totalDownloads: 0,
    verified: false,
    packageTypes: package_types.map((name) => ({ name })),
    versions: versions.map((one) => ({
      version: one.full_version,
      downloads: 0,
      "@id": places.registration(hive, lower_id, `${encodeURIComponent(one.version_key)}.json`),
    })),
    ...(details.deprecation ? { deprecation: details.deprecation } : {}),
    ...(details.vulnerabilities ? { vulnerabilities: details.vulnerabilities } : {}),
  };
}
