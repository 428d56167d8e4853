/** Search and autocomplete, as clients ask for them. */
import type { Hono, Context as Request } from "hono";
import type { Queryable } from "tidemark";
import { json } from "./answers.ts";
import type { Hive, Places } from "./documents.ts";
import { type Feed, readVersions } from "./feed-rows.ts";
import { lowerId } from "./package-id.ts";
import { readPrerelease, readSearch, readSemVer2, type SearchRequest } from "./search-request.ts";
import { complete, countFound, type Found, isSmall, search } from "./search-rows.ts";

const REMEMBERED_MOST = 100;
/** So many searches go by before anybody asks again whether there are still few packages. */
const SIZE_HOLDS = 100;

/** Whether the mirror is small, asked now and then. */
class Size {
  #small: Promise<boolean> | null = null;
  #left = 0;

  isSmall(read: Queryable): Promise<boolean> {
    this.#left -= 1;
    if (this.#small && this.#left > 0) return this.#small;
    this.#left = SIZE_HOLDS;
    this.#small = isSmall(read);
    // What failed is asked again.
    this.#small.catch(() => {
      this.#small = null;
    });
    return this.#small;
  }
}

/** Counting all packages of a large feed takes longer than showing the newest of them: it is done once for each place of the public cursor. */
class Totals {
  readonly #known = new Map<string, { position: bigint; total: number }>();

  async of(read: Queryable, feed: Feed, request: SearchRequest, small: boolean): Promise<number> {
    const { feed_id, position, pending } = feed;
    // Words are counted each time; and while events wait, packages change and the cursor does not move.
    if (request.terms.length > 0 || request.package_type !== null || position === null || pending)
      return countFound(read, feed_id, request, small);
    const key = `${feed_id} ${request.prerelease} ${request.semver2}`;
    const known = this.#known.get(key);
    if (known?.position === position) return known.total;
    const total = await countFound(read, feed_id, request, small);
    if (this.#known.size >= REMEMBERED_MOST) this.#known.clear();
    this.#known.set(key, { position, total });
    return total;
  }
}

export function searchRoutes(
  app: Hono,
  v3: string,
  read: Queryable,
  feedOf: (c: Request) => Promise<Feed>,
  placesOf: (c: Request) => Places,
): void {
  const totals = new Totals();
  const size = new Size();

  app.get(`${v3}/search`, async (c) => {
    const feed = await feedOf(c);
    const request = readSearch((name) => c.req.query(name));
    const small = await size.isSmall(read);
    const [totalHits, found] = await Promise.all([
      totals.of(read, feed, request, small),
      request.take === 0 ? [] : search(read, feed.feed_id, request, small),
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
    const small = await size.isSmall(read);
    const [totalHits, data] = await Promise.all([
      totals.of(read, feed, request, small),
      request.take === 0 ? [] : complete(read, feed.feed_id, request, small),
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
