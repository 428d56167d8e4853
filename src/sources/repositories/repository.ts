/** A repository: asked where its HEAD is, and analysed only where that moved or the analyser did. */
import sql from "sql-template-tag";
import { type Batch, decay, fresh, gone, hasCode, type Kind, kind, type Outcome, type Pull, type Tx } from "tidemark";
import { z } from "zod";
import { GitCalls, type Seen } from "./calls.ts";
import { examine } from "./examine.ts";
import type { Head } from "./git-protocol.ts";
import { keyOf, partsOf } from "./names.ts";
import type { RepositoryParts } from "./parts.ts";
import { ANALYSER } from "./report.ts";
import { analyses, repositories } from "./tables.ts";

const DAY_MS = 86_400_000;
/** Until the next day of idleness begins: whole days are counted, so that 7 days and 23 hours are 7 days. */
const days = (n: number): number => (n + 1) * DAY_MS - 1;

/** The longer nobody looked, the rarer; after 90 days only a view or a person brings it back. */
export const tiers = [
  { idle: days(7), every: "6h" },
  { idle: days(14), every: "12h" },
  { idle: days(30), every: "24h" },
  { idle: days(60), every: "3d" },
  { idle: days(90), every: "7d" },
];

/** Analyses older than this are not kept, but for the newest. */
const KEPT_DAYS = 90;

const Cursor = z
  .object({
    head: z.object({ oid: z.string(), ref: z.string().nullable() }).nullable(),
    /** The commit that its newest analysis is of. */
    analysed: z.object({ oid: z.string(), analyser: z.number() }).nullable(),
    /** The commit that is not analysed, and the limits that it went beyond. */
    refused: z.object({ oid: z.string(), limits: z.string() }).nullable(),
    moved_to: z.string().nullable(),
  })
  .default({ head: null, analysed: null, refused: null, moved_to: null });
type Cursor = z.infer<typeof Cursor>;

export function repositoryKind(parts: RepositoryParts): Kind {
  /** What the probe saw, for the pull that follows it. */
  const seen = new WeakMap<Pull<Cursor>, Seen>();
  return kind<Cursor>({
    upstream: (key) => parts.upstream(partsOf(key).host),
    lane: () => ({ name: "analyses", slots: parts.settings().at_once }),
    version: ANALYSER,
    schedule: decay(tiers, "never"),
    cursor: Cursor,
    owns: [repositories, analyses],
    async probe(pulls) {
      return Promise.all(
        pulls.map(async (pull) => {
          const saw = await new GitCalls(parts, pull).see();
          seen.set(pull, saw);
          return { pull, unchanged: isUnchanged(pull.cursor, saw, parts) };
        }),
      );
    },
    async *pull(pull) {
      const calls = new GitCalls(parts, pull);
      const saw = seen.get(pull) ?? (await calls.see());
      yield await batchOf(parts, calls, pull, saw);
    },
  });
}

const limitsOf = (parts: RepositoryParts): string => `${parts.settings().pack_mb} MB, ${parts.settings().files} files`;

function isUnchanged(cursor: Cursor, saw: Seen, parts: RepositoryParts): boolean {
  if (saw.is === "moved") return cursor.moved_to === keyOf(saw.to);
  if (saw.is !== "there" || saw.head === null || cursor.moved_to !== null) return false;
  const { oid, ref } = saw.head;
  if (cursor.head?.oid !== oid || cursor.head.ref !== ref) return false;
  if (cursor.analysed?.oid === oid) return cursor.analysed.analyser === ANALYSER;
  return cursor.refused?.oid === oid && cursor.refused.limits === limitsOf(parts);
}

async function batchOf(parts: RepositoryParts, calls: GitCalls, pull: Pull<Cursor>, saw: Seen): Promise<Batch<Cursor>> {
  switch (saw.is) {
    case "hidden": {
      const state = saw.status === 451 ? "forbidden" : "hidden";
      return ended(pull, { state, reason: saw.reason }, { ...pull.cursor, head: null }, gone(saw.reason));
    }
    case "moved": {
      const to = keyOf(saw.to);
      const reason = `it is ${to} now`;
      const cursor = { ...pull.cursor, moved_to: to };
      const batch = ended(pull, { state: "moved", reason, moved_to: to }, cursor, fresh());
      return { ...batch, children: { found: [{ kind: "repository", key: to }], complete: true } };
    }
    case "there":
      if (saw.head === null)
        return ended(pull, { state: "empty", reason: "it has no commit" }, { ...pull.cursor, head: null }, fresh());
      return examined(parts, calls, pull, saw.head);
  }
}

/** Nothing of it was analysed; what was before is shown only where it is still the same repository for everyone. */
function ended(
  pull: Pull<Cursor>,
  row: { state: string; reason: string; moved_to?: string },
  cursor: Cursor,
  final: Outcome,
): Batch<Cursor> {
  const { resource_id, key } = pull.resource;
  return {
    cursor,
    final,
    write: async (tx) => {
      await tx.query(sql`
        insert into repositories.repository (resource_id, key, state, reason, moved_to)
        values (${resource_id}::bigint, ${key}, ${row.state}, ${row.reason}, ${row.moved_to ?? null}::text)
        on conflict (resource_id) do update
           set state = excluded.state, reason = excluded.reason, moved_to = excluded.moved_to
         where (repository.state, repository.reason, repository.moved_to)
               is distinct from (excluded.state, excluded.reason, excluded.moved_to)`);
    },
  };
}

async function examined(
  parts: RepositoryParts,
  calls: GitCalls,
  pull: Pull<Cursor>,
  head: Head,
): Promise<Batch<Cursor>> {
  const { pack_mb, files, keep } = parts.settings();
  const { resource_id, key } = pull.resource;
  const begun_ms = performance.now();
  const limits = { pack_bytes_max: pack_mb * 1024 * 1024, files_max: files };
  const before = pull.cursor.analysed?.oid ?? null;
  try {
    return await examine(calls, pull, head.oid, limits, parts, async ({ report, pack_bytes, knows }) => {
      // Neither in its history nor anywhere on the server: the name is another repository's now.
      const other = before !== null && before !== head.oid && !(await knows(before)) && !(await calls.has(before));
      const ms = Math.round(performance.now() - begun_ms);
      const at = new Date(pull.now_ms()).toISOString();
      const row = {
        resource_id,
        commit_oid: head.oid,
        analyser: ANALYSER,
        analysed_at: at,
        head_ref: head.ref,
        pack_bytes: BigInt(pack_bytes),
        ms,
        report,
      };
      return {
        put: [analyses.rows([row]), repositories.rows([seenRow(pull, head, at)])],
        cursor: { head, analysed: { oid: head.oid, analyser: ANALYSER }, refused: null, moved_to: null },
        final: fresh(),
        children: { found: [], complete: true },
        write: async (tx: Tx) => {
          if (other)
            await tx.query(
              sql`delete from repositories.analysis where resource_id = ${resource_id}::bigint and commit_oid <> ${head.oid}`,
            );
          await inherit(tx, resource_id, key);
          await forget(tx, resource_id, keep);
        },
      };
    });
  } catch (thrown) {
    if (!hasCode(thrown, "UpstreamChanged") || thrown.details.why !== "too large") throw thrown;
    const cursor = { ...pull.cursor, head, refused: { oid: head.oid, limits: limitsOf(parts) }, moved_to: null };
    return ended(pull, { state: "refused", reason: thrown.message }, cursor, fresh());
  }
}

function seenRow(pull: Pull<Cursor>, head: Head, at: string) {
  const { resource_id, key } = pull.resource;
  const named = { resource_id, key, state: "seen", reason: null, moved_to: null };
  return {
    ...named,
    head_oid: head.oid,
    head_ref: head.ref,
    head_at: at,
    commit_oid: head.oid,
    analyser: ANALYSER,
    analysed_at: at,
  };
}

/** What was found under the name that it had before is its own. */
async function inherit(tx: Tx, resource_id: bigint, key: string): Promise<void> {
  await tx.query(sql`
    update repositories.analysis a set resource_id = ${resource_id}::bigint
      from repositories.repository r
     where r.moved_to = ${key} and r.state = 'moved' and a.resource_id = r.resource_id
       and not exists (select from repositories.analysis b
                        where b.resource_id = ${resource_id}::bigint and b.commit_oid = a.commit_oid and b.analyser = a.analyser)`);
}

/** The newest is always kept. */
async function forget(tx: Tx, resource_id: bigint, keep: number): Promise<void> {
  await tx.query(sql`
    delete from repositories.analysis a
     using (select commit_oid, analyser, analysed_at, row_number() over (order by analysed_at desc, commit_oid) as n
              from repositories.analysis where resource_id = ${resource_id}::bigint) o
     where a.resource_id = ${resource_id}::bigint and a.commit_oid = o.commit_oid and a.analyser = o.analyser and o.n > 1
       and (o.n > ${keep} or o.analysed_at < tidemark.now() - ${KEPT_DAYS} * interval '1 day')`);
}
