/** The kind that people follow: a repository, whose past is read once, one repository at a time, and which is then kept up to date. */
import {
  askGitHub,
  type Batch,
  every,
  fresh,
  type GitHubFault,
  gitHubError,
  gone,
  isBadCursor,
  isDown,
  isNotFound,
  type Kind,
  kind,
  type Pull,
} from "tidemark";
import { Cursor, start } from "./cursor.ts";
import { look, probe, type Steps } from "./look.ts";
import { readKey } from "./names.ts";
import type { SourceParts } from "./parts.ts";
import { countSince, findRepository, issuePage, PROBED_MOST } from "./queries.ts";
import { readRest } from "./rest.ts";
import { pageBatches, whole } from "./rows.ts";
import { options } from "./settings.ts";
import { askedMoments, evenly, moved, streamsAt } from "./streams.ts";
import { dropTwin, findTwin, owned, readRepositories, repositories } from "./tables.ts";
import { tokensOf } from "./text.ts";

/** Stretches of time that are read side by side: at three seconds a page, 200,000 issues take half an hour. */
const STREAMS = 4;
/** Repositories with fewer issues are read in one. */
const SPLIT_LEAST = 2_000;
/** The fewest issues that are asked for after GitHub took too long, and after how many good pages it is ten more again. */
const PAGE_LEAST = 5;
const PAGE_STEP = 10;
const GOOD_PAGES = 20;
/** Whoever embeds is woken when there is about this much to do: one call's worth. */
const OWED_TOKENS = 200_000;

export function repositoryKind(parts: SourceParts): Kind {
  return kind<Cursor>({
    upstream: (key) => parts.gitHub(readKey(key).host).upstream,
    lane: ({ init }) => (init ? { name: "init", fleet: 1, order: "first come" } : { name: "sync" }),
    schedule: (given) => every(typeof given.every === "string" ? given.every : parts.settings().every),
    options,
    cursor: Cursor.default({ ...start, size: parts.page_most }),
    owns: owned,
    together: { most: PROBED_MOST, by: ({ cursor }) => (cursor.init ? "init" : "sync") },
    probe: (pulls) => probe(parts, pulls),
    async *pull(pull) {
      for (const stage of [find, look, split, read, rest] as const) {
        const outcome = yield* stage(parts, pull);
        if (outcome) return outcome;
      }
      return yield* finish(parts, pull);
    },
  });
}

/** Whose name it is: from then on it is known by its id. */
async function* find(parts: SourceParts, pull: Pull<Cursor>): Steps {
  const { cursor, resource } = pull;
  if (cursor.stage !== "find") return undefined;
  const { host, owner, name } = readKey(resource.key);
  const { data, faults } = await askGitHub(pull, parts.gitHub(host), findRepository(owner, name));
  const found = data.repository;
  if (found === null) {
    if (!faults.every(isNotFound)) throw gitHubError(host, faults);
    return gone(`there is no ${owner}/${name} at ${host}, or our token may not see it`);
  }
  const twin = await findTwin(pull.read, host, found.id, resource.resource_id);
  if (twin !== null) return gone(`it is the same repository as ${twin}, which is followed already`);
  yield {
    children: { found: [{ kind: "embeddings", key: "all" }] },
    write: (tx) => dropTwin(tx, host, found.id, resource.resource_id),
    cursor: { ...cursor, stage: "idle", id: found.id, total: found.issues.totalCount },
    progress: { done: 0, total: found.issues.totalCount },
  };
  return undefined;
}

/** Cuts a long past into stretches that are read side by side. */
async function* split(parts: SourceParts, pull: Pull<Cursor>): Steps {
  const { cursor, resource } = pull;
  if (cursor.stage !== "split") return undefined;
  let boundaries: string[] = [];
  if (cursor.total >= (parts.split_least ?? SPLIT_LEAST) && cursor.reached !== null) {
    const moments = askedMoments(Date.parse(cursor.reached));
    const { host } = readKey(resource.key);
    const { data, faults } = await askGitHub(pull, parts.gitHub(host), countSince(cursor.id!, moments));
    if (data === null || faults.length > 0) throw gitHubError(host, faults);
    boundaries = evenly(moments, data, cursor.total, STREAMS);
  }
  yield { cursor: { ...cursor, stage: "read", streams: streamsAt(boundaries) } };
  return undefined;
}

/** A page of each stream at a time, until all are at their ends. */
async function* read(parts: SourceParts, pull: Pull<Cursor>): Steps {
  for (;;) {
    const { cursor } = pull;
    if (cursor.stage !== "read") return undefined;
    const live = cursor.streams.flatMap((stream, i) => (stream.done ? [] : [i]));
    if (live.length === 0) {
      yield { cursor: { ...cursor, stage: "rest", streams: [] } };
      return undefined;
    }
    const answers = await Promise.allSettled(live.map((i) => readPage(parts, pull, i)));
    const failed = answers.find((one) => one.status === "rejected");
    if (failed) {
      const { reason } = failed;
      const bad = reason instanceof BadCursor;
      // Most likely it took too long: the next try asks for less.
      const size = Math.max(PAGE_LEAST, Math.ceil(cursor.size / 2));
      if (bad) yield { cursor: { ...cursor, streams: cursor.streams.map((one) => ({ ...one, after: null })) } };
      else if (isDown(reason) && size < cursor.size) yield { cursor: { ...cursor, size, good: 0 } };
      if (bad) continue;
      throw reason;
    }
    const pages = answers.flatMap((one, k) => (one.status === "fulfilled" ? [{ i: live[k]!, ...one.value }] : []));
    for (const page of pages) yield* takePage(parts, pull, page);
  }
}

class BadCursor extends Error {}

async function readPage(parts: SourceParts, pull: Pull<Cursor>, i: number) {
  const { since, after } = pull.cursor.streams[i]!;
  const { host } = readKey(pull.resource.key);
  const question = issuePage(pull.cursor.id!, { since, after, first: pull.cursor.size });
  const { data, faults } = await askGitHub(pull, parts.gitHub(host), question);
  if (after !== null && faults.some(isBadCursor)) throw new BadCursor();
  // What GitHub could not say is asked for again, in smaller pages: nothing is passed over.
  if (data.node === null || faults.length > 0) throw smaller(host, faults);
  const { nodes, pageInfo } = data.node.issues;
  return { issues: whole(nodes, "the issues"), pageInfo };
}

/** Whatever the reason, less at once may do: so that is tried. */
function smaller(host: string, faults: GitHubFault[]): Error {
  const error = gitHubError(host, faults);
  return Object.assign(error, { code: error.code === "UpstreamForbids" ? error.code : "UpstreamDown" });
}

async function* takePage(
  parts: SourceParts,
  pull: Pull<Cursor>,
  { i, issues, pageInfo }: { i: number } & Awaited<ReturnType<typeof readPage>>,
): Steps {
  const { cursor, resource } = pull;
  const batches = pageBatches(resource.resource_id, issues, parts.texts());
  const good = cursor.good + 1;
  const grows = cursor.size < parts.page_most && good >= GOOD_PAGES;
  const said = issues.reduce((sum, one) => sum + tokensOf(one.title) + Math.min(2_000, (one.body ?? "").length / 4), 0);
  const owed = cursor.owed + (parts.texts() === null ? 0 : Math.round(said));
  const count = cursor.read + Math.max(0, issues.length - (cursor.streams[i]!.since === null ? 0 : 1));
  const next: Cursor = {
    ...cursor,
    streams: cursor.streams.map((stream, k) => (k === i ? moved(stream, issues, pageInfo) : stream)),
    size: grows ? Math.min(parts.page_most, cursor.size + PAGE_STEP) : cursor.size,
    good: grows ? 0 : good,
    read: cursor.init ? count : 0,
    pages: cursor.pages + 1,
    owed: owed >= OWED_TOKENS ? 0 : owed,
  };
  const last: Batch = batches.pop() ?? {};
  for (const batch of batches) yield batch as Batch<Cursor>;
  yield {
    ...last,
    cursor: next,
    ...(cursor.init ? { progress: { done: Math.min(next.read, next.total), total: next.total } } : {}),
    ...(owed >= OWED_TOKENS ? { touch: [{ kind: "embeddings", key: "all" }] } : {}),
  };
  return undefined;
}

/** Comments and labels beyond those that come with an issue. */
async function* rest(parts: SourceParts, pull: Pull<Cursor>): Steps {
  if (pull.cursor.stage === "rest") yield* readRest(parts, pull);
  return undefined;
}

async function* finish(parts: SourceParts, pull: Pull<Cursor>): Steps {
  const { cursor, resource } = pull;
  const row = (await readRepositories(pull.read, [resource.resource_id])).get(resource.resource_id);
  const done = {
    ...row!,
    issues: cursor.total,
    newest: cursor.newest,
    initialised_at: row?.initialised_at ?? new Date(pull.now_ms()).toISOString(),
  };
  yield {
    put: [repositories.rows([done])],
    ...(cursor.init ? { children: { found: [{ kind: "sweep", key: resource.key }] } } : {}),
    touch: parts.texts() === null ? [] : [{ kind: "embeddings", key: "all" }],
    cursor: { ...start, stage: "idle", init: false, id: cursor.id, size: cursor.size, reached: cursor.reached },
    ...(cursor.init ? { progress: { done: cursor.total, total: cursor.total } } : {}),
    final: fresh(),
  };
  return undefined;
}
