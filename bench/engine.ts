/** The engine against its peers: recurring refreshes, ordered messages, claims among many, the embedded database, memory. */
import { claims } from "./engine-claims.ts";
import { embedded } from "./engine-embedded.ts";
import { noOrdered, ordered } from "./engine-ordered.ts";
import { refresh } from "./engine-refresh.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";

export interface Scale {
  /** A part that may not end in time is left out, and its figures are null. */
  whole_ms: number;
  resources: number;
  /** Jobs that the peers run in each round. */
  jobs: number;
  processes: number[];
  rounds: number;
  warm_ms: number;
  measured_ms: number;
  /** Ours is run beside each peer, and a peer under a held snapshot, too. */
  beside_each: boolean;
  peers_held: boolean;
  boxes: number;
  messages: number;
  hot_messages: number;
  ordered_rounds: number;
  ordered_ms: number;
  peers_ordered: boolean;
  few_resources: number;
  many_resources: number;
  claims_ms: number;
  embedded_resources: number;
  embedded_slots: number[];
  embedded_ms: number;
}

const full: Scale = {
  whole_ms: Number.POSITIVE_INFINITY,
  resources: 1_000_000,
  jobs: 1_000_000,
  processes: [1, 2],
  rounds: 3,
  warm_ms: 2_000,
  measured_ms: 20_000,
  beside_each: true,
  peers_held: true,
  boxes: 20_000,
  messages: 200_000,
  hot_messages: 20_000,
  ordered_rounds: 3,
  ordered_ms: 30_000,
  peers_ordered: true,
  few_resources: 1_000_000,
  many_resources: 10_000_000,
  claims_ms: 20_000,
  embedded_resources: 100_000,
  embedded_slots: [10, 100, 1_000],
  embedded_ms: 10_000,
};

const quick: Scale = {
  whole_ms: 48_000,
  resources: 100_000,
  jobs: 50_000,
  processes: [2],
  rounds: 1,
  warm_ms: 800,
  measured_ms: 1_000,
  beside_each: false,
  peers_held: false,
  boxes: 4_000,
  messages: 40_000,
  hot_messages: 4_000,
  ordered_rounds: 1,
  ordered_ms: 2_000,
  peers_ordered: false,
  few_resources: 10_000,
  many_resources: 100_000,
  claims_ms: 1_000,
  embedded_resources: 10_000,
  embedded_slots: [1_000],
  embedded_ms: 1_000,
};

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
