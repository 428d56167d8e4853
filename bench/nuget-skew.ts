/** A catalog of made-up packages whose events are spread as those of the real one are. */
import { type FeedEvent, NuGetFeed } from "../src/demo/nuget/feed.ts";

/**
 * Of the whole catalog of nuget.org (2015 to 2025): 16,715,401 events of 12,031,472 versions of 751,784 ids in 4.78 million commits;
 * the median id has 3 events, 1,559 have more than 1,000; 43,130 events are deletions.
 */
const MEDIAN = 3;
const EVENTS_PER_VERSION = 16_715_401 / 12_031_472;
const EVENTS_PER_COMMIT = 3.5;
const DELETED = 43_130 / 16_715_401;
/** A log-normal spread with that median and that many above 1,000, which has the real mean, too: 22. */
const SPREAD = 2.02;

/** About the size of a real leaf, 4 KB. */
const leaf = {
  authors: "Somebody, and somebody else",
  description:
    "Reads, writes and checks what others only read. Works on every framework that is still maintained, and on some that are not. ".repeat(
      4,
    ),
  tags: ["json", "serialization", "performance", "standard"],
  projectUrl: "https://packages.example/project",
  licenseExpression: "MIT",
  dependencyGroups: ["net8.0", "netstandard2.0"].map((targetFramework) => ({
    targetFramework,
    dependencies: Array.from({ length: 5 }, (_, n) => ({ id: `Some.Other.Package${n}`, range: `[${n}.0.0, )` })),
  })),
  packageEntries: Array.from({ length: 8 }, (_, n) => ({
    "@type": "PackageEntry",
    compressedLength: 1_234 + n,
    fullName: `lib/net8.0/Some.Assembly${n}.dll`,
    length: 5_678,
    name: `Some.Assembly${n}.dll`,
  })),
};

/** Numbers that look random and are the same each time, from 0 up to 1. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The inverse of the normal distribution, near enough: Abramowitz and Stegun, 26.2.23. */
function quantile(p: number): number {
  const t = Math.sqrt(-2 * Math.log(Math.min(p, 1 - p)));
  const z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return p < 0.5 ? -z : z;
}

/** How many events each package has: `leaves` in all. */
export function eventsOf(packages: number, leaves: number): number[] {
  const shape = Array.from({ length: packages }, (_, n) => MEDIAN * Math.exp(SPREAD * quantile((n + 0.5) / packages)));
  let [low, high] = [0, 10];
  const scaled = (by: number) => shape.map((n) => Math.max(1, Math.round(n * by)));
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (sum(scaled(middle)) > leaves) high = middle;
    else low = middle;
  }
  const counts = scaled(low);
  counts[packages - 1]! += leaves - sum(counts);
  return counts;
}

export const idOf = (n: number): string => `Company${n % 97}.Product${n % 1_013}.Part${n}`;

/** Commit by commit, as it would have grown: packages mixed, each with new versions and new events of old ones. */
export function fillSkewed(packages: number, leaves: number): NuGetFeed {
  const feed = new NuGetFeed();
  const next = numbers(1);
  const counts = eventsOf(packages, leaves);
  const order = counts.flatMap((count, n) => Array.from({ length: count }, () => n));
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  const versions = counts.map(() => 0);
  for (let at = 0; at < order.length; ) {
    const size = 1 + Math.floor(next() * 2 * (EVENTS_PER_COMMIT - 0.5));
    const events: FeedEvent[] = [];
    const part = order.slice(at, at + size);
    for (const [i, n] of part.entries()) {
      // No version twice in a commit: that is an anomaly, and not what is measured.
      const old = versions[n]! > 0 && part.indexOf(n) === i && next() > 1 / EVENTS_PER_VERSION;
      if (!old) versions[n]! += 1;
      const version = old ? 1 + Math.floor(next() * versions[n]!) : versions[n]!;
      const deletes = old && next() < DELETED * EVENTS_PER_VERSION;
      events.push({ id: idOf(n), version: `1.${version}.0`, ...(deletes ? { deletes } : { leaf }) });
    }
    feed.commit(events);
    at += size;
  }
  return feed;
}
