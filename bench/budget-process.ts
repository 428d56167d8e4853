/** One process of the budget benchmark: it takes, refreshes, floods or searches until it is told to stop, and says how it went. */
import { z } from "zod";
import { Grants } from "../src/engine/grant.ts";
import { budgetRow } from "../src/engine/share.ts";
import { Events, every, fresh, kind, openStore, realClock, type Source, type Upstream, Worker } from "../src/index.ts";

export type Work = "takes" | "refresh" | "refresh with budget" | "flood" | "search";

export interface Told {
  done: number;
  cpu_ms: number;
  waits_ms: number[];
}

const [url, work] = process.argv.slice(2) as [string, Work];
const db = await openStore({ database_url: url, data: "" });
const told: Told = { done: 0, cpu_ms: 0, waits_ms: [] };
const grants = new Grants({ db, clock: realClock, probe: async () => false, leave: async () => undefined });
const stop = new AbortController();

/** So much that nobody ever waits: what is measured is what the budget costs, not what it holds back. */
const plenty: Upstream = { name: "plenty", budget: { shape: "pace", per_second: 10_000_000, burst: 10_000_000 } };
const scarce: Upstream = {
  name: "scarce",
  budget: { shape: "pace", per_second: 200, burst: 250 },
  shares: { init: 0.5, search: 0.3 },
};

function wishOf(upstream: Upstream, share: string) {
  return { upstream: upstream.name, share, budgets: [budgetRow(upstream, "", upstream.budget!, null)], costs: [1] };
}

async function take(wish: ReturnType<typeof wishOf>): Promise<void> {
  const begun_ms = realClock.elapsed_ms();
  for (;;) {
    try {
      await grants.take(wish, stop.signal);
      told.done += 1;
      if (work === "search") told.waits_ms.push(realClock.elapsed_ms() - begun_ms);
      return;
    } catch (thrown) {
      const { wait_ms } = thrown as { wait_ms?: number };
      if (wait_ms === undefined || stop.signal.aborted) return;
      await realClock.sleep(wait_ms, stop.signal);
    }
  }
}

async function loop(upstream: Upstream, share: string, pause_ms: number): Promise<void> {
  const wish = wishOf(upstream, share);
  for (let n = 1; !stop.signal.aborted; n += 1) {
    await take(wish);
    if (pause_ms > 0) await realClock.sleep(pause_ms, stop.signal);
    else if (n % 1_000 === 0) await realClock.sleep(0);
  }
}

function refresher(budget: boolean): Worker {
  const wish = wishOf(plenty, "");
  const source: Source = {
    name: "bench",
    follow: (text) => ({ kind: "item", key: text }),
    kinds: {
      item: kind<Record<string, never>>({
        upstream: { name: "nowhere" },
        schedule: every("1d"),
        cursor: z.object({}).default({}),
        // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
        async *pull(pull) {
          if (budget) await grants.take(wish, pull.signal);
          return fresh();
        },
      }),
    },
  };
  const events = new Events();
  events.on("pull_ended", ({ outcome }) => {
    if (outcome === "fresh") told.done += 1;
  });
  const settings = { slots: 500, lease_ttl_ms: 30_000, grace_ms: 10_000, slice_ms: 600_000, pull_timeout_ms: 600_000 };
  const more = { park_after: 8, cool_off_ms: 86_400_000, messages_max: 1_000_000 };
  const name = `bench-${process.pid}`;
  return new Worker({
    db,
    clock: realClock,
    events,
    sources: [source],
    settings: { ...settings, ...more },
    name,
    user_agent: "bench",
  });
}

const starts: Record<Work, () => Promise<void>[]> = {
  takes: () => Array.from({ length: 50 }, () => loop(plenty, "", 0)),
  refresh: () => [worker(false)],
  "refresh with budget": () => [worker(true)],
  flood: () => Array.from({ length: 100 }, () => loop(scarce, "init", 0)),
  search: () => [loop(scarce, "search", 50)],
};

function worker(budget: boolean): Promise<void> {
  const one = refresher(budget);
  stop.signal.addEventListener("abort", () => void one.stop(), { once: true });
  return one.run();
}

const running = starts[work]();
process.on("message", async (ask: "told" | "stop") => {
  const { user, system } = process.cpuUsage();
  if (ask === "told") return process.send?.({ ...told, cpu_ms: (user + system) / 1000 });
  stop.abort();
  await Promise.all(running);
  await grants.close();
  await db.close();
  process.disconnect();
});
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
