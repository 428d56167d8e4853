/** The paths of this source as /openapi.json describes them. */
import type { Hono } from "hono";
import { describePaths } from "tidemark";
import { z } from "zod";
import { Report } from "./report.ts";

const maybe = z.string().nullable();
const params = z.object({
  host: z.string().describe("Such as github.com."),
  owner: z.string(),
  name: z.string(),
});

const analysis = z.object({
  commit_oid: z.string().describe("The commit that this is about."),
  analyser: z.number().int().describe("The version of the analyser."),
  analysed_at: z.string(),
  head_ref: maybe,
  pack_bytes: z.number().int().describe("How much was fetched for it."),
  ms: z.number().int(),
});

const body = analysis.extend({
  repository: z.string(),
  fresh_at: maybe.describe("When HEAD was asked for last."),
  stale: z.boolean().describe("It was not asked for a while, and is now."),
  head: z.object({ oid: maybe, ref: maybe, moved: z.boolean().describe("HEAD is known to be elsewhere by now.") }),
  trouble: z.object({ failures: z.number().int(), excluded: z.boolean(), error: z.unknown() }).nullable(),
  note: maybe,
  report: Report,
});

const row = analysis.extend({
  tests: z.number().int(),
  languages: z.array(z.object({ language: z.string(), bytes: z.number() })),
});
const pageOf = (results: z.ZodType) => z.object({ results: z.array(results), next: maybe, fresh_at: maybe });
const listed = z.array(z.string());

const changes = z.object({
  repository: z.string(),
  from: z.string(),
  to: z.string(),
  languages: z.array(z.object({ language: z.string(), bytes: z.number(), lines: z.number() })),
  tests: z.object({ added: listed, removed: listed, cases: z.number().int() }),
  dependencies: z.object({
    added: listed,
    removed: listed,
    changed: z.array(z.object({ name: z.string(), from: maybe, to: maybe })),
  }),
  licence: z.object({ from: maybe, to: maybe }).nullable(),
  fresh_at: maybe,
});

export function describeRoutes(app: Hono): void {
  const at = "/repositories/{host}/{owner}/{name}";
  describePaths(app, "repositories", [
    {
      path: at,
      summary: "The newest analysis; 202 with place and estimate while there is none yet",
      schema: body,
      params,
      query: z.object({
        commit: z.string().optional().describe("The analysis of this commit, if it is kept."),
        view: z.string().optional().describe("`false`: a program asks, and it is not counted as a view."),
      }),
    },
    { path: `${at}/history`, summary: "The analyses that are kept, newest first", schema: pageOf(row), params },
    {
      path: `${at}/changes`,
      summary: "What changed between two analyses",
      schema: changes,
      params,
      query: z.object({ from: z.string(), to: z.string() }),
    },
    {
      path: "/repositories/recent",
      summary: "Repositories by their newest analysis",
      schema: pageOf(row.extend({ repository: z.string(), fresh_at: maybe })),
      query: z.object({
        limit: z.string().optional().describe("20 unless said, 100 at most."),
        after: z.string().optional().describe("What the page before gave as next."),
      }),
    },
  ]);
}
