/** The paths of this source as /openapi.json describes them. */
import type { Hono } from "hono";
import { describePaths } from "tidemark";
import { z } from "zod";
import { RANKED_MOST, RESULTS, RESULTS_MOST } from "./paging.ts";
import { Q_LETTERS_MOST } from "./search-request.ts";

const maybe = z.string().nullable();
const score = z.number();

const result = z.object({
  host: z.string(),
  repository: z.string(),
  number: z.number().int(),
  url: z.string(),
  title: z.string(),
  state: z.string(),
  state_reason: maybe,
  author: maybe.describe("Null where the account is gone."),
  labels: z.array(z.string()),
  comments: z.number().int(),
  reactions: z.number().int().describe("As the last sweep counted them."),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: maybe,
  snippet: z.string().describe("Of its body, what was found between two pairs of stars."),
  repository_fresh_at: maybe,
  score: score.nullable(),
  score_parts: z
    .object({
      relevance: score,
      comments: score,
      recency: score,
      state: score,
      words: score.nullable().describe("How well its words match; null where none do."),
      meaning: score.nullable().describe("The cosine of what it means; null where that was not near."),
      exact: z.boolean().describe("The text is there letter by letter."),
    })
    .nullable()
    .describe("The first four add up to the score."),
});

const semantic = {
  search_type: z.enum(["hybrid", "keyword"]).describe("Whether meaning was compared, too."),
  why: maybe.describe("Why not, and what to do about it."),
};
const found = z.object({ results: z.array(result), next: maybe, fresh_at: maybe, ...semantic });

const repository = z.object({
  repository: z.string(),
  host: z.string(),
  key: z.string(),
  url: z.string(),
  init_status: z.string().describe("queued, in progress, done; parked, paused or gone."),
  initialised_at: maybe,
  sync_status: z.string().describe("not yet, queued, in progress, done; parked, paused or gone."),
  synced_at: maybe,
  swept_at: maybe.describe("When it was last looked through for what no update tells of."),
  progress: z.object({ done: z.number(), total: z.number() }).nullable(),
  place: z.number().int().nullable(),
  eta_ms: z.number().nullable(),
  next_at: maybe,
  next_why: z.string(),
  issues: z.number().int().describe("As GitHub counts them."),
  mirrored: z.number().int(),
  issue_updated_at: maybe.describe("The newest update that is mirrored."),
  embedded: z.number().nullable().describe("The part of its issues that has vectors, from 0 to 1."),
  embedded_failed: z.number().int(),
  searchable: z.boolean(),
  searchable_why: z.string(),
  is_private: z.boolean(),
  is_archived: z.boolean(),
  fresh_at: maybe,
});

const failing = z.array(
  z.object({ number: z.number().int(), tries: z.number().int(), reason: maybe, retry_at: z.string() }),
);

const status = z.object({
  semantic: z.enum(["on", "off"]),
  why: maybe,
  model: maybe,
  where: maybe,
  compared_by: z.enum(["pgvector", "exact scan"]),
  generations: z.array(
    z.object({
      generation: z.number().int(),
      model: z.string(),
      dimensions: z.number().int().nullable(),
      created_at: z.string(),
      completed_at: maybe,
      vectors: z.number().int(),
      waiting: z.number().int(),
      failed: z.number().int(),
      in_use: z.boolean(),
    }),
  ),
  fresh_at: maybe,
});

const limit = z.string().optional().describe(`${RESULTS} unless said, ${RESULTS_MOST} at most.`);
const after = z.string().optional().describe("What the page before gave as `next`.");
const host = z.string().optional().describe("Of an Enterprise Server; github.com unless said.");
const name = { owner: z.string(), repo: z.string() };

export function describeRoutes(app: Hono): void {
  describePaths(app, "github-issues", [
    {
      path: "/issues/search",
      summary: `Issues by words and by meaning; the best ${RANKED_MOST} can be paged through`,
      schema: found,
      query: z.object({
        q: z
          .string()
          .optional()
          .describe(
            `Words, "phrases", title: body: author: label: state: is: repo: org:, each with - before it for the opposite; ${Q_LETTERS_MOST} letters at most. Without words, the last updated come first.`,
          ),
        after,
        limit,
      }),
    },
    {
      path: "/issues/repos",
      summary: "Repositories, how far each is and what happens next",
      schema: z.object({ results: z.array(repository), next: maybe, fresh_at: maybe }),
      query: z.object({ after, limit }),
    },
    {
      path: "/issues/repos/{owner}/{repo}",
      summary: "One of them, with the issues of which no vector could be made",
      schema: repository.extend({ failing }),
      params: z.object(name),
      query: z.object({ host }),
    },
    {
      path: "/issues/repos/{owner}/{repo}/{number}/similar",
      summary: "Issues like this one, of all repositories: duplicates",
      schema: found,
      params: z.object({ ...name, number: z.string() }),
      query: z.object({ host, limit }),
    },
    {
      path: "/issues/status",
      summary: "What makes vectors, how far that is, and how they are compared",
      schema: status,
    },
  ]);
}
