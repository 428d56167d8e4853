/** Recurring refreshes a second: ours against peers that have to put a job into a queue and run it, each time. */
import type { Followed } from "./contestant.ts";
import type { Scale } from "./engine-scale.ts";
import { type Figures, measure, measureWhole, median } from "./measure.ts";
import type { Server } from "./server.ts";
import { type Cell, table } from "./table.ts";
import { type Name, Team } from "./team.ts";

/** A database with everything followed and due, made once and copied for each round. */
export const FOLLOWED = "followed";

interface Run extends Figures {
  /** Putting into the queue; nothing for those who need no queue. */
  enqueue: Pick<Figures, "per_second" | "worker_cpu_us" | "database_cpu_us" | "wal_bytes"> | null;
  /** Refreshes a second: enqueue and run, one after the other. */
  refreshes: number;
}

interface Round {
  processes: number;
  beside_graphile: Run;
  graphile: Run;
  /** A second run of ours beside the second peer; in a hurry, the first one again. */
  beside_pgboss: Run;
  pgboss: Run;
  held: Run;
  graphile_held: Run | null;
}

export interface RefreshRatios {
  refresh_vs_graphile: number | null;
  refresh_vs_pgboss: number | null;
  run_only_vs_graphile: number | null;
  held_snapshot: number | null;
}

/** Makes a database in which all this is followed. */
export async function fill(server: Server, database: string, followed: Followed): Promise<void> {
  const team = new Team({ name: "tidemark", url: await server.create(database) });
  await team.prepare(followed);
  await team.stop();
  await team.end();
}

async function once(server: Server, scale: Scale, name: Name, processes: number, held = false): Promise<Run> {
  const ours = name === "tidemark";
  const url = await server.create("round", ours ? FOLLOWED : undefined);
  const team = new Team({ name, url, processes });
  const total = ours ? scale.resources : scale.jobs;
  let enqueue: Run["enqueue"] = null;
  if (!ours) {
    await team.prepare({ items: 0, boxes: 0 });
    enqueue = await measureWhole(server, team, total, () => team.enqueue(total));
    // Without it a peer's planner may know nothing of what was just put in, which would be unfair.
    await server.run("vacuum (analyze)", "round");
  }
  const snapshot = held ? await server.connect("round") : null;
  await snapshot?.query("begin isolation level repeatable read");
  await snapshot?.query("select count(oid) from pg_class");
  const { warm_ms, measured_ms: most_ms } = scale;
  const run = await measure(server, team, { work: "refresh", warm_ms, most_ms, total });
  await snapshot?.end();
  await team.stop();
  await team.end();
  const refreshes = enqueue ? 1 / (1 / enqueue.per_second + 1 / run.per_second) : run.per_second;
  return { ...run, enqueue, refreshes };
}

async function round(server: Server, scale: Scale, processes: number): Promise<Round> {
  const beside_graphile = await once(server, scale, "tidemark", processes);
  return {
    processes,
    beside_graphile,
    graphile: await once(server, scale, "graphile", processes),
    beside_pgboss: scale.beside_each ? await once(server, scale, "tidemark", processes) : beside_graphile,
    pgboss: await once(server, scale, "pgboss", processes),
    held: await once(server, scale, "tidemark", processes, true),
    graphile_held: scale.peers_held ? await once(server, scale, "graphile", processes, true) : null,
  };
}

/** The figures are those of the largest number of processes; the table has them all. */
export async function refresh(
  server: Server,
  scale: Scale,
): Promise<{ ratios: RefreshRatios; rss_most_bytes: number }> {
  await fill(server, FOLLOWED, { items: scale.resources, boxes: 0 });
  const rounds: Round[] = [];
  for (let n = 0; n < scale.rounds; n += 1)
    for (const processes of scale.processes) rounds.push(await round(server, scale, processes));
  for (const processes of scale.processes) {
    const of_these = rounds.filter((r) => r.processes === processes);
    process.stdout.write(show(of_these, scale, processes));
  }
  const most = Math.max(...scale.processes);
  const ours = rounds.flatMap((r) => [r.beside_graphile, r.beside_pgboss, r.held]);
  return {
    ratios: ratiosOf(rounds.filter((r) => r.processes === most)),
    rss_most_bytes: Math.max(...ours.map((r) => r.rss_most_bytes)),
  };
}

function ratiosOf(rounds: Round[]): RefreshRatios {
  return {
    refresh_vs_graphile: median(rounds.map((r) => r.beside_graphile.refreshes / r.graphile.refreshes)),
    refresh_vs_pgboss: median(rounds.map((r) => r.beside_pgboss.refreshes / r.pgboss.refreshes)),
    run_only_vs_graphile: median(rounds.map((r) => r.beside_graphile.per_second / r.graphile.per_second)),
    held_snapshot: median(
      rounds.map((r) => (r.held.refreshes * 2) / (r.beside_graphile.refreshes + r.beside_pgboss.refreshes)),
    ),
  };
}

function show(rounds: Round[], scale: Scale, processes: number): string {
  const heads = ["", "refreshes/s", "run only/s", "enqueue/s", "worker µs", "database µs", "WAL bytes", "RSS MB"];
  const row = (name: string, runs: Run[]): Cell[] => {
    const middle = (of: (run: Run) => number) => median(runs.map(of));
    const whole = (of: "worker_cpu_us" | "database_cpu_us" | "wal_bytes") =>
      middle((r) => r[of] + (r.enqueue?.[of] ?? 0));
    return [
      name,
      middle((r) => r.refreshes),
      middle((r) => r.per_second),
      middle((r) => r.enqueue?.per_second ?? Number.NaN),
      whole("worker_cpu_us"),
      whole("database_cpu_us"),
      whole("wal_bytes"),
      middle((r) => r.rss_most_bytes / 1e6),
    ];
  };
  const rows = [
    row("tidemark", [...rounds.map((r) => r.beside_graphile), ...rounds.map((r) => r.beside_pgboss)]),
    row(
      "graphile-worker",
      rounds.map((r) => r.graphile),
    ),
    row(
      "pg-boss",
      rounds.map((r) => r.pgboss),
    ),
    row(
      "tidemark, held snapshot",
      rounds.map((r) => r.held),
    ),
    row(
      "graphile-worker, held snapshot",
      rounds.flatMap((r) => r.graphile_held ?? []),
    ),
  ];
  const ratios = Object.entries(ratiosOf(rounds)).map(([name, value]) => `${name} ${value?.toFixed(2) ?? "–"}`);
  const title = `Refreshes of ${scale.resources.toLocaleString("en")} resources, ${processes} worker process${processes > 1 ? "es" : ""} (µs, bytes: each, enqueue included)`;
  return `${table(title, heads, rows)}${ratios.join(", ")}\n`;
}
