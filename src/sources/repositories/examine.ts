/** Fetches one commit and the year before it, and has it analysed; nothing of it is left behind. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { hasCode, type Pull, TidemarkError } from "tidemark";
import { commitTime, WITHIN_DAYS } from "./activity.ts";
import type { GitCalls } from "./calls.ts";
import { type ObjectStore, tooLarge, withObjects } from "./git.ts";
import { BLOB_BYTES_MAX, type Wanted } from "./git-protocol.ts";
import type { RepositoryParts } from "./parts.ts";
import type { Report } from "./report.ts";

const HISTORY_BYTES_MAX = 64 * 1024 * 1024;
const DAY_S = 86_400;

export interface Examined {
  report: Report;
  pack_bytes: number;
  /** Whether the commit that was analysed before is among what was fetched. */
  knows(oid: string): Promise<boolean>;
}

export interface Limits {
  pack_bytes_max: number;
  files_max: number;
}

/** `use` gets what was found while the objects are still there. */
export function examine<T>(
  calls: GitCalls,
  pull: Pull<unknown>,
  commit: string,
  limits: Limits,
  parts: RepositoryParts,
  use: (examined: Examined) => Promise<T>,
): Promise<T> {
  const { signal } = pull;
  const { aside } = parts;
  return withObjects(commit.length === 64 ? "sha256" : "sha1", signal, async (objects, folder) => {
    const files = path.join(folder, "files");
    await take(
      calls,
      objects,
      { oid: commit, depth: 1, filter: `blob:limit=${BLOB_BYTES_MAX + 1}` },
      files,
      limits.pack_bytes_max,
      aside,
    );
    const { size } = await stat(files);
    await takeHistory(calls, objects, commit, path.join(folder, "history"), aside);
    const job = { folder: objects.folder, commit, files_max: limits.files_max };
    const report = await aside(() => parts.analyse(job, signal));
    const knows = async (oid: string) => {
      try {
        await aside(() => objects.text(["cat-file", "-e", `${oid}^{commit}`], 1_000));
        return true;
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        return false;
      }
    };
    return use({ report, pack_bytes: size, knows });
  });
}

/** Where a server knows no filters, once more without: the limits stay the same. */
async function take(
  calls: GitCalls,
  objects: ObjectStore,
  wanted: Wanted,
  file: string,
  bytes_max: number,
  aside: RepositoryParts["aside"],
): Promise<void> {
  try {
    await calls.save(wanted, file, bytes_max);
    await aside(() => objects.take(file, bytes_max));
  } catch (thrown) {
    if (!hasCode(thrown, "UpstreamChanged")) throw thrown;
    if (/ more than \d+ bytes/.test(thrown.message))
      throw tooLarge(`takes more than ${Math.round(bytes_max / 1024 / 1024)} MB to fetch`);
    if (thrown.details.why !== "refused" || wanted.filter === undefined) throw thrown;
    const { filter: _, ...plain } = wanted;
    await take(calls, objects, plain, `${file}-whole`, bytes_max, aside);
  }
}

/** The commits of the year before the newest one, without their files. Where that is too much, the newest alone is known. */
async function takeHistory(
  calls: GitCalls,
  objects: ObjectStore,
  commit: string,
  file: string,
  aside: RepositoryParts["aside"],
): Promise<void> {
  const since_s = Math.max(0, (await aside(() => commitTime(objects, commit))) - WITHIN_DAYS * DAY_S);
  try {
    await take(calls, objects, { oid: commit, filter: "tree:0", since_s }, file, HISTORY_BYTES_MAX, aside);
  } catch (thrown) {
    if (!(thrown instanceof TidemarkError) || thrown.details.why !== "too large") throw thrown;
  }
}
