/** How far behind its feed the public cursor is while packages are published all the time, and what a look at a quiet feed costs. */
import { realClock } from "../src/index.ts";
import { ticksOf } from "../src/sources/nuget/stamp.ts";
import { percentile } from "./measure.ts";
import type { FeedProcess } from "./nuget-feed.ts";
import type { Server } from "./server.ts";

const POLL_MS = 50;
/** As often as ours looks here. */
export const EVERY_MS = 10_000;

export interface Lag {
  p50_s: number | null;
  p95_s: number | null;
  commits: number;
  requests_per_poll: number | null;
}

export interface LagScale {
  per_second: number;
  published_ms: number;
  /** How many looks at a quiet feed are counted. */
  polls: number;
}

export async function lag(server: Server, feed: FeedProcess, scale: LagScale): Promise<Lag> {
  const client = await server.connect("round");
  const position = async () =>
    BigInt((await client.query("select max(position)::text as p from tidemark.tidemark")).rows[0].p);
  const waiting: { ticks: bigint; at_ms: number }[] = [];
  const took_ms: number[] = [];
  feed.publish(scale.per_second, (stamp) => waiting.push({ ticks: ticksOf(stamp)!, at_ms: performance.now() }));
  const until_ms = performance.now() + scale.published_ms;
  let stopped = false;
  while (!stopped || waiting.length > 0) {
    if (!stopped && performance.now() > until_ms) {
      feed.publish(0, () => {});
      stopped = true;
    }
    const public_at = await position();
    const now_ms = performance.now();
    while (waiting[0] && waiting[0].ticks <= public_at) took_ms.push(now_ms - waiting.shift()!.at_ms);
    if (now_ms > until_ms + 3 * EVERY_MS) break;
    await realClock.sleep(POLL_MS);
  }
  await client.end();
  const seconds = (ms: number | null) => (ms === null ? null : ms / 1000);
  return {
    p50_s: seconds(percentile(took_ms, 0.5)),
    p95_s: seconds(percentile(took_ms, 0.95)),
    commits: took_ms.length,
    requests_per_poll: scale.polls === 0 ? null : await quiet(feed, scale.polls),
  };
}

async function quiet(feed: FeedProcess, polls: number): Promise<number> {
  // The commit that was open is looked at once more first.
  await realClock.sleep(EVERY_MS * 1.5);
  await feed.requests();
  await realClock.sleep(EVERY_MS * polls);
  return (await feed.requests()) / polls;
}
