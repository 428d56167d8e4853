/** The paths of this source as /openapi.json describes them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { z } from "zod";

const TAGS = ["go-modules"];

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
const error = z.object({ error: z.object({ code: z.string(), sentence: z.string() }) });

/** Where `app` keeps no description (a plain Hono), nothing is described. */
export function describeRoutes(app: Hono): void {
  const { openAPIRegistry } = app as Hono & Partial<Pick<OpenAPIHono, "openAPIRegistry">>;
  const wrong = {
    description: "Something in the request was not understood; the sentence says what.",
    content: { "application/json": { schema: error } },
  };
  const describe = (
    path: string,
    summary: string,
    type: string,
    schema: z.ZodType,
    query: z.ZodObject = z.object({}),
  ) =>
    openAPIRegistry?.registerPath({
      method: "get",
      path,
      summary,
      tags: TAGS,
      request: { query },
      responses: { 200: { description: "From the mirror.", content: { [type]: { schema } } }, 400: wrong },
    });
  const json = "application/json";
  const line = z.string().describe('A line for each version, oldest first: {"Path":"…","Version":"…","Timestamp":"…"}');
  describe("/go/index", "The versions by the protocol of index.golang.org", "application/x-ndjson", line, index_query);
  describe("/go/status", "How many there are of everything, and the ten newest versions", json, totals);
  const narrowed = z.object({ prefix, q, limit, after });
  describe("/go/repositories", "Repositories by name, each with its newest version", json, list(repository), narrowed);
  describe("/go/modules", "Modules by path, each with its newest version", json, list(module), narrowed);
  const of = z.object({
    path: z.string().optional().describe("Of this module only."),
    repository: z
      .string()
      .optional()
      .describe("Of this repository only, by its name of now, such as github.com/acme/x."),
  });
  const versions_summary = "Versions, the one published last first, deleted ones too";
  describe("/go/versions", versions_summary, json, list(version), of.extend({ prefix, limit, after }));
  const paged = z.object({ limit, after });
  describe("/go/moved", "Versions whose tag was seen at another commit", json, list(moved), paged);
  describe("/go/conflicts", "Paths that a repository declares and another one has", json, list(conflict), paged);
}
