/** How much a team gets done in a while, and what it costs: CPU in its processes and in the database, WAL, memory. */
import { realClock } from "../src/index.ts";
import type { Work } from "./contestant.ts";
import type { Server } from "./server.ts";
import type { Team } from "./team.ts";

export interface Figures {
  done: number;
  per_second: number;
  /** For each one done. */
  worker_cpu_us: number;
  database_cpu_us: number;
  wal_bytes: number;
  rss_most_bytes: number;
  out_of_order: number;
  claims_ms: number[];
}

export interface Stretch {
  work: Work;
  /** Left out at the beginning, while everything warms up. */
  warm_ms: number;
  most_ms: number;
  /** How much there is to do; it ends there, too. */
  total: number;
}

const POLL_MS = 10;

interface Reading {
  at_ms: number;
  done: number;
  worker_ms: number;
  database_ms: number;
  wal: number;
}

/** Starts the team and measures it until the time is over or the work is done. The team goes on working until told to stop. */
export async function measure(server: Server, team: Team, stretch: Stretch): Promise<Figures> {
  const { warm_ms, most_ms, total } = stretch;
  const idle = await read(server, team);
  await team.start(stretch.work);
  const started_ms = performance.now();
  const claims_ms: number[] = [];
  const until = async (enough: (done: number) => boolean, ms: number) => {
    const end_ms = performance.now() + ms;
    while (performance.now() < end_ms) {
      const progress = await team.progress();
      claims_ms.push(...progress.claims_ms);
      if (enough(progress.done)) break;
      await realClock.sleep(POLL_MS);
    }
  };
  // What takes long enough is measured from the moment it runs warm, the rest from its beginning.
  if (warm_ms > 0) await until((done) => done > 0, most_ms);
  await realClock.sleep(warm_ms);
  const before = warm_ms > 0 ? await read(server, team) : { ...idle, at_ms: started_ms };
  claims_ms.length = 0;
  await until((done) => done >= total, most_ms);
  const after = await read(server, team);
  const { rss_most_bytes, out_of_order } = await team.progress();
  return { ...costs(before, after), rss_most_bytes, out_of_order, claims_ms };
}

/** Measures one piece of work from its beginning to its end. */
export async function measureWhole(server: Server, team: Team, count: number, work: () => Promise<void>) {
  const before = await read(server, team);
  await work();
  const after = await read(server, team);
  return costs(before, { ...after, done: before.done + count });
}

async function read(server: Server, team: Team): Promise<Reading> {
  const [database_ms, wal] = await Promise.all([server.cpu_ms(), server.wal_bytes()]);
  const { done, cpu_ms } = await team.progress();
  return { at_ms: performance.now(), done, worker_ms: cpu_ms, database_ms, wal };
}

function costs(before: Reading, after: Reading) {
  const done = after.done - before.done;
  const each = (total: number) => (done > 0 ? total / done : Number.NaN);
  return {
    done,
    per_second: (done / (after.at_ms - before.at_ms)) * 1000,
    worker_cpu_us: each((after.worker_ms - before.worker_ms) * 1000),
    database_cpu_us: each((after.database_ms - before.database_ms) * 1000),
    wal_bytes: each(after.wal - before.wal),
  };
}

export function median(values: number[]): number | null {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function percentile(values: number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}
