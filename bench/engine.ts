/** The engine against its peers: recurring refreshes, ordered messages, claims among many, the embedded database, memory. */
import { claims } from "./engine-claims.ts";
import { embedded } from "./engine-embedded.ts";
import { noOrdered, ordered } from "./engine-ordered.ts";
import { refresh } from "./engine-refresh.ts";
import { full, quick } from "./engine-scale.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";

export async function run(options: Options): Promise<object> {
  const scale = options.quick ? quick : full;
  const begun_ms = performance.now();
  const inTime = (part: string, ms: number) => {
    const enough = performance.now() - begun_ms + ms <= scale.whole_ms;
    if (!enough) process.stdout.write(`\nLeft out for lack of time: ${part}.\n`);
    return enough;
  };
  process.stdout.write(`engine, ${options.quick ? "quick" : "full"}: ${JSON.stringify(scale)}\n`);
  const server = await Server.start();
  options.atEnd(() => server.remove());
  const { ratios, rss_most_bytes } = await refresh(server, scale);
  const mail = inTime("messages", 12_000) ? await ordered(server, scale) : noOrdered;
  const claim_p99_10m_vs_1m = inTime("claims", 7_000) ? await claims(server, scale) : null;
  if (inTime("the embedded database", 7_000)) await embedded(server, scale, options.atEnd);
  process.stdout.write(`\nA worker's memory was at most ${Math.round(rss_most_bytes / 1e6)} MB.\n`);
  const all = Object.entries({ ...ratios, ...mail, claim_p99_10m_vs_1m });
  return {
    bench: "engine",
    scale: options.quick ? "quick" : "full",
    resources: scale.resources,
    ratios: Object.fromEntries(all.map(([name, value]) => [name, value === null ? null : Number(value.toFixed(3))])),
    rss_most_mb: Math.round(rss_most_bytes / 1e6),
  };
}
