/** What the mirror answers: a V3 feed for dotnet and nuget, and how far behind its upstream it is. */
import type { Hono, Context as Request } from "hono";
import { type Context, TidemarkError } from "tidemark";
import { json, nothing, squeezed } from "./answers.ts";
import { content } from "./content.ts";
import { describeRoutes } from "./described.ts";
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
import { searchRoutes } from "./search-api.ts";

const SKIPPED_MOST = 1_000;

/** `/nuget/v3/…` is the feed that was followed first; `/nuget/feeds/12/v3/…` is the one of that number. */
export function routes(app: Hono, context: Context, parts: NuGetParts): void {
  describeRoutes(app);
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

  searchRoutes(app, v3, read, feedOf, placesOf);

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
