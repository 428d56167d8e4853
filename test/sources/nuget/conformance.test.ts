/** NuGet feeds pass the checks that every source must pass, on both databases. */
import { type Source, table } from "tidemark";
import { conformance, type Given } from "tidemark/testing";
import { describe, it } from "vitest";
import { NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { nuget } from "../../../src/sources/nuget/source.ts";
import { pages, versions } from "../../../src/sources/nuget/tables.ts";
import { testDatabase, testEmbedded } from "../../postgres.ts";
import { inOrderOf, opening } from "../conforming.ts";

/** Nine commits on five pages: one that is split, one version that comes and goes, one package with many. */
function world(): NuGetFeed {
  const feed = new NuGetFeed();
  feed.page_most = 4;
  feed.commit([
    { id: "A", version: "1.0.0" },
    { id: "B", version: "1.0" },
  ]);
  feed.commit([{ id: "A", version: "1.0.1" }]);
  feed.commit(
    [
      { id: "A", version: "1.0.0", leaf: { listed: false } },
      { id: "C", version: "1.0.0" },
    ],
    { split: 1 },
  );
  feed.commit([{ id: "A", version: "1.0.0", deletes: true }]);
  feed.commit([{ id: "A", version: "1.0.0" }]);
  for (let n = 0; n < 4; n += 1)
    feed.commit([
      { id: "D", version: `1.${n}.0`, leaf: { tags: ["x"] } },
      { id: "D", version: "0.1.0" },
    ]);
  return feed;
}

const packages = table("nuget.package", {
  columns: {
    lower_id: "text",
    resource_id: "bigint",
    id: "text",
    ticks: "bigint",
    any_key: "text",
    stable_key: "text",
  },
  key: ["lower_id"],
  owner: "resource_id",
});

const given: Given = {
  follow: [],
  upstream: () => {
    const feed = world();
    return ({ path, headers }) => feed.answer(path, headers);
  },
  tables: [
    { table: inOrderOf(versions, "lower_id", "version_key"), volatile: ["feed_id"] },
    { table: inOrderOf(pages, "stamp"), volatile: ["seen"] },
    { table: packages },
  ],
  // Pages that were cut are read once more; when the service index was asked is no part of the result.
  cursor: (cursor) =>
    cursor && typeof cursor === "object" && "stamp" in cursor
      ? { stamp: cursor.stamp, open: "open" in cursor ? cursor.open : null }
      : cursor,
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 12, calls_most: 3 }],
  ["embedded", testEmbedded, { cuts_most: 2, calls_most: 1 }],
])("nuget, %s", (_, store, most) => {
  const source = (url: string): Source => ({
    ...nuget(),
    follow: () => ({ kind: "catalog", key: `${url}/v3/index.json` }),
  });
  const checks = conformance(source, { ...given, follow: ["the feed"], ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 480_000 }, (_name, check) => check.run());
});
