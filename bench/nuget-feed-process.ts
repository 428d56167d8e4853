/** The pretend feed in a process of its own, told what to do by the one that measures. */
import { serveNuGet } from "../src/demo/nuget/server.ts";
import { realClock } from "../src/index.ts";
import { fillSkewed, idOf } from "./nuget-skew.ts";

/** `publish` commits so many packages a second until told otherwise; `count` asks how much was asked for since it was asked last. */
export type FeedOrder = { verb: "publish"; per_second: number } | { verb: "count" };

export interface FeedSays {
  url?: string;
  leaves?: number;
  versions?: number;
  /** The catalog's last commit. */
  last?: string;
  requests?: number;
  /** The timestamp of a commit that was just made. */
  committed?: string;
}

const COMMIT_MS = 200;
const [packages = "1", leaves = "1"] = process.argv.slice(2);
const feed = fillSkewed(Number(packages), Number(leaves));
const served = await serveNuGet(feed);
const say = (said: FeedSays) => process.send?.(said);
let per_second = 0;
let published = 0;

process.on("message", (order: FeedOrder) => {
  if (order.verb === "publish") per_second = order.per_second;
  else say({ requests: feed.asked.splice(0).length });
});
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});

const items = feed.pages.flatMap((page) => page.items);
say({
  url: served.url,
  leaves: items.length,
  versions: new Set(items.map(({ id, version }) => `${id}/${version}`)).size,
  last: items.at(-1)!.stamp,
});

for (;;) {
  await realClock.sleep(COMMIT_MS);
  if (per_second === 0) continue;
  const events = Array.from({ length: Math.max(1, Math.round((per_second * COMMIT_MS) / 1000)) }, (_, n) => ({
    id: idOf(n),
    version: `2.${published}.0`,
  }));
  published += 1;
  say({ committed: feed.commit(events) });
}
