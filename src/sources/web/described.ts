/** The paths of this source as /openapi.json describes them. */
import type { Hono } from "hono";
import { describePaths } from "tidemark";
import { z } from "zod";
import { LIMIT_MOST, QUERY_MOST } from "./search-request.ts";

const maybe = z.string().nullable();
const paging = { next: maybe.describe("For `after`, to go on; null at the end."), fresh_at: maybe };
const after = z.string().optional().describe("The `next` of the page before.");

const found = z.object({
  results: z.array(
    z.object({
      url: z.string().describe("With #page=N for a page of a PDF."),
      title: z.string(),
      snippet: z.string().describe("HTML in which everything is escaped but <mark>."),
      host: z.string(),
      domain64: z.string(),
      content_type: z.string(),
      score: z.number(),
      last_modified: maybe,
      changed_at: maybe,
      fresh_at: maybe.describe("When its server last said that it is so."),
    }),
  ),
  total: z.object({ pages: z.number(), exact: z.boolean() }).describe("How many match; a guess where it is not exact."),
  ranked: z.object({ pages: z.number(), capped: z.boolean() }).describe("Of how many the best are shown."),
  suggestions: z.array(z.object({ q: z.string(), in: maybe, why: z.string() })),
  ...paging,
});

const hosts = z.object({
  results: z.array(
    z.object({
      host: z.string(),
      domain64: z.string(),
      known: z.number().int(),
      fetched: z.number().int(),
      refused: z.number().int().describe("URLs that a cap kept out: the crawl is partial."),
      delay_ms: z.number().int(),
      crawl_delay_ms: z.number().int().nullable().describe("As robots.txt asks, before it is shortened."),
      robots_status: z.number().int().nullable(),
      robots_at: maybe,
      status: z.string(),
      fresh_at: maybe,
      next_at: maybe,
    }),
  ),
  ...paging,
});

const pages = z.object({
  results: z.array(
    z.object({
      path: z.string(),
      url: z.string(),
      status: z.number().int(),
      title: maybe,
      reason: maybe,
      last_fetched: maybe,
      last_changed: maybe,
      next_fetch: maybe,
      interval_s: z.number().int(),
      found: z.boolean().describe("Whether a search can find it."),
    }),
  ),
  ...paging,
});

export function describeRoutes(app: Hono): void {
  const limit = z.string().optional();
  describePaths(app, "web", [
    {
      path: "/web/search",
      summary: "Pages that match, best first",
      schema: found,
      query: z.object({
        q: z.string().describe(`Words, "quoted ones", OR, -minus; ${QUERY_MOST} characters at most.`),
        in: z.string().optional().describe("A top-level domain, domain or subdomain: gov, gov/gsa, gov/gsa/tts."),
        after,
        limit: limit.describe(`10 unless said, ${LIMIT_MOST} at most.`),
      }),
    },
    {
      path: "/web/hosts",
      summary: "Hosts that are crawled, and how far",
      schema: hosts,
      query: z.object({ after, limit }),
    },
    {
      path: "/web/pages",
      summary: "Pages of a host, and why some cannot be found",
      schema: pages,
      query: z.object({ host: z.string(), after, limit }),
    },
    {
      path: "/web/domain64",
      summary: "The numbers of domain64, as their file would have them",
      schema: z.looseObject({}),
    },
  ]);
}
