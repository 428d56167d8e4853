/** Go modules pass the checks that every source must pass, on both databases. */
import { table } from "tidemark";
import { conformance, type Given } from "tidemark/testing";
import { describe, it } from "vitest";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { goModules } from "../../../src/sources/go-modules/source.ts";
import { gomods, repositories, tags } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase, testEmbedded } from "../../postgres.ts";
import { inOrderOf, opening } from "../conforming.ts";
import { asCall, gomod } from "./rig.ts";

/** Five repositories in pages of two, one with two pages of tags; one that is followed by name, and a fork in conflict. */
function world(): GitHub {
  const hub = new GitHub({ anonymous: true });
  for (const name of ["x", "y", "none", "many", "docs"]) hub.repository(`acme/${name}`);
  hub.push("acme/x", "v1.0.0", { files: gomod("github.com/acme/x") });
  hub.push("acme/x", "v1.1.0", { files: gomod("github.com/acme/x"), annotated: 2 });
  hub.push("acme/y", "sub/v0.1.0", { files: gomod("github.com/acme/y/sub", "sub/go.mod") });
  for (let n = 0; n < 120; n += 1) hub.push("acme/many", `build-${n}`, { commit: "one" });
  hub.push("acme/many", "v2.0.0", { files: gomod("github.com/acme/many/v2") });
  hub.repository("else/x", { isFork: true });
  hub.push("else/x", "v1.2.0", { files: gomod("github.com/acme/x") });
  return hub;
}

const version = table("go_modules.version", {
  columns: { path: "text", version: "text", resource_id: "bigint", tag: "text", commit_oid: "text", moved_oid: "text" },
  key: ["path", "version"],
  owner: "resource_id",
});
const module = table("go_modules.module", {
  columns: { path: "text", resource_id: "bigint", at_home: "boolean" },
  key: ["path"],
  owner: "resource_id",
});

const conflict = table("go_modules.conflict", {
  columns: { path: "text", resource_id: "bigint", held_by: "bigint" },
  key: ["path"],
  owner: "resource_id",
});

const given: Given = {
  follow: ["github.com/acme", "github.com/else/x"],
  upstream: () => {
    const hub = world();
    return (asked) => hub.answer(asCall(asked));
  },
  tables: [
    { table: inOrderOf(repositories, "node_id"), volatile: ["listing_no"] },
    { table: inOrderOf(tags, "oid", "name") },
    { table: inOrderOf(gomods, "commit_oid", "dir") },
    { table: version },
    { table: module },
    { table: conflict, volatile: ["held_by"] },
  ],
  // How much is asked for at once depends on what went wrong before.
  cursor: (cursor) => (cursor && typeof cursor === "object" && "size" in cursor ? { ...cursor, size: 0 } : cursor),
};

describe.each([
  ["on PostgreSQL", testDatabase, { cuts_most: 24, calls_most: 4 }],
  ["embedded", testEmbedded, { cuts_most: 2, calls_most: 1 }],
])("go-modules, %s", (_, store, most) => {
  const source = (github_url: string) => goModules({ github_url, page_most: 2 });
  const checks = conformance(source, { ...given, ...most, open: opening(store) });

  it.each(checks.map((c) => [c.name, c] as const))("%s", { timeout: 240_000 }, (_name, check) => check.run());
});
