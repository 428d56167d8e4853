/** The tables of this source. */
import { migrationsBeside, table } from "tidemark";

export const migrations = migrationsBeside(import.meta.url, "packages", "search");

export const feeds = table("nuget.feed", {
  columns: { feed_id: "bigint", url: "text", catalog_url: "text", content_url: "text", checked_ms: "bigint" },
  key: ["feed_id"],
  owner: "feed_id",
});

export const pages = table("nuget.page", {
  columns: {
    feed_id: "bigint",
    url: "text",
    index_stamp: "text",
    index_count: "int",
    stamp: "text",
    items: "int",
    seen: "bytea",
    stale: "smallint",
  },
  key: ["feed_id", "url"],
  owner: "feed_id",
});

export const commits = table("nuget.commit", {
  columns: { feed_id: "bigint", ticks: "bigint", stamp: "text" },
  key: ["feed_id", "ticks"],
  owner: "feed_id",
});

export const versions = table("nuget.version", {
  columns: {
    feed_id: "bigint",
    lower_id: "text",
    version_key: "text",
    resource_id: "bigint",
    sort_key: "text",
    ticks: "bigint",
    stamp: "text",
    leaf: "text",
    id: "text",
    version: "text",
    full_version: "text",
    deleted: "boolean",
    listed: "boolean",
    prerelease: "boolean",
    semver2: "boolean",
    read: "boolean",
    published: "text",
    package_types: "text[]",
    details: "jsonb",
  },
  key: ["feed_id", "lower_id", "version_key"],
  owner: "resource_id",
  newer: "ticks",
});

/** What goes with a feed, and with a package. */
export const owned_by_feed = [feeds, pages, commits, { name: "nuget.anomaly", owner: "feed_id" }];
export const owned_by_package = [versions, { name: "nuget.package", owner: "resource_id" }];
