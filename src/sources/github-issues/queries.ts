/** What is asked of GitHub about issues, and the shapes of its answers. */
import { type GitHubQuestion, points, RATE } from "tidemark";
import { z } from "zod";

/** Issues on a page: GitHub gives no more, and with comments and labels a hundred are two points. */
export const PAGE_MOST = 100;
/** Comments that come with an issue; the others are read one by one issue, later. */
export const COMMENTS_FIRST = 30;
const NESTED_FIRST = 100;
/** Of the newest issues so many tell whether anything changed. */
const NEWEST = 5;
/** Ids in one call. */
export const NODES_MOST = 100;
/** Repositories in one probe: a request for each is one point in all. */
export const PROBED_MOST = 100;
/** Issues whose further comments are read with one call. */
export const NESTED_MOST = 20;

const FACTS = "id nameWithOwner isPrivate isArchived isDisabled hasIssuesEnabled";
const facts = {
  id: z.string().min(1),
  nameWithOwner: z.string().regex(/^[^/\s]+\/[^/\s]+$/),
  isPrivate: z.boolean(),
  isArchived: z.boolean(),
  isDisabled: z.boolean(),
  hasIssuesEnabled: z.boolean(),
};
const Facts = z.object(facts);
export type Facts = z.infer<typeof Facts>;

const moment = z.iso.datetime();
const Page = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });
const Author = z.object({ login: z.string() }).nullable();
const Label = z.object({ id: z.string().min(1), name: z.string(), color: z.string().nullish() });
export type LabelAnswer = z.infer<typeof Label>;

const Comment = z.object({
  id: z.string().min(1),
  author: Author,
  authorAssociation: z.string().nullish(),
  // GitHub's schema says that there is one; its answers have been seen without.
  body: z.string().nullish(),
  createdAt: moment,
  updatedAt: moment,
});
export type CommentAnswer = z.infer<typeof Comment>;

const Comments = z.object({ totalCount: z.number().int(), pageInfo: Page, nodes: z.array(Comment.nullable()) });
const Labels = z.object({ totalCount: z.number().int(), pageInfo: Page, nodes: z.array(Label.nullable()) });
export type CommentsAnswer = z.infer<typeof Comments>;
export type LabelsAnswer = z.infer<typeof Labels>;

const COMMENT = "id author { login } authorAssociation body createdAt updatedAt";
const LABEL = "id name color";
const CONNECTION = "totalCount pageInfo { hasNextPage endCursor }";

const Issue = z.object({
  id: z.string().min(1),
  number: z.number().int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  // Not an enumeration here: GitHub adds to it.
  stateReason: z.string().nullish(),
  author: Author,
  createdAt: moment,
  updatedAt: moment,
  closedAt: moment.nullish(),
  comments: Comments.nullable(),
  labels: Labels.nullable(),
});
export type IssueAnswer = z.infer<typeof Issue>;

const ISSUE = `id number title body state stateReason(enableDuplicate: true) author { login } createdAt updatedAt closedAt
  comments(first: ${COMMENTS_FIRST}) { ${CONNECTION} nodes { ${COMMENT} } }
  labels(first: ${NESTED_FIRST}) { ${CONNECTION} nodes { ${LABEL} } }`;

const Found = z.object({ repository: Facts.extend({ issues: z.object({ totalCount: z.number() }) }).nullable() });

/** A repository by its name, which may be one that it had before. */
export function findRepository(owner: string, name: string): GitHubQuestion<z.infer<typeof Found>> {
  const query = `query ($owner: String!, $name: String!) {
  ${RATE}
  repository(owner: $owner, name: $name) { ${FACTS} issues(first: 1) { totalCount } }
}`;
  return { query, variables: { owner, name }, cost: 1, answer: Found };
}

const IssuePage = z.object({
  node: Facts.extend({
    issues: z.object({ totalCount: z.number().int(), pageInfo: Page, nodes: z.array(Issue.nullable()) }),
  }).nullable(),
});
export type IssuePageAnswer = z.infer<typeof IssuePage>;

/**
 * A page in the order of updates, from a moment on, which is part of it. Asked for everything since 1970 GitHub answers with nothing, so that the
 * beginning of time is said by saying nothing.
 */
export function issuePage(
  id: string,
  { since, after, first }: { since: string | null; after: string | null; first: number },
): GitHubQuestion<IssuePageAnswer> {
  const from = since === null ? "" : ", filterBy: { since: $since }";
  const query = `query ($id: ID!, $after: String, $first: Int!${since === null ? "" : ", $since: DateTime!"}) {
  ${RATE}
  node(id: $id) { ... on Repository { ${FACTS}
    issues(first: $first, after: $after, orderBy: { field: UPDATED_AT, direction: ASC }${from}) {
      ${CONNECTION} nodes { ${ISSUE} }
    } } }
}`;
  const variables = { id, after, first, ...(since === null ? {} : { since }) };
  return { query, variables, cost: points(1 + 2 * first), answer: IssuePage };
}

const IssuesById = z.object({ nodes: z.array(Issue.nullable()) });

/** These issues, wherever they are. */
export function issuesById(ids: string[]): GitHubQuestion<z.infer<typeof IssuesById>> {
  const query = `query ($ids: [ID!]!) {
  ${RATE}
  nodes(ids: $ids) { ... on Issue { ${ISSUE} } }
}`;
  return { query, variables: { ids }, cost: points(2 * ids.length), answer: IssuesById };
}

const Newest = z.object({
  totalCount: z.number().int(),
  nodes: z.array(z.object({ id: z.string(), updatedAt: moment }).nullable()),
});
const Probed = Facts.extend({ issues: Newest });
export type Probed = z.infer<typeof Probed>;
const Probes = z.record(z.string(), z.unknown()).transform((data, context) => {
  const all: (Probed | null)[] = [];
  for (let i = 0; `n${i}` in data; i += 1) {
    const parsed = Probed.nullable().safeParse(data[`n${i}`]);
    if (!parsed.success) {
      context.addIssue(`n${i} is of another shape`);
      return z.NEVER;
    }
    all.push(parsed.data);
  }
  return all;
});

/** Whether anything changed in each of these: one point for a hundred. */
export function probeRepositories(ids: string[]): GitHubQuestion<(Probed | null)[]> {
  const names = ids.map((_, i) => `$i${i}: ID!`).join(", ");
  const parts = ids.map(
    (_, i) => `n${i}: node(id: $i${i}) { ... on Repository { ${FACTS}
    issues(first: ${NEWEST}, orderBy: { field: UPDATED_AT, direction: DESC }) { totalCount nodes { id updatedAt } } } }`,
  );
  const query = `query (${names}) {\n  ${RATE}\n  ${parts.join("\n  ")}\n}`;
  const variables = Object.fromEntries(ids.map((id, i) => [`i${i}`, id]));
  return { query, variables, cost: points(ids.length), answer: Probes as z.ZodType<(Probed | null)[]> };
}

const Counts = z.object({ node: z.record(z.string(), z.unknown()).nullable() }).transform(({ node }) => {
  if (node === null) return null;
  const counts: number[] = [];
  for (let i = 0; ; i += 1) {
    const one = z.object({ totalCount: z.number().int() }).safeParse(node[`c${i}`]);
    if (!one.success) return counts;
    counts.push(one.data.totalCount);
  }
});

/** How many issues were updated since each of these moments: how a repository's past is cut into even parts. */
export function countSince(id: string, moments: string[]): GitHubQuestion<number[] | null> {
  const parts = moments.map((at, i) => `c${i}: issues(first: 1, filterBy: { since: "${at}" }) { totalCount }`);
  const query = `query ($id: ID!) {\n  ${RATE}\n  node(id: $id) { ... on Repository { ${parts.join("\n    ")} } }\n}`;
  return { query, variables: { id }, cost: points(moments.length), answer: Counts as z.ZodType<number[] | null> };
}

const Rest = z.object({ comments: Comments.optional(), labels: Labels.optional() });
export type Rest = z.infer<typeof Rest>;
const Rests = z.record(z.string(), z.unknown()).transform((data) =>
  Object.keys(data)
    .filter((name) => /^n\d+$/.test(name))
    .map((name) => (data[name] === null ? null : (Rest.safeParse(data[name]).data ?? null))),
);

export interface Unread {
  node_id: string;
  /** Where to go on; the empty text is the beginning, null that nothing is missing. */
  comments_after: string | null;
  labels_after: string | null;
}

/** The next comments and labels of issues that have more than come with them. */
export function restOf(wanted: Unread[]): GitHubQuestion<(Rest | null)[]> {
  const names = wanted.flatMap(({ comments_after, labels_after }, i) => [
    `$i${i}: ID!`,
    ...(comments_after === null ? [] : [`$c${i}: String`]),
    ...(labels_after === null ? [] : [`$l${i}: String`]),
  ]);
  const parts = wanted.map(({ comments_after, labels_after }, i) => {
    const comments = `comments(first: ${NESTED_FIRST}, after: $c${i}) { ${CONNECTION} nodes { ${COMMENT} } }`;
    const labels = `labels(first: ${NESTED_FIRST}, after: $l${i}) { ${CONNECTION} nodes { ${LABEL} } }`;
    const all = [comments_after === null ? "" : comments, labels_after === null ? "" : labels].join(" ");
    return `n${i}: node(id: $i${i}) { ... on Issue { ${all} } }`;
  });
  const variables = Object.fromEntries(
    wanted.flatMap(({ node_id, comments_after, labels_after }, i) => [
      [`i${i}`, node_id],
      ...(comments_after === null ? [] : [[`c${i}`, comments_after || null]]),
      ...(labels_after === null ? [] : [[`l${i}`, labels_after || null]]),
    ]),
  );
  const query = `query (${names.join(", ")}) {\n  ${RATE}\n  ${parts.join("\n  ")}\n}`;
  return { query, variables, cost: points(2 * wanted.length), answer: Rests as z.ZodType<(Rest | null)[]> };
}
