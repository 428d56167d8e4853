/** One page of a catalog against what was known of it, purely: which items are new, what is odd, how far the catalog is read. */
import { createHash } from "node:crypto";
import { type CatalogPage, type Item, inOrder, readItem } from "./catalog-documents.ts";
import { keyOf } from "./leaf.ts";
import { ticksOf } from "./stamp.ts";

/** What the database remembers of a page. */
export interface KnownPage {
  url: string;
  index_stamp: string;
  index_count: number;
  stamp: string;
  items: number;
  seen: Uint8Array | null;
  stale: number;
}

export interface Reading {
  /** The items that were not there before, oldest first, one for each version. */
  items: Item[];
  /** The stamps of the commits that they belong to, oldest first. */
  commits: { ticks: bigint; stamp: string }[];
  anomalies: Map<string, string>;
  seen: Uint8Array;
  /** The newest commit on the page, and the one before it. */
  newest: bigint;
}

const HASH_BYTES = 8;
const ZERO = "00000000-0000-0000-0000-000000000000";

const hashOf = (leaf: string): Buffer => createHash("sha1").update(leaf).digest().subarray(0, HASH_BYTES);

/** `internal` is how far the catalog was read before this page; what is not after `replayed` is read once more on purpose. */
export function readPage(
  page: CatalogPage,
  url: string,
  known: KnownPage | null,
  internal: bigint,
  replayed = 0n,
): Reading {
  const anomalies = new Map<string, string>();
  const odd = (what: string, example: string) => {
    if (!anomalies.has(what)) anomalies.set(what, example);
  };
  if (page.count !== page.items.length) odd("a page with another count than items", url);
  if (page.commitId === ZERO) odd("a commit without an id", url);
  const all: Item[] = [];
  for (const given of page.items) {
    const item = readItem(given, url);
    if (typeof item === "string") odd(item, JSON.stringify(given).slice(0, 300));
    else all.push(item);
  }
  const before = new Set(known?.seen ? chunks(known.seen) : []);
  const hashes = all.map((item) => hashOf(item.leaf));
  const added = all.filter((_, i) => !before.has(hashes[i]!.toString("latin1")));
  const newest = all.reduce((most, { ticks }) => (ticks > most ? ticks : most), ticksOf(page.commitTimeStamp)!);
  for (const item of added)
    if (item.ticks <= internal && item.ticks > replayed) {
      odd("a time that went back", `${item.leaf} ${item.stamp}`);
      break;
    }
  return {
    items: latestOnly(inOrder(added), odd),
    commits: commitsOf(added),
    anomalies,
    seen: Buffer.concat(hashes),
    newest,
  };
}

function* chunks(bytes: Uint8Array): Generator<string> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += HASH_BYTES) yield all.toString("latin1", at, at + HASH_BYTES);
}

/** Of several events of one version the last one counts; leaves are snapshots, and the earlier ones need not be read. */
function latestOnly(ordered: Item[], odd: (what: string, example: string) => void): Item[] {
  const last = new Map<string, Item>();
  for (const item of ordered) {
    const name = `${item.lower_id}/${keyOf(item.version)}`;
    const earlier = last.get(name);
    if (earlier?.ticks === item.ticks) odd("a version twice in one commit", item.leaf);
    last.delete(name);
    last.set(name, earlier ? { ...item, from: earlier.from } : item);
  }
  return [...last.values()];
}

function commitsOf(items: Item[]): Reading["commits"] {
  const stamps = new Map<bigint, string>();
  for (const { ticks, stamp } of items) stamps.set(ticks, stamp);
  return [...stamps].map(([ticks, stamp]) => ({ ticks, stamp })).sort((a, b) => (a.ticks < b.ticks ? -1 : 1));
}

/** The newest commit before the newest one of a page: the next page may hold more of that. */
export function closedBefore({ commits, newest }: Reading): { ticks: bigint; stamp: string } | null {
  return commits.findLast(({ ticks }) => ticks < newest) ?? null;
}
