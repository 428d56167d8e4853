/** What an event means for a version, purely: which of two is newer, whose leaf is worth reading, and the row that comes of it. */
import type { Row } from "tidemark";
import { detailsOf, isListed, type Leaf, needsSemVer2, packageTypes } from "./leaf.ts";
import { fullVersion, isPrerelease, isSemVer2, normalised, parseVersion, sortKey } from "./version.ts";

/** What happened to a version. */
export interface Event {
  leaf: string;
  stamp: string;
  ticks: bigint;
  id: string;
  version: string;
  version_key: string;
  deletes?: boolean | undefined;
  /** It is to be read once more, although it was before. */
  again?: boolean | undefined;
}

export interface KnownVersion {
  version_key: string;
  sort_key: string;
  ticks: bigint;
  stamp: string;
  leaf: string;
  id: string;
  version: string;
  deleted: boolean;
  listed: boolean;
  prerelease: boolean;
  read: boolean;
}

/** Later, or in the same commit the one whose address is greater: any rule will do, if it is the same for everybody. */
export function isNewer(event: Event, before: Pick<KnownVersion, "ticks" | "leaf">): boolean {
  if (event.ticks !== before.ticks) return event.ticks > before.ticks;
  return event.leaf > before.leaf || (event.again === true && event.leaf === before.leaf);
}

/** Of each version the newest event, where it is newer than what is known of it. The order in which events come does not matter. */
export function winnersOf(
  events: Event[],
  known: ReadonlyMap<string, Pick<KnownVersion, "ticks" | "leaf">>,
): Map<string, Event> {
  const winners = new Map<string, Event>();
  for (const event of events) {
    const before = winners.get(event.version_key) ?? known.get(event.version_key);
    if (before === undefined || isNewer(event, before)) winners.set(event.version_key, event);
  }
  return winners;
}

/** A version that NuGet would not take sorts before all that it takes. */
const sortKeyOf = (text: string): string => {
  const version = parseVersion(text);
  return version ? sortKey(version) : `!${text.toLowerCase()}`;
};

const isRelease = (text: string): boolean => {
  const version = parseVersion(text);
  return version !== null && !isPrerelease(version);
};

/** The events whose leaves are read, and known versions whose leaves have become worth reading. */
export function wanted(
  winners: Event[],
  known: Map<string, KnownVersion>,
  leaves: "all" | "newest" | "none",
): { read: Event[]; again: Event[] } {
  const living = winners.filter((event) => !event.deletes);
  if (leaves === "all") return { read: living, again: [] };
  if (leaves === "none") return { read: [], again: [] };
  const replaced = new Set(winners.map((event) => event.version_key));
  const others = [...known.values()].filter((row) => !row.deleted && !replaced.has(row.version_key));
  const all = [
    ...living.map((event) => ({ sort: sortKeyOf(event.version), release: isRelease(event.version), event, row: null })),
    ...others.map((row) => ({ sort: row.sort_key, release: !row.prerelease, event: null, row })),
  ].sort((a, b) => (a.sort < b.sort ? 1 : -1));
  const tops = new Set([all[0], all.find(({ release }) => release)].filter((top) => top !== undefined));
  const read: Event[] = [];
  const again: Event[] = [];
  for (const { event, row } of tops) {
    if (event) read.push(event);
    else if (row && !row.read) again.push({ ...row, again: true });
  }
  return { read, again };
}

/** The version as it is after the event. Without its leaf, only what the page says is known; then it counts as listed. */
export function rowOf(
  of: { feed_id: bigint; lower_id: string; resource_id: bigint },
  event: Event,
  leaf: Leaf | null,
): Row {
  const said = leaf?.verbatimVersion || leaf?.version || event.version;
  const version = parseVersion(event.version);
  const full = parseVersion(said) ?? version;
  return {
    ...of,
    version_key: event.version_key,
    sort_key: sortKeyOf(event.version),
    ticks: event.ticks,
    stamp: event.stamp,
    leaf: event.leaf,
    id: event.id,
    version: version ? normalised(version) : event.version,
    full_version: full ? fullVersion(full) : event.version,
    deleted: event.deletes === true,
    listed: event.deletes !== true && (leaf === null || isListed(leaf)),
    prerelease: version !== null && isPrerelease(version),
    semver2: leaf ? needsSemVer2(leaf, event.version) : version !== null && isSemVer2(version),
    read: leaf !== null,
    published: leaf?.published || null,
    package_types: leaf ? packageTypes(leaf) : ["Dependency"],
    details: leaf ? detailsOf(leaf) : {},
  };
}
