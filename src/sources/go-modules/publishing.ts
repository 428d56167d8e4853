/** From versions that follow to versions published: who holds their paths, what is new, gone, back or moved. */
import { type Batch, fresh } from "tidemark";
import { isOther } from "./listing.ts";
import { keyOf, periodNo } from "./names.ts";
import { type RepositoryRow, repositories, versions } from "./tables.ts";
import {
  type Claim,
  claimPaths,
  markDeleted,
  markMoved,
  markThere,
  noteConflicts,
  readConflicts,
  readHolders,
  readVersions,
  type VersionRow,
} from "./version-rows.ts";
import type { ModuleVersion } from "./versions.ts";
import { type Cursor, start, type Work } from "./work.ts";

/** So many versions are published in one commit. */
const PUBLISH_MOST = 2_000;

export interface Found {
  versions: ModuleVersion[];
  /** The commit of every tag; null for those that stand for something else. */
  commits: Map<string, string | null>;
}

type Write = NonNullable<Batch["write"]>;

const nameOf = ({ path, version }: { path: string; version: string }) => `${path} ${version}`;

/** Batches that bring what is published in line with what was found; the last one ends the pull. */
export async function* publish(work: Work, found: Found, period_ms: number): AsyncGenerator<Batch<Cursor>> {
  const { resource_id } = work.pull.resource;
  const { read } = work.pull;
  const row = work.row!;
  const paths = [...new Set(found.versions.map((v) => v.path))];
  const claims = paths.map((path) => ({ path, at_home: isAtHome(path, row) }));
  const holders = yield* claimed(work, claims);
  const mine = found.versions.filter((v) => holders.get(v.path) === resource_id);
  const known = new Map(
    (await readVersions(read, resource_id, [...new Set(mine.map((v) => v.path))])).map((v) => [nameOf(v), v]),
  );
  const news = mine.filter((v) => !known.has(nameOf(v))).map((v) => ({ ...v, resource_id }));
  for (let i = 0; i < news.length; i += PUBLISH_MOST)
    yield { publish: [versions.entries(news.slice(i, i + PUBLISH_MOST))] };
  const changes = changesOf(resource_id, { versions: mine, commits: found.commits }, [...known.values()]);
  const disputes = await disputesOf(work, paths, holders);
  const target = {
    ...row,
    tags: work.cursor.total,
    listing_no: periodNo(work.id, work.pull.now_ms(), period_ms),
    seen_by: work.viewer ?? row.seen_by,
  };
  const writes = [changes, disputes].filter((write) => write !== null);
  yield {
    ...(isOther(row, target) ? { put: [repositories.rows([target])] } : {}),
    ...(writes.length > 0
      ? {
          write: async (tx) => {
            for (const write of writes) await write(tx);
          },
        }
      : {}),
    ...(isAtStart(work.pull.cursor) ? {} : { cursor: start }),
    final: fresh(),
  };
}

const isAtStart = (cursor: Cursor): boolean => JSON.stringify(cursor) === JSON.stringify(start);

/** Whether a path is that of the repository itself or below it, by its name of now or its first one. */
function isAtHome(path: string, { host, name, root }: RepositoryRow): boolean {
  const low = `${path.toLowerCase()}/`;
  return [keyOf(host, name), root].some((home) => low.startsWith(`${home.toLowerCase()}/`));
}

/** A fork declares the module that it was forked from. The Go tool looks for that where its path says, and never finds the fork. */
const isForeign = ({ path, at_home }: Claim, { host, is_fork }: RepositoryRow): boolean =>
  is_fork && !at_home && path.toLowerCase().startsWith(`${host}/`);

/** Who holds which path, after taking what may be taken. */
async function* claimed(work: Work, claims: Claim[]): AsyncGenerator<Batch<Cursor>, Map<string, bigint>> {
  const { resource_id } = work.pull.resource;
  const before = await readHolders(work.pull.read, resource_id, claims);
  const holders = new Map(before.map((h) => [h.path, h.resource_id]));
  const free = new Set(before.filter((h) => h.free).map((h) => h.path));
  const open = claims.filter(
    (claim) => (!holders.has(claim.path) || free.has(claim.path)) && !isForeign(claim, work.row!),
  );
  if (open.length === 0) return holders;
  yield {
    write: async (tx) => {
      for (const { path, resource_id: holder } of await claimPaths(tx, resource_id, open)) holders.set(path, holder);
    },
  };
  return holders;
}

/** What became of versions that were published before; null where nothing did. */
function changesOf(resource_id: bigint, { versions: now, commits }: Found, known: VersionRow[]): Write | null {
  const current = new Map(now.map((v) => [nameOf(v), v]));
  const there = known.flatMap((v) => {
    const found = current.get(nameOf(v));
    const same = v.resource_id === resource_id && !v.deleted && commits.has(v.tag);
    return found && !same ? [{ path: v.path, version: v.version, tag: found.tag }] : [];
  });
  const own = known.filter((v) => v.resource_id === resource_id);
  const gone = own.filter((v) => !v.deleted && !commits.has(v.tag) && !current.has(nameOf(v)));
  const moved = known.flatMap((v) => {
    const tag = current.get(nameOf(v))?.tag ?? (v.resource_id === resource_id ? v.tag : null);
    const oid = tag === null ? null : (commits.get(tag) ?? null);
    return oid === null || oid === v.commit_oid || oid === v.moved_oid ? [] : [{ ...v, oid }];
  });
  if (there.length + gone.length + moved.length === 0) return null;
  return async (tx) => {
    if (gone.length > 0) await markDeleted(tx, gone);
    if (there.length > 0) await markThere(tx, resource_id, there);
    if (moved.length > 0) await markMoved(tx, moved);
  };
}

/** Paths that this repository declares and another holds: recorded, and forgotten once that is over; null where it is all known. */
async function disputesOf(work: Work, paths: string[], holders: Map<string, bigint>): Promise<Write | null> {
  const { resource_id } = work.pull.resource;
  const before = new Map((await readConflicts(work.pull.read, resource_id)).map((c) => [c.path, c.held_by]));
  const now = paths.filter((path) => holders.get(path) !== resource_id);
  const same = now.every((path) => before.has(path) && before.get(path) === (holders.get(path) ?? null));
  return same && before.size === now.length ? null : (tx) => noteConflicts(tx, resource_id, now);
}
