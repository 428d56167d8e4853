/** The kind that does the work: lists the tags of repositories, many in one call, reads go.mod files once, publishes versions. */
import {
  askGitHub,
  type Batch,
  every,
  fresh,
  gitHubError,
  gone,
  isBadCursor,
  isDown,
  isNotFound,
  type Kind,
  kind,
  later,
  type Pull,
  type TidemarkError,
} from "tidemark";
import { declaredPath } from "./gomod-file.ts";
import { checkListing, isOther, rowOf, takePage } from "./listing.ts";
import { periodNo, readKey } from "./names.ts";
import type { KindParts } from "./owner.ts";
import { type Found, publish } from "./publishing.ts";
import { gomodFiles, type Listed, tagPages, type WantedFile } from "./queries.ts";
import { isBelieved, unseen } from "./sight.ts";
import { gomods, owned, readAllTags, readGomods, readRepositories, repositories } from "./tables.ts";
import { markAllDeleted } from "./version-rows.ts";
import { type GomodAt, versionsOf } from "./versions.ts";
import { Cursor, start, type Work } from "./work.ts";

/** Repositories in one call: their tags and languages are fifty connections, half a point. */
const TOGETHER = 25;
/** The fewest files that are asked for after calls that took too long. */
const FILES_LEAST = 5;
/** Reading what is needed may show that more is; it never takes this many rounds. */
const ROUNDS_MOST = 10;
/** When a repository is asked for again that this account does not see: another may be asked then. */
const SEEN_MS = 60_000;

/** A page of tags; or that the repository is gone, or that this account may not see it, or that the place to go on from is no longer good. */
type Page = Listed | "gone" | "unseen" | "again";
type Steps = { pull: Pull<Cursor>; batch: Batch<Cursor> }[];

export function repositoryKind(parts: KindParts): Kind {
  const period_ms = () => every(parts.settings().refresh).period_ms!;
  return kind<Cursor>({
    upstream: (key) => parts.gitHub(readKey(key).host).upstream,
    // Sweeps make due what has to be listed, many together. By itself it is due only when a sweep should have come and did not.
    schedule: () => ({
      next: () => ({
        wait_ms: period_ms() + every(parts.settings().every).period_ms!,
        why: `listed with a sweep, every ${parts.settings().refresh}; by itself if none comes`,
      }),
    }),
    cursor: Cursor.default(start),
    owns: owned,
    together: { most: TOGETHER },
    async *pullTogether(pulls) {
      const group = new Group(parts, await worksOf(pulls), period_ms());
      yield* group.list();
      yield* group.readFiles();
      yield* group.publishAll();
      group.complain();
    },
  });
}

/** One host's: pulls go together by upstream. */
async function worksOf(pulls: Pull<Cursor>[]): Promise<Work[]> {
  const keys = pulls.map((pull) => ({ pull, ...readKey(pull.resource.key) }));
  const first = keys[0]!;
  const rows = await readRepositories(
    first.pull.read,
    first.host,
    keys.map(({ id }) => id),
  );
  return keys.map(({ pull, host, id }) => ({ pull, host, id, row: rows.get(id), viewer: null, cursor: pull.cursor }));
}

class Group {
  readonly #parts: KindParts;
  readonly #period_ms: number;
  /** Those whose pull goes on. */
  #works: Work[];
  /** Repositories that GitHub could not answer for; they fail when the others are done. */
  readonly #troubles = new Map<Work, TidemarkError>();
  readonly #found = new Map<Work, Found>();

  constructor(parts: KindParts, works: Work[], period_ms: number) {
    this.#parts = parts;
    this.#works = works;
    this.#period_ms = period_ms;
  }

  get #host() {
    return this.#parts.gitHub(this.#works[0]!.host);
  }

  /** Commits; who has ended or lost its lease drops out, for its cursor would never move again. */
  async *#commit(steps: { work: Work; batch: Batch<Cursor> }[]): AsyncGenerator<Steps> {
    if (steps.length === 0) return;
    yield steps.map(({ work, batch }) => ({ pull: work.pull, batch }));
    const over = new Set<Work>();
    for (const { work, batch } of steps) {
      const lost = batch.cursor !== undefined && JSON.stringify(work.pull.cursor) !== JSON.stringify(batch.cursor);
      if (lost || batch.final) over.add(work);
      else if (batch.cursor) work.cursor = batch.cursor;
    }
    this.#works = this.#works.filter((work) => !over.has(work));
  }

  /** All pages of all tags, a page of each repository at a time. */
  async *list(): AsyncGenerator<Steps> {
    for (;;) {
      const listing = this.#works.filter(({ cursor: { stage } }) => stage === "list");
      const checking = this.#works.filter(({ cursor: { stage } }) => stage === "check");
      if (listing.length + checking.length === 0) return;
      const pages = listing.length > 0 ? await this.#readPages(listing) : new Map<Work, Page>();
      const steps: { work: Work; batch: Batch<Cursor> }[] = [];
      for (const [work, node] of pages) {
        const batch = await this.#stepOf(work, node);
        if (batch) steps.push({ work, batch });
      }
      for (const work of checking) steps.push({ work, batch: await checkListing(work) });
      yield* this.#commit(steps);
    }
  }

  async #stepOf(work: Work, node: Page): Promise<Batch<Cursor> | null> {
    const { resource_id } = work.pull.resource;
    if (node === "gone")
      return {
        write: (tx) => markAllDeleted(tx, resource_id),
        final: gone(
          `${work.host} has no repository ${work.row?.name ?? work.id} any more, or our token may not see it`,
        ),
      };
    if (node === "unseen") return { final: later(SEEN_MS, unseen(work.row?.name ?? work.id, work.host, work.viewer)) };
    if (node === "again") return { cursor: { ...start, again: work.cursor.again + 1 } };
    if (!node.isDisabled) return takePage(work, node);
    // What it shows while it is disabled says nothing about its tags.
    const row = { ...rowOf(work, node), listing_no: periodNo(work.id, work.pull.now_ms(), this.#period_ms) };
    const put = !work.row || isOther(work.row, row) ? { put: [repositories.rows([row])] } : {};
    return { ...put, cursor: start, final: fresh() };
  }

  /** The next page of each. When the whole group takes too long, each is asked for alone: one may be to blame. */
  async #readPages(works: Work[]): Promise<Map<Work, Page>> {
    try {
      return await this.#askPages(works);
    } catch (thrown) {
      if (!isDown(thrown) || works.length === 1) throw thrown;
      const pages = new Map<Work, Page>();
      for (const work of works) {
        try {
          for (const [one, page] of await this.#askPages([work])) pages.set(one, page);
        } catch (error) {
          // When the first one fails, too, it is GitHub that is not well.
          if (!isDown(error) || pages.size === 0) throw error;
          this.#fail(work, error);
        }
      }
      return pages;
    }
  }

  async #askPages(works: Work[]): Promise<Map<Work, Page>> {
    const wanted = works.map(({ id, cursor }) => ({ id, after: cursor.after }));
    const { data, faults, viewer } = await askGitHub(works[0]!.pull, this.#host, tagPages(wanted));
    const at = (i: number) => faults.filter(({ path }) => path?.[0] === `n${i}`);
    const elsewhere = faults.filter(({ path }) => !/^n\d+$/.test(String(path?.[0])));
    if (elsewhere.length > 0 || data.length !== works.length) throw gitHubError(this.#host.host, elsewhere);
    const pages = new Map<Work, Page>();
    works.forEach((work, i) => {
      const node = data[i] ?? null;
      work.viewer = viewer;
      if (node?.refs && at(i).length === 0) pages.set(work, node);
      else if (node === null && at(i).length > 0 && at(i).every(isNotFound))
        pages.set(work, isBelieved(work.row, viewer, work.pull.now_ms(), this.#period_ms) ? "gone" : "unseen");
      else if (at(i).some(isBadCursor)) pages.set(work, "again");
      else this.#fail(work, gitHubError(this.#host.host, at(i)));
    });
    return pages;
  }

  #fail(work: Work, error: TidemarkError): void {
    this.#troubles.set(work, error);
    this.#works = this.#works.filter((one) => one !== work);
  }

  /** Reads the go.mod files that are needed and not yet known, until the versions are. */
  async *readFiles(): AsyncGenerator<Steps> {
    const facts = new Map<Work, Facts>();
    for (const work of this.#works) facts.set(work, await Facts.read(work));
    for (let round = 0; round < ROUNDS_MOST; round += 1) {
      const wanted = this.#works.flatMap((work) =>
        facts.get(work)!.needs.map((place) => ({ work, ...place, id: work.id })),
      );
      if (wanted.length === 0) break;
      const size = Math.min(...this.#works.map(({ cursor }) => cursor.files));
      for (let i = 0; i < wanted.length; i += size) {
        const part = wanted.slice(i, i + size);
        const texts = yield* this.#askFiles(part, size);
        yield* this.#commit(rowsOf(part, texts, facts));
      }
      for (const one of facts.values()) one.work_out();
    }
    for (const work of this.#works) this.#found.set(work, facts.get(work)!);
  }

  /** When so many at once took too long, the next try asks for fewer. */
  async *#askFiles(part: (WantedFile & { work: Work })[], size: number): AsyncGenerator<Steps, (string | null)[]> {
    try {
      const { data, faults } = await askGitHub(part[0]!.work.pull, this.#host, gomodFiles(part));
      if (faults.length > 0) throw gitHubError(this.#host.host, faults);
      return data;
    } catch (thrown) {
      const files = Math.max(FILES_LEAST, Math.ceil(size / 2));
      if (isDown(thrown) && files < size)
        yield* this.#commit(this.#works.map((work) => ({ work, batch: { cursor: { ...work.cursor, files } } })));
      throw thrown;
    }
  }

  async *publishAll(): AsyncGenerator<Steps> {
    let going = this.#works.map((work) => ({ work, batches: publish(work, this.#found.get(work)!, this.#period_ms) }));
    while (going.length > 0) {
      const next = await Promise.all(going.map(async (one) => ({ ...one, step: await one.batches.next() })));
      yield* this.#commit(next.flatMap(({ work, step }) => (step.done ? [] : [{ work, batch: step.value }])));
      going = next.filter(({ work, step }) => !step.done && this.#works.includes(work));
    }
  }

  /** What could not be answered fails now, when nobody else is left to fail with it. */
  complain(): void {
    for (const error of this.#troubles.values()) throw error;
  }
}

/** What is known of a repository's tags and go.mod files, and what follows. */
class Facts implements Found {
  readonly #root: string;
  readonly #without_gomod: boolean;
  readonly #gomods = new Map<string, { module_path: string } | null>();
  readonly commits = new Map<string, string | null>();
  versions: Found["versions"] = [];
  needs: { commit_oid: string; dir: string }[] = [];

  private constructor({ row }: Work) {
    this.#root = row!.root;
    this.#without_gomod = row!.has_go;
  }

  static async read(work: Work): Promise<Facts> {
    const facts = new Facts(work);
    const { read, resource } = work.pull;
    for (const { name, commit_oid } of await readAllTags(read, resource.resource_id))
      facts.commits.set(name, commit_oid);
    for (const { commit_oid, dir, module_path } of await readGomods(read, resource.resource_id))
      facts.know(commit_oid, dir, module_path);
    facts.work_out();
    return facts;
  }

  know(commit_oid: string, dir: string, module_path: string | null): void {
    this.#gomods.set(`${commit_oid}:${dir}`, module_path === null ? null : { module_path });
  }

  work_out(): void {
    const tags = [...this.commits].flatMap(([name, commit_oid]) => (commit_oid === null ? [] : [{ name, commit_oid }]));
    const gomodAt: GomodAt = (commit_oid, dir) => this.#gomods.get(`${commit_oid}:${dir}`);
    const { needs, versions } = versionsOf(tags, gomodAt, this.#root, { without_gomod: this.#without_gomod });
    this.needs = needs;
    this.versions = versions;
  }
}

/** What was read, as rows by repository. */
function rowsOf(part: (WantedFile & { work: Work })[], texts: (string | null)[], facts: Map<Work, Facts>) {
  const rows = new Map<Work, Record<string, unknown>[]>();
  part.forEach(({ work, commit_oid, dir }, i) => {
    const text = texts[i] ?? null;
    const module_path = text === null ? null : declaredPath(text);
    facts.get(work)!.know(commit_oid, dir, module_path);
    const { resource_id } = work.pull.resource;
    rows.set(work, [...(rows.get(work) ?? []), { resource_id, commit_oid, dir, module_path }]);
  });
  return [...rows].map(([work, list]) => ({ work, batch: { put: [gomods.rows(list)] } satisfies Batch<Cursor> }));
}
