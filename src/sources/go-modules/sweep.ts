/** What a look at a repository means: it is new, it changed and is pulled, or it is as the mirror has it. */
import type { Batch, Child, Pull, Ref } from "tidemark";
import { keyOf, periodNo } from "./names.ts";
import { type Swept, TAGS_PAGE } from "./queries.ts";
import { type RepositoryRow, readRepositories, readTags } from "./tables.ts";

export interface Seen {
  found: Child[];
  touch: Ref[];
  vouch: Ref[];
}

export const toBatch = ({ found, touch, vouch }: Seen, complete: boolean): Batch => ({
  children: { found, ...(complete ? { complete } : {}) },
  ...(touch.length > 0 ? { touch } : {}),
  ...(vouch.length > 0 ? { vouch } : {}),
});

/** Compares what was seen with the mirror: two statements, however many repositories. */
export async function compare(pull: Pull, host: string, all: Swept[], period_ms: number): Promise<Seen> {
  const known = await readRepositories(
    pull.read,
    host,
    all.map(({ id }) => id),
  );
  const wanted = all.flatMap(({ id, refs }) => {
    const row = known.get(id);
    return row
      ? (refs?.nodes ?? []).flatMap((ref) => (ref ? [{ resource_id: row.resource_id, name: ref.name }] : []))
      : [];
  });
  const mirrored = new Map(
    (wanted.length > 0 ? await readTags(pull.read, wanted) : []).map((t) => [`${t.resource_id} ${t.name}`, t.oid]),
  );
  const seen: Seen = { found: [], touch: [], vouch: [] };
  for (const one of all) {
    const ref = { kind: "repository", key: keyOf(host, one.id) };
    seen.found.push({ ...ref, options: { name: `${host}/${one.nameWithOwner}` } });
    const row = known.get(one.id);
    if (!row || one.refs === null) continue;
    const is_due = row.listing_no < periodNo(one.id, pull.now_ms(), period_ms);
    (is_due || hasChanged(row, one, mirrored) ? seen.touch : seen.vouch).push(ref);
  }
  return seen;
}

/**
 * Whether anything is there that the mirror does not have. A push that leaves the number of tags and the newest ones alone was most likely to
 * a branch: it is looked into where that costs one point, and waits for the next whole listing where there are many tags.
 */
function hasChanged(row: RepositoryRow, { refs, ...one }: Swept, mirrored: Map<string, string>): boolean {
  if (row.name !== one.nameWithOwner || row.is_archived !== one.isArchived || row.is_disabled !== one.isDisabled)
    return true;
  if (row.is_fork !== one.isFork || row.is_private !== one.isPrivate) return true;
  // Nothing is read from what is disabled, so there is nothing to compare.
  if (one.isDisabled || !refs) return false;
  if (row.tags !== refs.totalCount) return true;
  // The order of the newest is not to be relied on: only whether they are mirrored as they are.
  const isMirrored = (ref: { name: string; target: { oid: string } | null } | null) =>
    ref === null || ref.target === null || mirrored.get(`${row.resource_id} ${ref.name}`) === ref.target.oid;
  if (!refs.nodes.every(isMirrored)) return true;
  return row.tags > 0 && row.tags <= TAGS_PAGE && !isSameMoment(row.pushed_at, one.pushedAt);
}

const isSameMoment = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : Date.parse(a) === Date.parse(b);
