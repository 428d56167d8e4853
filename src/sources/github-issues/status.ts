/** How repositories are doing, in the words of whoever waits for them: queued, in progress, done; searchable or not, and why. */
import { type Kind, type Queryable, type ResourceStatus, readResource } from "tidemark";
import type { SourceParts } from "./parts.ts";
import { repositoryKind } from "./repository.ts";
import { readFreshAt } from "./result-rows.ts";
import { HOW_TO_SWITCH_ON, type Searcher } from "./search.ts";
import {
  type RepositoryCounts,
  readFailedTexts,
  readGenerationCounts,
  readLacking,
  readRepositoryCounts,
} from "./status-rows.ts";

const FAILED_SHOWN = 50;

export class StatusReader {
  readonly #read: Queryable;
  readonly #parts: SourceParts;
  readonly #searcher: Searcher;
  readonly #kind: Kind;

  constructor(read: Queryable, parts: SourceParts, searcher: Searcher) {
    this.#read = read;
    this.#parts = parts;
    this.#searcher = searcher;
    this.#kind = repositoryKind(parts);
  }

  async one(name: { host: string; name: string }) {
    const [row] = await readRepositoryCounts(this.#read, name, "", 1);
    if (!row) return null;
    const generation = await this.#searcher.generation();
    const [told] = await this.#told([row]);
    const failing = generation
      ? await readFailedTexts(this.#read, generation.generation, row.resource_id, FAILED_SHOWN)
      : [];
    return { ...told!, failing };
  }

  async list(after: string, limit: number) {
    const rows = await readRepositoryCounts(this.#read, null, after, limit + 1);
    const results = await this.#told(rows.slice(0, limit));
    return { results, next: rows.length > limit ? (results.at(-1)?.key ?? null) : null };
  }

  /** The whole of it: what embeds, how far, and how vectors are compared. */
  async all() {
    const provider = this.#parts.provider();
    const generations = await readGenerationCounts(this.#read);
    const in_use = (await this.#searcher.generation())?.generation ?? null;
    return {
      semantic: provider ? "on" : "off",
      why: provider ? null : HOW_TO_SWITCH_ON,
      model: provider?.model ?? null,
      where: provider?.where ?? null,
      compared_by: await this.#searcher.comparedBy(),
      generations: generations.map((one) => ({ ...one, in_use: one.generation === in_use })),
      fresh_at: await readFreshAt(this.#read, this.#searcher.visible),
    };
  }

  async #told(rows: RepositoryCounts[]) {
    const generation = await this.#searcher.generation();
    const ids = rows.map((row) => row.resource_id);
    const lacking = generation ? await readLacking(this.#read, generation.generation, ids) : [];
    const byId = new Map(lacking.map((one) => [one.resource_id, one]));
    return Promise.all(
      rows.map(async (row) => {
        const named = { source: "github-issues", kind: "repository", key: row.key };
        const status = (await readResource(this.#read, named, this.#kind))!;
        const { waiting = 0, failed = 0 } = byId.get(row.resource_id) ?? {};
        const embedded = generation && row.mirrored > 0 ? (row.mirrored - waiting) / row.mirrored : null;
        return {
          repository: row.name,
          host: row.host,
          key: row.key,
          url: `https://${row.host}/${row.name}`,
          ...stagesOf(row, status),
          issues: row.issues,
          mirrored: row.mirrored,
          issue_updated_at: row.issue_updated_at,
          embedded,
          embedded_failed: failed,
          ...searchable(row, this.#parts, embedded),
          is_private: row.is_private,
          is_archived: row.is_archived,
          fresh_at: status.fresh_at,
        };
      }),
    );
  }
}

/** What the engine knows, in the words of initialisation and sync. */
function stagesOf(
  row: RepositoryCounts,
  { status, next, line, progress_done, progress_total, fresh_at }: ResourceStatus,
) {
  const kept = status === "parked" || status === "paused" || status === "gone" ? status : null;
  const queued = kept ?? (status === "leased" ? "in progress" : "queued");
  const done = row.initialised_at !== null;
  return {
    init_status: done ? "done" : queued,
    initialised_at: row.initialised_at,
    sync_status: !done
      ? "not yet"
      : (kept ?? (status === "leased" ? "in progress" : status === "due" ? "queued" : "done")),
    synced_at: done ? fresh_at : null,
    swept_at: row.swept_at,
    progress: done ? null : { done: Number(progress_done ?? 0), total: Number(progress_total ?? 0) },
    place: line.place,
    eta_ms: done ? null : line.eta_ms,
    next_at: next.due_at,
    next_why: next.why,
  };
}

function searchable(row: RepositoryCounts, parts: SourceParts, embedded: number | null) {
  const no = (searchable_why: string) => ({ searchable: false, searchable_why });
  if (row.is_hidden) return no("GitHub does not show it to us any more.");
  if (row.is_private && !parts.settings().private)
    return no("It is private: TIDEMARK_GITHUB_ISSUES_PRIVATE=true mirrors and shows private repositories.");
  if (!row.has_issues) return no("Its issues are switched off.");
  if (row.is_disabled) return no("GitHub has disabled it.");
  if (row.initialised_at === null) return no("Its past is still being read.");
  const how =
    parts.provider() === null
      ? `By words. ${HOW_TO_SWITCH_ON}`
      : embedded === null
        ? "By words; by meaning as soon as its issues have vectors."
        : `By words, and by meaning for ${(Math.floor(embedded * 1000) / 10).toFixed(1)} % of its issues.`;
  return { searchable: true, searchable_why: how };
}
