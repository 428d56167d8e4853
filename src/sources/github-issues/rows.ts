/** What GitHub says of issues, as rows of the mirror. */
import { type Batch, type Row, TidemarkError, type Tx } from "tidemark";
import { notePassages, type PassageRow } from "./passage-rows.ts";
import type { CommentAnswer, Facts, IssueAnswer, LabelAnswer } from "./queries.ts";
import { comments, dropOtherComments, issues, labels, type RepositoryRow } from "./tables.ts";
import { passagesOf, type TextLimits } from "./text.ts";

/** A batch may hold 5,000 rows and 8 MB: half of that, because texts are written twice. */
const ROWS_MOST = 2_000;
const BYTES_MOST = 2_500_000;

export const commentRow = (resource_id: bigint, number: number, one: CommentAnswer): Row => ({
  comment_id: one.id,
  resource_id,
  number,
  author: one.author?.login ?? null,
  association: one.authorAssociation ?? null,
  body: one.body ?? "",
  created_at: one.createdAt,
  updated_at: one.updatedAt,
});

export const labelRow = (resource_id: bigint, { id, name, color }: LabelAnswer): Row => ({
  label_id: id,
  resource_id,
  name,
  color: color ?? null,
});

/** What is there of a list that GitHub may have left holes in; a hole is no answer. */
export function whole<T>(nodes: readonly (T | null)[], what: string): T[] {
  const there = nodes.filter((one): one is T => one !== null);
  if (there.length === nodes.length) return there;
  throw new TidemarkError("UpstreamDown", `GitHub left out ${nodes.length - there.length} of ${what}.`);
}

interface IssueRows {
  issue: Row;
  comments: Row[];
  labels: Row[];
  passages: PassageRow[];
  /** All of its comments came with it. */
  complete: boolean;
  bytes: number;
}

function rowsOf(resource_id: bigint, given: IssueAnswer, limits: TextLimits | null): IssueRows {
  const { number } = given;
  if (given.comments === null || given.labels === null)
    throw new TidemarkError("UpstreamDown", `GitHub left out what belongs to issue ${number}.`);
  const said = whole(given.comments.nodes, "the comments").map((one) => commentRow(resource_id, number, one));
  const named = whole(given.labels.nodes, "the labels");
  const more = (
    page: { totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string | null } },
    n: number,
  ) => (page.pageInfo.hasNextPage || n < page.totalCount ? (page.pageInfo.endCursor ?? "") : null);
  const body = given.body ?? "";
  const issue = {
    resource_id,
    number,
    node_id: given.id,
    title: given.title,
    body,
    state: given.state.toLowerCase(),
    state_reason: given.stateReason?.toLowerCase() ?? null,
    author: given.author?.login ?? null,
    created_at: given.createdAt,
    updated_at: given.updatedAt,
    closed_at: given.closedAt ?? null,
    label_ids: named.map(({ id }) => id),
    comments: given.comments.totalCount,
    comments_after: more(given.comments, said.length),
    labels_after: more(given.labels, named.length),
  };
  const texts = said as unknown as { body: string; association: string | null; created_at: string }[];
  const made = limits === null ? [] : passagesOf({ title: given.title, body, comments: texts }, limits);
  return {
    issue,
    comments: said,
    labels: named.map((label) => labelRow(resource_id, label)),
    passages: made.map((one) => ({ resource_id, number, tokens_most: limits!.tokens_most, ...one })),
    complete: issue.comments_after === null,
    bytes: 2 * (body.length + texts.reduce((n, one) => n + one.body.length, 0)) + 500,
  };
}

/** A page as batches that are small enough, without their cursors, in the order in which they are to be committed. */
export function pageBatches(resource_id: bigint, page: IssueAnswer[], limits: TextLimits | null): Batch[] {
  const groups: IssueRows[][] = [];
  let rows = ROWS_MOST;
  let bytes = 0;
  for (const given of page) {
    const one = rowsOf(resource_id, given, limits);
    const size = 1 + one.comments.length + one.labels.length + one.passages.length;
    if (rows + size > ROWS_MOST || bytes + one.bytes > BYTES_MOST) {
      groups.push([]);
      rows = 0;
      bytes = 0;
    }
    groups.at(-1)!.push(one);
    rows += size;
    bytes += one.bytes;
  }
  return groups.map((group) => batchOf(resource_id, group, limits));
}

function batchOf(resource_id: bigint, group: IssueRows[], limits: TextLimits | null): Batch {
  const found = group.map(({ issue }) => ({ number: issue.number as number, updated_at: issue.updated_at as string }));
  const complete = found.filter((_, i) => group[i]!.complete);
  const said = group.flatMap((one) => one.comments);
  const kept = said.map((row) => String(row.comment_id));
  const texts = group.flatMap((one) => one.passages);
  return {
    put: [
      labels.rows(group.flatMap((one) => one.labels)),
      issues.rows(group.map((one) => one.issue)),
      comments.rows(said),
    ],
    write: async (tx: Tx) => {
      await dropOtherComments(tx, resource_id, complete, kept);
      if (limits !== null) await notePassages(tx, resource_id, limits, found, texts);
    },
  };
}

/** Its row as it should be. */
export function repositoryRow(
  resource_id: bigint,
  host: string,
  facts: Facts,
  seen_by: string | null,
  before: RepositoryRow | undefined,
): RepositoryRow {
  return {
    resource_id,
    host,
    node_id: facts.id,
    name: facts.nameWithOwner,
    is_private: facts.isPrivate,
    is_archived: facts.isArchived,
    is_disabled: facts.isDisabled,
    has_issues: facts.hasIssuesEnabled,
    is_hidden: false,
    seen_by: before?.seen_by ?? seen_by,
    issues: before?.issues ?? 0,
    newest: before?.newest ?? "",
    initialised_at: before?.initialised_at ?? null,
  };
}

/** Whether what is known of a repository besides its issues is no longer so. */
export const isOther = (row: RepositoryRow, facts: Facts): boolean =>
  row.is_hidden ||
  row.name !== facts.nameWithOwner ||
  row.is_private !== facts.isPrivate ||
  row.is_archived !== facts.isArchived ||
  row.is_disabled !== facts.isDisabled ||
  row.has_issues !== facts.hasIssuesEnabled;
