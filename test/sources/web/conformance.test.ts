/** Web hosts pass the checks that every source must pass, on both databases. */
import { type Source, table } from "tidemark";
import { conformance, type Given } from "tidemark/testing";
import { describe, it } from "vitest";
import { links, Sites } from "../../../src/demo/web/sites.ts";
import { web } from "../../../src/sources/web/source.ts";
import { testDatabase, testEmbedded } from "../../postgres.ts";
import { opening } from "../conforming.ts";
import { wiped } from "./rig.ts";

function world(host: string): Sites {
  const sites = new Sites();
  sites
    .site(host)
    .says("User-agent: *", "Disallow: /secret")
    .page("/", "Home", links("/a", "/secret", "/old"))
    .page("/a", "Page A", "<p>About apples</p>")
    .moves("/old", "/a");
  return sites;
}

/** Which host and page gets which number is different in each run: rows are put in order by what is not. */
const guestbook = table("web.guestbook", {
  columns: {
    path: "text",
    resource_id: "bigint",
    status: "smallint",
    failures: "smallint",
    reason: "text",
    etag: "text",
    content_hash: "bytea",
    interval_s: "int",
  },
  key: ["path"],
  owner: "resource_id",
});
const content = table("web.content", {
  columns: { texts: "text[]", tags: "int[]", resource_id: "bigint" },
  key: ["texts"],
  owner: "resource_id",
});
const search = table("web.search", { columns: { words: "text", part: "int" }, key: ["words"] });
const others = wiped.map(({ name }) => ({
  table: table(name, { columns: { resource_id: "bigint" }, key: ["resource_id"] }),
  volatile: ["resource_id"],
}));

const given: Given = {
  follow: ["the host"],
  upstream: () => {
    const worlds = new Map<string, Sites>();
    return ({ path, headers, at_ms }) => {
      const host = headers.host!;
      worlds.set(host, worlds.get(host) ?? world(host));
      const reply = worlds.get(host)!.answer({ host, path, headers, at_ms });
      // A connection that is kept would be waited for, where only half of a body came.
      return { ...reply, headers: { ...reply.headers, connection: "close" } };
    };
  },
  tables: [
    { table: guestbook },
    { table: content },
    { table: search },
    ...others.filter(({ table: { name } }) => /host|sitemap|shape/.test(name)),
  ],
  // How many calls it took depends on where it was cut.
  cursor: (cursor) =>
    cursor && typeof cursor === "object" && "calls" in cursor
      ? { robots: "robots" in cursor ? cursor.robots : null }
      : cursor,
  // A server may send whatever it likes: everything is a page. What cannot be read is told in formats.test.ts.
  malformed: [],
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 8, calls_most: 2 }],
  ["embedded", testEmbedded, { cuts_most: 1, calls_most: 1 }],
])("web, %s", (_, store, most) => {
  const source = (url: string): Source => {
    const own = web();
    // So short a gap is waited for within a pull: fewer of them are needed, and each call still has its commit.
    own.configure!(own.settings!.parse({ delay: "100ms" }), {} as never);
    return { ...own, follow: () => ({ kind: "host", key: new URL(url).host }) };
  };
  const checks = conformance(source, { ...given, ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 240_000 }, (_name, check) => check.run());
});
