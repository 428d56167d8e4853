/** One page of a repository's tags against the mirror: what is new or moved, what is gone, and what is read next. */
import type { Batch } from "tidemark";
import { keyOf } from "./names.ts";
import { commitOf, type Listed } from "./queries.ts";
import {
  countSeen,
  countTags,
  dropUnseen,
  forgetSeen,
  noteSeen,
  type RepositoryRow,
  readAllTags,
  readTags,
  repositories,
  type TagRow,
  tags,
} from "./tables.ts";
import { type Cursor, start, type Work } from "./work.ts";

/** A listing under which tags change begins anew, but not for ever: then nothing is let go of, until the next one. */
const AGAIN_MOST = 3;

export type Step = Batch<Cursor> | null;

/** Where the row of a repository differs from what GitHub says, as it should be; its tags are not complete until the end. */
export function rowOf({ pull, host, id, row, viewer }: Work, node: Listed): RepositoryRow {
  return {
    resource_id: pull.resource.resource_id,
    host,
    node_id: id,
    name: node.nameWithOwner,
    root: row?.root ?? keyOf(host, node.nameWithOwner),
    pushed_at: node.pushedAt,
    head_oid: node.defaultBranchRef?.target?.oid ?? null,
    is_fork: node.isFork,
    is_archived: node.isArchived,
    is_disabled: node.isDisabled,
    is_private: node.isPrivate,
    has_go: node.languages?.nodes.some((language) => language?.name === "Go") ?? false,
    tags: row?.tags ?? -1,
    listing_no: row?.listing_no ?? -1n,
    seen_by: row?.seen_by ?? viewer,
  };
}

/** The batch that a page of tags makes; null where it is the only page and nothing of it is news. */
export async function takePage(work: Work, node: Listed): Promise<Step> {
  const { pull, cursor } = work;
  const { resource_id } = pull.resource;
  const { totalCount, pageInfo, nodes } = node.refs!;
  const page = nodes.flatMap((ref): TagRow[] =>
    ref?.target ? [{ resource_id, name: ref.name, oid: ref.target.oid, commit_oid: commitOf(ref.target) }] : [],
  );
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  const only = cursor.after === null && next === null;
  const mirrored = only ? await readAllTags(pull.read, resource_id) : await readTags(pull.read, page);
  const news = differing(page, mirrored);
  const names = new Set(page.map((tag) => tag.name));
  const lost = only && nodes.length === totalCount ? mirrored.filter((tag) => !names.has(tag.name)) : [];
  const moved = cursor.after !== null && totalCount !== cursor.total;
  const met = cursor.met + nodes.length;
  const to = moved
    ? beginAgain(cursor)
    : next !== null
      ? { ...cursor, after: next, total: totalCount, met }
      : { ...cursor, stage: only ? ("versions" as const) : ("check" as const), after: null, total: totalCount, met };
  const row = rowOf(work, node);
  const dirty = news.length + lost.length > 0 || !work.row || isOther(work.row, row);
  if (dirty) work.row = { ...row, tags: -1 };
  if (only && !dirty) return take(work, to);
  return {
    put: [tags.rows(news), ...(dirty ? [repositories.rows([work.row!])] : [])],
    ...(lost.length > 0 ? { drop: [tags.keys(lost)] } : {}),
    ...(cursor.naming ? { write: naming(resource_id, page, cursor) } : {}),
    cursor: to,
  };
}

/** Nothing is worth a commit: the work goes on as if there had been one. */
function take(work: Work, to: Cursor): null {
  work.cursor = to;
  return null;
}

function naming(resource_id: bigint, page: TagRow[], { after }: Cursor): NonNullable<Batch["write"]> {
  return async (tx) => {
    if (after === null) await forgetSeen(tx, resource_id);
    await noteSeen(
      tx,
      resource_id,
      page.map((tag) => tag.name),
    );
  };
}

const beginAgain = ({ again, naming: was }: Cursor): Cursor =>
  again < AGAIN_MOST
    ? { ...start, naming: was, again: again + 1 }
    : // It went on too long to tell what is gone: the rest of it is read all the same, for what is new.
      { ...start, again: again + 1 };

/**
 * After the last of several pages. Every tag that was met is mirrored, so that as many mirrored as met means that none is gone. If there
 * are more, the listing is read again with names taken down, and what is not among them is gone.
 */
export async function checkListing(work: Work): Promise<Batch<Cursor>> {
  const { pull, cursor } = work;
  const { resource_id } = pull.resource;
  const versions: Cursor = { ...cursor, stage: "versions" };
  if (cursor.again > AGAIN_MOST) return { cursor: versions };
  if (!cursor.naming) {
    const mirrored = await countTags(pull.read, resource_id);
    if (cursor.met !== cursor.total) return { cursor: beginAgain(cursor) };
    return { cursor: mirrored === cursor.met ? versions : { ...start, naming: true, again: cursor.again } };
  }
  const named = await countSeen(pull.read, resource_id);
  if (named !== cursor.total) return { cursor: beginAgain(cursor) };
  work.row = work.row && { ...work.row, tags: -1 };
  return {
    ...(work.row ? { put: [repositories.rows([work.row])] } : {}),
    write: (tx) => dropUnseen(tx, resource_id),
    cursor: versions,
  };
}

function differing(page: TagRow[], mirrored: TagRow[]): TagRow[] {
  const known = new Map(mirrored.map((tag) => [tag.name, tag]));
  return page.filter((tag) => {
    const before = known.get(tag.name);
    return before?.oid !== tag.oid || before.commit_oid !== tag.commit_oid;
  });
}

const moment = (text: string | null): number | null => (text === null ? null : Date.parse(text));

export function isOther(a: RepositoryRow, b: RepositoryRow): boolean {
  return (Object.keys(b) as (keyof RepositoryRow)[]).some((field) =>
    field === "pushed_at" ? moment(a.pushed_at) !== moment(b.pushed_at) : a[field] !== b[field],
  );
}
