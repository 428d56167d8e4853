/** The kind that finds what no update tells of: issues that were deleted or moved away, labels that were renamed, reactions, lost comments. */
import {
  askGitHub,
  type Batch,
  every,
  fresh,
  gitHubError,
  isBadCursor,
  isDown,
  isNotFound,
  type Kind,
  kind,
  later,
  type Pull,
} from "tidemark";
import { z } from "zod";
import { readKey } from "./names.ts";
import type { SourceParts } from "./parts.ts";
import { type IssueAnswer, issuesById, NODES_MOST } from "./queries.ts";
import { labelRow, pageBatches, whole } from "./rows.ts";
import { labelPage, placesOf, type Swept, sweepPage } from "./sweep-queries.ts";
import { dropIssues, forgetLabels, noteSwept, readBetween, readSwept, sweptRepository } from "./sweep-rows.ts";
import { labels } from "./tables.ts";

const PAGE_LEAST = 10;
/** Issues that are read again at once. */
const STALE_MOST = 50;
const NOT_YET_MS = 300_000;

const Cursor = z.object({
  stage: z.enum(["labels", "issues"]),
  after: z.string().nullable(),
  /** The moment at which the last issue of the page before was filed. */
  from: z.string().nullable(),
  size: z.number().int(),
  /** Labels that were met, while they are read. */
  met: z.array(z.string()),
});
type Cursor = z.infer<typeof Cursor>;

export function sweepKind(parts: SourceParts): Kind {
  const begin: Cursor = { stage: "labels", after: null, from: null, size: parts.page_most, met: [] };
  return kind<Cursor>({
    upstream: (key) => parts.gitHub(readKey(key).host).upstream,
    lane: () => ({ name: "sweep" }),
    schedule: () => every(parts.settings().sweep),
    cursor: Cursor.default(begin),
    async *pull(pull) {
      const repository = await sweptRepository(pull.read, pull.resource.key);
      if (!repository?.initialised_at || repository.is_hidden)
        return later(NOT_YET_MS, "its issues have not been read yet");
      // Whoever has just read all of it has nothing to find.
      const read_ms = pull.now_ms() - Date.parse(repository.initialised_at);
      if (pull.fresh_at === null && read_ms < every(parts.settings().sweep).period_ms! / 2) return fresh();
      while (pull.cursor.stage === "labels") yield* labelStep(parts, pull, repository);
      while (pull.cursor.stage === "issues") {
        const outcome = yield* issueStep(parts, pull, repository, begin);
        if (outcome) return outcome;
      }
      return undefined;
    },
  });
}

interface Repository {
  resource_id: bigint;
  node_id: string;
}

async function* labelStep(
  parts: SourceParts,
  pull: Pull<Cursor>,
  { resource_id, node_id }: Repository,
): AsyncGenerator<Batch<Cursor>, void> {
  const { cursor } = pull;
  const { host } = readKey(pull.resource.key);
  const { data, faults } = await askGitHub(pull, parts.gitHub(host), labelPage(node_id, cursor.after));
  if (faults.some(isBadCursor)) return yield { cursor: { ...cursor, after: null, met: [] } };
  if (faults.length > 0 || !data.node?.labels) throw gitHubError(host, faults);
  const { nodes, pageInfo } = data.node.labels;
  const named = whole(nodes, "the labels");
  const met = [...new Set([...cursor.met, ...named.map(({ id }) => id)])];
  const put = [labels.rows(named.map((label) => labelRow(resource_id, label)))];
  if (pageInfo.hasNextPage) yield { put, cursor: { ...cursor, after: pageInfo.endCursor, met } };
  else
    yield {
      put,
      write: (tx) => forgetLabels(tx, resource_id, met),
      cursor: { ...cursor, stage: "issues", after: null, met: [] },
    };
}

/**
 * A page of issues against those of the mirror that were filed in the same stretch of time. What is mirrored and was not met is asked for by its id
 * before it is let go of: a page may have shifted, and what GitHub does not answer is not gone.
 */
async function* issueStep(parts: SourceParts, pull: Pull<Cursor>, { resource_id, node_id }: Repository, begin: Cursor) {
  const { cursor } = pull;
  const { host } = readKey(pull.resource.key);
  const page = yield* readPage(parts, pull, node_id);
  if (page === "again") return undefined;
  const { met, pageInfo } = page;
  const to = pageInfo.hasNextPage ? (met.at(-1)?.createdAt ?? null) : null;
  const mirrored = await readBetween(pull.read, resource_id, cursor.from, to);
  const there = new Set(met.map(({ id }) => id));
  const missing = mirrored.filter((one) => !there.has(one.node_id));
  const lost: number[] = [];
  for (let i = 0; i < missing.length; i += NODES_MOST) {
    const part = missing.slice(i, i + NODES_MOST);
    const { data, faults } = await askGitHub(pull, parts.gitHub(host), placesOf(part.map((one) => one.node_id)));
    if (!faults.every(isNotFound)) throw gitHubError(host, faults);
    part.forEach(({ number }, n) => {
      if (data.nodes[n]?.repository.id !== node_id) lost.push(number);
    });
  }
  const known = await readSwept(
    pull.read,
    resource_id,
    met.map(({ number }) => number),
  );
  yield* readStale(parts, pull, resource_id, staleOf(met, known));
  const other = changed(met, known);
  const batch: Batch<Cursor> = {
    write: async (tx) => {
      await dropIssues(tx, resource_id, lost);
      await noteSwept(tx, resource_id, other);
    },
  };
  // What lacks comments is read by the repository's own pull.
  const wake = other.some((one) => one.is_short) ? { touch: [{ kind: "repository", key: pull.resource.key }] } : {};
  if (pageInfo.hasNextPage) {
    yield { ...batch, ...wake, cursor: { ...cursor, after: pageInfo.endCursor, from: to } };
    return undefined;
  }
  const size = Math.min(begin.size, cursor.size + PAGE_LEAST);
  yield { ...batch, ...wake, cursor: { ...begin, size }, final: fresh() };
  return undefined;
}

type Known = Map<number, { reactions: number; comments: number; updated_at: string }>;

/** Those that the mirror lacks, or has as they were before: GitHub showed them too late for any sync to see. */
const staleOf = (met: Swept[], known: Known): Swept[] =>
  met.filter(({ number, updatedAt }) => Date.parse(known.get(number)?.updated_at ?? "1970") < Date.parse(updatedAt));

async function* readStale(
  parts: SourceParts,
  pull: Pull<Cursor>,
  resource_id: bigint,
  stale: Swept[],
): AsyncGenerator<Batch<Cursor>, void> {
  const { host } = readKey(pull.resource.key);
  for (let i = 0; i < stale.length; i += STALE_MOST) {
    const ids = stale.slice(i, i + STALE_MOST).map(({ id }) => id);
    const { data, faults } = await askGitHub(pull, parts.gitHub(host), issuesById(ids));
    if (!faults.every(isNotFound)) throw gitHubError(host, faults);
    const there = data.nodes.filter((one): one is IssueAnswer => one !== null);
    for (const batch of pageBatches(resource_id, there, parts.texts())) yield batch as Batch<Cursor>;
  }
}

async function* readPage(
  parts: SourceParts,
  pull: Pull<Cursor>,
  node_id: string,
): AsyncGenerator<
  Batch<Cursor>,
  "again" | { met: Swept[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
> {
  const { cursor } = pull;
  const { host } = readKey(pull.resource.key);
  try {
    const { data, faults } = await askGitHub(pull, parts.gitHub(host), sweepPage(node_id, cursor.after, cursor.size));
    if (cursor.after !== null && faults.some(isBadCursor)) {
      yield { cursor: { ...cursor, after: null, from: null } };
      return "again";
    }
    if (faults.length > 0 || data.node === null) throw gitHubError(host, faults);
    return { met: whole(data.node.issues.nodes, "the issues"), pageInfo: data.node.issues.pageInfo };
  } catch (thrown) {
    const size = Math.max(PAGE_LEAST, Math.ceil(cursor.size / 2));
    if (isDown(thrown) && size < cursor.size) yield { cursor: { ...cursor, size } };
    throw thrown;
  }
}

/** Those whose reactions are others, or that have another number of comments than the mirror was told. */
function changed(met: Swept[], known: Known) {
  return met.flatMap(({ number, reactions, comments, updatedAt }) => {
    const row = known.get(number);
    if (!row) return [];
    const is_short = row.comments !== comments.totalCount && Date.parse(row.updated_at) >= Date.parse(updatedAt);
    if (row.reactions === reactions.totalCount && !is_short) return [];
    return [{ number, reactions: reactions.totalCount, is_short }];
  });
}
