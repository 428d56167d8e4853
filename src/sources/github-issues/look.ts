/** The look at a repository before anything is read: whether it changed, whether it is still there, what of it may be read. */
import {
  askGitHub,
  type Batch,
  fresh,
  type GitHubFault,
  gitHubError,
  gone,
  isNotFound,
  later,
  type Outcome,
  type Pull,
} from "tidemark";
import type { Cursor } from "./cursor.ts";
import { readKey } from "./names.ts";
import type { SourceParts } from "./parts.ts";
import { type Probed, probeRepositories } from "./queries.ts";
import { isOther, repositoryRow } from "./rows.ts";
import { overlapping } from "./streams.ts";
import { type RepositoryRow, readIncomplete, readRepositories, repositories } from "./tables.ts";

/** When a repository that this account does not see is asked for again: another account may be asked then. */
const SEEN_MS = 60_000;

export type Steps = AsyncGenerator<Batch<Cursor>, Outcome | undefined>;

/** What a probe learned, for the pull that follows it. */
const probed = new WeakMap<object, { node: Probed; viewer: string | null }>();

const newestOf = ({ issues: { totalCount, nodes } }: Probed): string =>
  `${totalCount} ${nodes.map((one) => (one ? `${one.id}@${one.updatedAt}` : "?")).join(" ")}`;

/** One point for all of them. What did not change is fresh; what cannot be told is pulled, which finds out. */
export async function probe(parts: SourceParts, pulls: Pull<Cursor>[]) {
  const idle = pulls.filter(({ cursor }) => cursor.stage === "idle" && cursor.id !== null);
  if (idle.length === 0) return pulls.map((pull) => ({ pull, unchanged: false }));
  const first = idle[0]!;
  const ids = idle.map(({ resource }) => resource.resource_id);
  const rows = await readRepositories(first.read, ids);
  const incomplete = await readIncomplete(first.read, ids);
  const { host } = readKey(first.resource.key);
  const question = probeRepositories(idle.map(({ cursor }) => cursor.id!));
  const { data, faults, viewer } = await askGitHub(first, parts.gitHub(host), question);
  const same = new Set<Pull<Cursor>>();
  idle.forEach((pull, i) => {
    const node = data[i];
    const row = rows.get(pull.resource.resource_id);
    if (!node || !row || faults.some(({ path }) => path?.[0] === `n${i}`)) return;
    if (!isOther(row, node) && row.newest === newestOf(node) && !incomplete.has(row.resource_id)) same.add(pull);
    else probed.set(pull, { node, viewer });
  });
  return pulls.map((pull) => ({ pull, unchanged: same.has(pull) }));
}

/** What is there now, before anything is read: what changes meanwhile is found by the next look. */
export async function* look(parts: SourceParts, pull: Pull<Cursor>): Steps {
  const { cursor, resource } = pull;
  if (cursor.stage !== "idle") return undefined;
  const { host } = readKey(resource.key);
  const row = (await readRepositories(pull.read, [resource.resource_id])).get(resource.resource_id);
  const known = probed.get(pull) ?? (await ask(parts, pull));
  if ("faults" in known) return yield* unseen(pull, row, known);
  const { node, viewer } = known;
  const put = repositoryRow(resource.resource_id, host, node, viewer, row);
  const changed = !row || isOther(row, node) ? [repositories.rows([put])] : [];
  const shut = !node.hasIssuesEnabled || node.isDisabled || (node.isPrivate && !parts.settings().private);
  if (shut) {
    yield { put: changed, final: fresh() };
    return undefined;
  }
  const newest = node.issues.nodes.find((one) => one !== null)?.updatedAt ?? null;
  yield {
    put: changed,
    cursor: {
      ...cursor,
      stage: cursor.init ? "split" : "read",
      streams: cursor.init ? [] : [{ since: overlapping(cursor.reached), after: null, until: null, done: false }],
      reached: newest,
      newest: newestOf(node),
      total: node.issues.totalCount,
    },
    progress: { done: cursor.read, total: Math.max(cursor.read, node.issues.totalCount) },
  };
  return undefined;
}

interface NotSeen {
  faults: GitHubFault[];
  viewer: string | null;
}

async function ask(parts: SourceParts, pull: Pull<Cursor>): Promise<{ node: Probed; viewer: string | null } | NotSeen> {
  const { host } = readKey(pull.resource.key);
  const { data, faults, viewer } = await askGitHub(pull, parts.gitHub(host), probeRepositories([pull.cursor.id!]));
  const node = data[0];
  if (node && faults.length === 0) return { node, viewer };
  if (node || faults.length === 0 || !faults.every(isNotFound)) throw gitHubError(host, faults);
  return { faults, viewer };
}

/** Deleted, or private and none of ours: nothing of it is shown from this commit on. */
async function* unseen(pull: Pull<Cursor>, row: RepositoryRow | undefined, { viewer }: NotSeen): Steps {
  const name = row?.name ?? pull.resource.key;
  if (row && !row.is_hidden && row.seen_by !== null && viewer !== null && row.seen_by !== viewer)
    return later(SEEN_MS, `${viewer} does not see ${name}, and ${row.seen_by} did; all tokens should see the same`);
  yield {
    put: row ? [repositories.rows([{ ...row, is_hidden: true }])] : [],
    final: gone(`GitHub has no repository ${name} any more, or our token may not see it`),
  };
  return undefined;
}
