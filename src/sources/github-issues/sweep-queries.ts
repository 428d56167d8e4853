/** What a sweep asks of GitHub: which issues are there, and what no update tells of. */
import { type GitHubQuestion, points, RATE } from "tidemark";
import { z } from "zod";

const LABELS_FIRST = 100;

const Page = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });
const Count = z.object({ totalCount: z.number().int() });

const Swept = z.object({
  id: z.string().min(1),
  number: z.number().int().positive(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  reactions: Count,
  comments: Count,
});
export type Swept = z.infer<typeof Swept>;

const SweepPage = z.object({
  node: z.object({ issues: z.object({ pageInfo: Page, nodes: z.array(Swept.nullable()) }) }).nullable(),
});

/** Issues in the order in which they were filed: a hundred with the numbers of their reactions and comments are two points. */
export function sweepPage(id: string, after: string | null, first: number): GitHubQuestion<z.infer<typeof SweepPage>> {
  const query = `query ($id: ID!, $after: String, $first: Int!) {
  ${RATE}
  node(id: $id) { ... on Repository {
    issues(first: $first, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
      pageInfo { hasNextPage endCursor }
      nodes { id number createdAt updatedAt reactions(first: 1) { totalCount } comments(first: 1) { totalCount } }
    } } }
}`;
  return { query, variables: { id, after, first }, cost: points(1 + 2 * first), answer: SweepPage };
}

const Label = z.object({ id: z.string().min(1), name: z.string(), color: z.string().nullish() });
const LabelPage = z.object({
  node: z.object({ labels: z.object({ pageInfo: Page, nodes: z.array(Label.nullable()) }).nullable() }).nullable(),
});

/** What its labels are called now: renaming one updates no issue. */
export function labelPage(id: string, after: string | null): GitHubQuestion<z.infer<typeof LabelPage>> {
  const query = `query ($id: ID!, $after: String) {
  ${RATE}
  node(id: $id) { ... on Repository { labels(first: ${LABELS_FIRST}, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { id name color } } } }
}`;
  return { query, variables: { id, after }, cost: 1, answer: LabelPage };
}

const Places = z.object({
  nodes: z.array(z.object({ id: z.string(), repository: z.object({ id: z.string() }) }).nullable()),
});

/** Where these issues are now; null for those that are nowhere. */
export function placesOf(ids: string[]): GitHubQuestion<z.infer<typeof Places>> {
  const query = `query ($ids: [ID!]!) {
  ${RATE}
  nodes(ids: $ids) { ... on Issue { id repository { id } } }
}`;
  return { query, variables: { ids }, cost: 1, answer: Places };
}
