/** Reads what is too long to come with its issue: comments beyond the first, labels beyond a hundred. */
import { askGitHub, type Batch, gitHubError, isBadCursor, isNotFound, type Pull } from "tidemark";
import type { Cursor } from "./cursor.ts";
import { readKey } from "./names.ts";
import type { SourceParts } from "./parts.ts";
import { type CommentAnswer, type LabelAnswer, NESTED_MOST, type Rest, restOf } from "./queries.ts";
import { commentRow, labelRow, whole } from "./rows.ts";
import { comments, labels, noteRead, type ReadRow, readUnread, type UnreadRow } from "./tables.ts";

/** Of each issue the next page, many issues in one call, until nothing is missing. */
export async function* readRest(parts: SourceParts, pull: Pull<Cursor>): AsyncGenerator<Batch<Cursor>, void> {
  const { resource_id, key } = pull.resource;
  for (;;) {
    const unread = await readUnread(pull.read, resource_id, NESTED_MOST);
    if (unread.length === 0) return;
    const { host } = readKey(key);
    const { data, faults } = await askGitHub(pull, parts.gitHub(host), restOf(unread));
    const others = faults.filter((fault) => !isNotFound(fault) && !isBadCursor(fault));
    if (others.length > 0) throw gitHubError(host, others);
    const again = new Set(faults.filter(isBadCursor).map(({ path }) => String(path?.[0])));
    const read = unread.map((row, i) => (again.has(`n${i}`) ? fromBeginning(row) : afterPage(row, data[i] ?? null)));
    yield {
      put: [
        labels.rows(read.flatMap((one) => one.named.map((label) => labelRow(resource_id, label)))),
        comments.rows(read.flatMap((one) => one.said.map((comment) => commentRow(resource_id, one.number, comment)))),
      ],
      write: (tx) => noteRead(tx, resource_id, read),
      cursor: { ...pull.cursor, pages: pull.cursor.pages + 1 },
    };
  }
}

interface Read extends ReadRow {
  said: CommentAnswer[];
  named: LabelAnswer[];
}

/** What an issue has after a page; one that is no longer there misses nothing. */
function afterPage(row: UnreadRow, rest: Rest | null): Read {
  const said = whole(rest?.comments?.nodes ?? [], "the comments");
  const named = whole(rest?.labels?.nodes ?? [], "the labels");
  const next = (page: Rest["comments"] | Rest["labels"]) =>
    page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  return {
    ...row,
    comments: rest?.comments?.totalCount ?? row.comments,
    comments_after: next(rest?.comments),
    labels_after: next(rest?.labels),
    label_ids: [...new Set([...row.label_ids, ...named.map(({ id }) => id)])],
    said,
    named,
  };
}

/** Its place in the list is no longer good: what was read is read again, and nothing is missed. */
const fromBeginning = (row: UnreadRow): Read => ({
  ...row,
  comments_after: row.comments_after === null ? null : "",
  labels_after: row.labels_after === null ? null : "",
  said: [],
  named: [],
});
