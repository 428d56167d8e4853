/** The paths of this source as /openapi.json describes them. */
import type { Hono } from "hono";
import { describePaths } from "tidemark";
import { z } from "zod";

const moment = z.string().describe("UTC, with six digits.");
const maybe = moment.nullable();
const count = z.number().int();
/** 64-bit numbers are text, because JavaScript would bend them. */
const big = z.string();

const newest = z
  .object({ path: z.string(), version: z.string(), published_at: moment })
  .describe("What was published last and is still available.");

const limit = z.string().optional().describe("Results on a page: 1 to 100, which is the default; of more, 100.");
const after = z.string().optional().describe("What the page before gave as `next`; it is null on the last one.");
const prefix = z
  .string()
  .optional()
  .describe(
    "A path and what is below it, in whole parts: github.com/acme is not the beginning of github.com/acme-labs/x.",
  );
const q = z.string().optional().describe("Any part of the name, whatever its capitals; 200 letters at most.");

const index_query = z.object({
  since: z.string().optional().describe("The oldest stamp wanted, inclusive: RFC 3339 with any offset. Empty is all."),
  limit: z.string().optional().describe("Lines: 1 to 2,000, which is the default; of more, 2,000."),
  include: z.enum(["all"]).optional().describe("`all`: versions that are no longer available, too."),
  prefix,
});

const totals = z.object({
  repositories: count,
  modules: count,
  versions: count,
  versions_deleted: count,
  versions_moved: count,
  conflicts: count,
  newest: z.array(newest),
  fresh_at: maybe,
});

const repository = z.object({
  repository: z.string().describe("Its name of now: host, owner, name."),
  resource_id: big,
  key: z.string().describe("As in /api/resources/go-modules/repository/{key}."),
  is_fork: z.boolean(),
  is_archived: z.boolean(),
  is_disabled: z.boolean(),
  is_private: z.boolean(),
  tags: count,
  modules: count,
  versions: count.describe("Available ones."),
  conflicts: count,
  pushed_at: maybe,
  fresh_at: maybe,
  newest: newest.nullable(),
});

const module = z.object({
  path: z.string(),
  repository: z.string().nullable(),
  versions: count.describe("Available ones."),
  newest: newest.nullable(),
});

const version = z.object({
  path: z.string(),
  version: z.string(),
  repository: z.string().nullable(),
  tag: z.string(),
  commit_oid: z.string().describe("The commit that it was first seen at."),
  published_at: moment,
  deleted_at: maybe.describe("Since when it is no longer available."),
  moved_at: maybe,
  moved_oid: z.string().nullable().describe("The commit that its tag was last seen at, if that was ever another one."),
});

const moved = version
  .omit({ repository: true, published_at: true })
  .extend({ moved_at: moment, moved_oid: z.string() });

const conflict = z.object({
  path: z.string(),
  resource_id: big,
  repository: z.string().nullable().describe("Declares the path and does not have it."),
  held_by: z.string().nullable().describe("Has the path; null where nobody that is followed does."),
});

const list = (one: z.ZodType) => z.object({ results: z.array(one), next: z.string().nullable(), fresh_at: maybe });

export function describeRoutes(app: Hono): void {
  const line = z.string().describe('A line for each version, oldest first: {"Path":"…","Version":"…","Timestamp":"…"}');
  const narrowed = z.object({ prefix, q, limit, after });
  const of = z.object({
    path: z.string().optional().describe("Of this module only."),
    repository: z
      .string()
      .optional()
      .describe("Of this repository only, by its name of now, such as github.com/acme/x."),
  });
  const paged = z.object({ limit, after });
  describePaths(app, "go-modules", [
    {
      path: "/go/index",
      summary: "The versions by the protocol of index.golang.org",
      type: "application/x-ndjson",
      schema: line,
      query: index_query,
    },
    { path: "/go/status", summary: "How many there are of everything, and the ten newest versions", schema: totals },
    {
      path: "/go/repositories",
      summary: "Repositories by name, each with its newest version",
      schema: list(repository),
      query: narrowed,
    },
    {
      path: "/go/modules",
      summary: "Modules by path, each with its newest version",
      schema: list(module),
      query: narrowed,
    },
    {
      path: "/go/versions",
      summary: "Versions, the one published last first, deleted ones too",
      schema: list(version),
      query: of.extend({ prefix, limit, after }),
    },
    { path: "/go/moved", summary: "Versions whose tag was seen at another commit", schema: list(moved), query: paged },
    {
      path: "/go/conflicts",
      summary: "Paths that a repository declares and another one has",
      schema: list(conflict),
      query: paged,
    },
  ]);
}
