/** From an empty mirror to all of a catalog: ours, and a queue with one job for each leaf. */
import { realClock } from "../src/index.ts";
import { ticksOf } from "../src/sources/nuget/stamp.ts";
import { median } from "./measure.ts";
import type { FeedProcess } from "./nuget-feed.ts";
import type { Server } from "./server.ts";
import { type Cell, table } from "./table.ts";
import { Team } from "./team.ts";

const POLL_MS = 100;

/** Ours, the queue, and the queue after the pre-pass that ours makes, too. */
export type Way = "ours" | "queue" | "queue, latest only";

export interface Run {
  way: Way;
  processes: number;
  leaves_per_s: number;
  /** Events of the catalog that were dealt with, of all. */
  part: number;
  requests_per_leaf: number;
  worker_cpu_us: number;
  database_cpu_us: number;
  /** Versions in the mirror that are not deleted: the same whoever made it. */
  living: number;
}

export interface RaceScale {
  processes: number[];
  rounds: number;
  most_ms: number;
}

function teamOf(way: Way, processes: number, url: string, feed: FeedProcess): Team {
  const flags = ["--import", import.meta.resolve("tsx")];
  if (way === "ours") return new Team({ name: "nuget-tidemark", url, processes, flags, more: [feed.url, "10s"] });
  const more = way === "queue" ? [feed.url] : [feed.url, "prepass"];
  return new Team({ name: "nuget-graphile", url, processes, flags, more });
}

/** How much of the catalog is dealt with, from 0 to 1. */
async function partOf(way: Way, server: Server, team: Team, { held }: FeedProcess): Promise<number> {
  if (way !== "ours") return (await team.progress()).done / (way === "queue" ? held.leaves : held.versions);
  const [row] = await server.run<{ position: string | null; versions: number }>(
    `select (select max(position)::text from tidemark.tidemark) as position, count(*)::int as versions from nuget.version`,
    "round",
  );
  return BigInt(row?.position ?? 0) >= ticksOf(held.last)! ? 1 : Math.min(0.999, row!.versions / held.versions);
}

/** `after` is called while the team still works. */
export async function race(
  server: Server,
  feed: FeedProcess,
  { way, processes, most_ms }: { way: Way; processes: number; most_ms: number },
  after: () => Promise<void> = async () => {},
): Promise<Run> {
  const team = teamOf(way, processes, await server.create("round"), feed);
  await team.prepare({ items: 0, boxes: 0 });
  await feed.requests();
  const before = { worker_ms: (await team.progress()).cpu_ms, database_ms: await server.cpu_ms() };
  const begun_ms = performance.now();
  await team.start("ordered");
  let part = 0;
  while (part < 1 && performance.now() - begun_ms < most_ms) {
    await realClock.sleep(POLL_MS);
    part = await partOf(way, server, team, feed);
  }
  const took_s = (performance.now() - begun_ms) / 1000;
  const dealt = part * feed.held.leaves;
  const requests = await feed.requests();
  const worker_ms = (await team.progress()).cpu_ms - before.worker_ms;
  const database_ms = (await server.cpu_ms()) - before.database_ms;
  const [row] = await server.run<{ n: number }>(
    "select count(*)::int as n from nuget.version where not deleted",
    "round",
  );
  await after();
  await team.stop();
  await team.end();
  return {
    way,
    processes,
    leaves_per_s: dealt / took_s,
    part,
    requests_per_leaf: requests / dealt,
    worker_cpu_us: (worker_ms * 1000) / dealt,
    database_cpu_us: (database_ms * 1000) / dealt,
    living: row!.n,
  };
}

/** Runs take turns; `after` is told when ours has just read everything with all its processes. */
export async function races(
  server: Server,
  feed: FeedProcess,
  { processes, rounds, most_ms }: RaceScale,
  after: () => Promise<void>,
): Promise<Run[]> {
  const runs: Run[] = [];
  const ways: Way[] = ["queue", "queue, latest only", "ours"];
  for (let n = 0; n < rounds; n += 1)
    for (const count of processes)
      for (const way of ways) {
        const last = way === "ours" && n === rounds - 1 && count === processes.at(-1);
        runs.push(await race(server, feed, { way, processes: count, most_ms }, last ? after : undefined));
      }
  return runs;
}

export function tellRaces(runs: Run[], { leaves, versions }: FeedProcess["held"]): string {
  const rows = runs.map((run): Cell[] => [
    `${run.way}, ${run.processes} worker${run.processes > 1 ? "s" : ""}`,
    run.leaves_per_s,
    run.part * 100,
    run.requests_per_leaf,
    run.worker_cpu_us,
    run.database_cpu_us,
    run.living,
  ]);
  const title = `${leaves.toLocaleString("en")} leaves of ${versions.toLocaleString("en")} versions, from nothing to all of them`;
  const heads = ["", "leaves/s", "% done", "requests/leaf", "worker CPU µs", "database CPU µs", "living versions"];
  return table(title, heads, rows);
}

/** Ours ÷ the other way, round by round, with the largest number of workers. */
export function ratio(runs: Run[], way: Way): number | null {
  const most = Math.max(...runs.map((run) => run.processes));
  const of = (name: Way) => runs.filter((run) => run.way === name && run.processes === most);
  return median(of("ours").map((ours, n) => ours.leaves_per_s / (of(way)[n]?.leaves_per_s ?? Number.NaN)));
}
