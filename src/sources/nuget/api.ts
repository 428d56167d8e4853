/** What the mirror answers: a V3 feed for dotnet and nuget, and how far behind its upstream it is. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Hono, Context as Request } from "hono";
import { type Context, TidemarkError, toJson } from "tidemark";
import { content } from "./content.ts";
import {
  type Hive,
  hives,
  Places,
  registrationIndex,
  registrationLeaf,
  registrationPage,
  serviceIndex,
} from "./documents.ts";
import {
  type Feed,
  readAnomalies,
  readCursor,
  readFeed,
  readSkipped,
  readVersionKeys,
  readVersions,
} from "./feed-rows.ts";
import { keyOf } from "./leaf.ts";
import { lowerId } from "./package-id.ts";
import type { NuGetParts } from "./parts.ts";
import { readPrerelease, readSearch, readSemVer2 } from "./search-request.ts";
import { complete, countFound, type Found, search } from "./search-rows.ts";

const FRESH_AT = "tidemark-fresh-at";
const SKIPPED_MOST = 1_000;
const squeeze = promisify(gzip);

/** `/nuget/v3/…` is the feed that was followed first; `/nuget/feeds/12/v3/…` is the one of that number. */
export function routes(app: Hono, context: Context, parts: NuGetParts): void {
  for (const root of ["/nuget", "/nuget/feeds/:feed"]) feedRoutes(app, root, context, parts);
}

function feedRoutes(app: Hono, root: string, context: Context, parts: NuGetParts): void {
  const { read } = context;
  const v3 = `${root}/v3`;
  const feedOf = (c: Request) => findFeed(c, context);
  const placesOf = (c: Request) =>
    new Places(`${parts.settings().public_url?.replace(/\/+$/, "") ?? new URL(c.req.url).origin}${pathOf(c)}`);

  app.get(`${v3}/index.json`, async (c) => json(serviceIndex(placesOf(c)), await feedOf(c)));

  for (const hive of hives) registrationRoutes(app, v3, hive, context, placesOf);

  app.get(`${v3}/flatcontainer/:id/index.json`, async (c) => {
    const feed = await feedOf(c);
    const versions = await readVersionKeys(read, feed.feed_id, idOf(c));
    return versions.length === 0
      ? nothing(`There is no package ${c.req.param("id")}.`, feed)
      : json({ versions }, feed);
  });
  app.get(`${v3}/flatcontainer/:id/:version/:file`, async (c) =>
    content(
      await feedOf(c),
      { lower_id: idOf(c), version_key: versionOf(c), file: c.req.param("file")! },
      context,
      parts,
    ),
  );

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

  app.get(`${root}/cursor`, async (c) => {
    const feed = await feedOf(c);
    const cursor = await readCursor(read, feed.feed_id);
    const skipped = await readSkipped(read, feed.feed_id, SKIPPED_MOST);
    const { internal = null, public: reached = null, pending = 0 } = cursor ?? {};
    return json(
      { internal: internal || null, public: reached || null, pending, skipped, fresh_at: feed.fresh_at },
      feed,
    );
  });

  app.get(`${root}/anomalies`, async (c) => {
    const feed = await feedOf(c);
    return json({ anomalies: await readAnomalies(read, feed.feed_id), fresh_at: feed.fresh_at }, feed);
  });
}

function registrationRoutes(
  app: Hono,
  v3: string,
  hive: Hive,
  context: Context,
  placesOf: (c: Request) => Places,
): void {
  const semver2 = hive === "registration-gz-semver2";
  const answer = hive === "registration" ? json : squeezed;
  const found = async (
    c: Request,
    make: (rows: Awaited<ReturnType<typeof readVersions>>, lower_id: string) => object | null,
  ) => {
    const feed = await findFeed(c, context);
    const rows = await readVersions(context.read, feed.feed_id, idOf(c), { semver2, prerelease: true, unlisted: true });
    const document = rows.length === 0 ? null : make(rows, idOf(c));
    return document === null
      ? nothing(`There is no such thing of ${c.req.param("id")} here.`, feed)
      : answer(document, feed);
  };
  app.get(`${v3}/${hive}/:id/index.json`, (c) =>
    found(c, (rows, lower_id) => registrationIndex(placesOf(c), hive, lower_id, rows)),
  );
  app.get(`${v3}/${hive}/:id/page/:lower/:upper`, (c) => {
    const upper = keyOf(c.req.param("upper").replace(/\.json$/, ""));
    return found(c, (rows, lower_id) =>
      registrationPage(placesOf(c), hive, lower_id, rows, keyOf(c.req.param("lower")), upper),
    );
  });
  app.get(`${v3}/${hive}/:id/:file`, (c) => {
    const key = keyOf(c.req.param("file").replace(/\.json$/, ""));
    return found(c, (rows, lower_id) => {
      const row = rows.find((one) => one.version_key === key);
      return row ? registrationLeaf(placesOf(c), hive, lower_id, row) : null;
    });
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

async function findFeed(c: Request, { read }: Context): Promise<Feed> {
  const number = c.req.param("feed");
  if (number !== undefined && !/^\d{1,18}$/.test(number))
    throw new TidemarkError("InputInvalid", `"${number.slice(0, 50)}" is not the number of a feed.`);
  const feed = await readFeed(read, number === undefined ? null : BigInt(number));
  if (feed) return feed;
  throw new TidemarkError(
    "NotFollowed",
    number === undefined
      ? "No feed is followed, or its first page is still to come: `tidemark follow nuget https://api.nuget.org/v3/index.json` follows one."
      : `No feed with the number ${number} is followed.`,
  );
}

/** The part of the path up to the feed's own root. */
const pathOf = (c: Request): string => /^.*?\/v3(?=\/)/.exec(new URL(c.req.url).pathname)![0];
const idOf = (c: Request): string => lowerId(c.req.param("id") ?? "");
const versionOf = (c: Request): string => keyOf(c.req.param("version") ?? "");

const headersOf = ({ fresh_at }: Feed): Record<string, string> => (fresh_at === null ? {} : { [FRESH_AT]: fresh_at });

function json(body: object, feed: Feed): Response {
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...headersOf(feed) } });
}

/** As the protocol wants it, whatever the client says it accepts. */
async function squeezed(body: object, feed: Feed): Promise<Response> {
  const headers = { "content-type": "application/json", "content-encoding": "gzip", ...headersOf(feed) };
  return new Response(await squeeze(toJson(body)), { headers });
}

function nothing(sentence: string, feed: Feed): Response {
  const body = toJson({ error: { code: "NotFollowed", sentence } });
  return new Response(body, { status: 404, headers: { "content-type": "application/json", ...headersOf(feed) } });
}
