/** Who changed a repository, how much and how lately, from the commits of its last year. */
import type { ObjectStore } from "./git.ts";
import type { Activity } from "./report.ts";

export const WITHIN_DAYS = 365;
const TOP_MOST = 10;
const LOG_BYTES_MAX = 64 * 1024 * 1024;
/** A day beyond the last moment that is counted would be another one. */
const DAY_S = 86_400;

/** When a commit was made, in seconds. */
export async function commitTime(objects: ObjectStore, commit: string): Promise<number> {
  const text = await objects.text(["log", "-1", "--format=%ct", commit], 1_000);
  return Number(text.toString("latin1").trim());
}

/** The commits since `WITHIN_DAYS` before the newest one, as far as the objects have them. */
export async function readActivity(objects: ObjectStore, commit: string): Promise<Activity> {
  // Names are what people wrote: every separator is a byte that git does not let into one.
  const log = await objects.text(["log", "--format=%ct%x00%an%x00%ae%x00", commit], LOG_BYTES_MAX);
  const fields = log.toString("utf8").split("\0");
  const commits: { at_s: number; name: string; email: string }[] = [];
  for (let i = 0; i + 2 < fields.length; i += 3)
    commits.push({ at_s: Number(fields[i]!.trim()), name: fields[i + 1]!, email: fields[i + 2]!.toLowerCase() });
  const last_s = commits[0]?.at_s ?? 0;
  const counted = commits.filter(({ at_s }) => at_s > last_s - WITHIN_DAYS * DAY_S && at_s <= last_s + DAY_S);
  const people = new Map<string, { name: string; commits: number }>();
  const months = new Map<string, number>();
  for (const { at_s, name, email } of counted) {
    const person = people.get(email) ?? { name: name.slice(0, 100), commits: 0 };
    person.commits += 1;
    people.set(email, person);
    const month = new Date(at_s * 1000).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + 1);
  }
  const by_commits = [...people.values()].sort((a, b) => b.commits - a.commits || (a.name < b.name ? -1 : 1));
  return {
    last_commit_at: new Date(last_s * 1000).toISOString(),
    within_days: WITHIN_DAYS,
    commits: counted.length,
    contributors: people.size,
    top: by_commits.slice(0, TOP_MOST),
    months: [...months].sort(([a], [b]) => (a < b ? 1 : -1)).map(([month, n]) => ({ month, commits: n })),
  };
}
