/** The paths of this source as /openapi.json describes them; the documents of the protocol are described by their authors. */
import type { Hono } from "hono";
import { describePaths } from "tidemark";
import { z } from "zod";
import { hives } from "./documents.ts";
import { SKIP_MOST, TAKE_MOST } from "./search-request.ts";

const document = z.looseObject({}).describe("As the protocol has it: learn.microsoft.com/nuget/api/overview");
const id = z.string().describe("A package's id, in any case.");
const version = z.string().describe("Normalised, in lower case.");
const prerelease = z.string().optional().describe("`true`: prereleases, too.");
const semVerLevel = z.string().optional().describe("`2.0.0`: what needs SemVer 2, too.");
const maybe = z.string().nullable();

const cursor = z.object({
  internal: maybe.describe("How far the catalog was read, as it wrote it."),
  public: maybe.describe("The last commit before which nothing waits any more, as the catalog wrote it."),
  pending: z.number().int().describe("Events that wait to be handled."),
  skipped: z
    .array(
      z.object({
        package: z.string(),
        version: maybe,
        leaf: maybe,
        stamp: maybe,
        reason: z.string(),
        skipped_at: z.string(),
      }),
    )
    .describe("Events that failed too often and were passed over."),
  fresh_at: maybe,
});

const anomalies = z.object({
  anomalies: z.array(z.object({ what: z.string(), times: z.string(), last_at: z.string(), example: z.string() })),
  fresh_at: maybe,
});

const page = z.object({
  q: z.string().optional().describe("Words; also packageid:, id:, tags:, title:, description:, author: before one."),
  skip: z.string().optional().describe(`At most ${SKIP_MOST}.`),
  take: z.string().optional().describe(`20 unless said; of more than ${TAKE_MOST}, ${TAKE_MOST}.`),
  prerelease,
  semVerLevel,
  packageType: z.string().optional().describe("Only packages of this type, such as DotnetTool."),
});

export function describeRoutes(app: Hono): void {
  const v3 = "/nuget/v3";
  describePaths(app, "nuget", [
    { path: `${v3}/index.json`, summary: "The service index of the feed that was followed first", schema: document },
    { path: `${v3}/search`, summary: "Packages that match", schema: document, query: page },
    {
      path: `${v3}/autocomplete`,
      summary: "Ids that begin like this, or the versions of one",
      schema: document,
      query: page.extend({ id: id.optional() }),
    },
    ...hives.map((hive) => ({
      path: `${v3}/${hive}/{id}/index.json`,
      summary: "The versions of a package with what is said of them",
      schema: document,
      params: z.object({ id }),
    })),
    {
      path: `${v3}/flatcontainer/{id}/index.json`,
      summary: "The versions of a package, listed or not",
      schema: z.object({ versions: z.array(version) }),
      params: z.object({ id }),
    },
    { path: "/nuget/cursor", summary: "How far behind its upstream the mirror is", schema: cursor },
    { path: "/nuget/anomalies", summary: "What the catalog did that its protocol does not say", schema: anomalies },
  ]);
}
