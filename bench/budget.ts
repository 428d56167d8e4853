/** What budgets cost and hold: takes a second, the engine's refreshes with and without one, and a search's wait under a flood. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { realClock } from "../src/index.ts";
import type { Told, Work } from "./budget-process.ts";
import { FOLLOWED, fill } from "./engine-refresh.ts";
import { median, percentile } from "./measure.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";
import { node } from "./team.ts";

interface Scale {
  processes: number[];
  takes_ms: number;
  resources: number;
  rounds: number;
  refresh_ms: number;
  flood_ms: number;
}

const full: Scale = {
  processes: [1, 2, 4],
  takes_ms: 10_000,
  resources: 1_000_000,
  rounds: 5,
  refresh_ms: 10_000,
  flood_ms: 30_000,
};
const quick: Scale = {
  processes: [1, 2, 4],
  takes_ms: 1_000,
  resources: 60_000,
  rounds: 2,
  refresh_ms: 1_000,
  flood_ms: 4_000,
};
const WARM_MS = 700;

class Member {
  readonly #child: ChildProcess;
  static readonly all = new Set<ChildProcess>();

  constructor(url: string, work: Work) {
    const flags = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=16"];
    this.#child = fork(path.join(import.meta.dirname, "budget-process.ts"), [url, work], {
      execPath: node,
      execArgv: flags,
    });
    Member.all.add(this.#child);
    this.#child.on("exit", () => Member.all.delete(this.#child));
  }

  async told(): Promise<Told> {
    const answer = once(this.#child, "message");
    this.#child.send("told");
    return (await answer)[0] as Told;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.send("stop");
    await gone;
  }
}

interface Rate {
  per_second: number;
  /** CPU time of the processes and of the database for each one done: on a busy machine it says more than the rate. */
  cpu_us: number;
  last: Told[];
}

/** What processes get done a second, once the first of it is done. */
async function rate(server: Server, url: string, works: Work[], ms: number): Promise<Rate> {
  const team = works.map((work) => new Member(url, work));
  const read = async () => {
    const told = await Promise.all(team.map((one) => one.told()));
    const sum = (of: (one: Told) => number) => told.reduce((all, one) => all + of(one), 0);
    return { done: sum((one) => one.done), cpu_ms: sum((one) => one.cpu_ms), at_ms: performance.now() };
  };
  while ((await read()).done === 0) await realClock.sleep(20);
  await realClock.sleep(WARM_MS);
  const [before, database_before_ms] = [await read(), await server.cpu_ms()];
  await realClock.sleep(ms);
  const [after, database_after_ms] = [await read(), await server.cpu_ms()];
  const done = after.done - before.done;
  const cpu_ms = after.cpu_ms - before.cpu_ms + database_after_ms - database_before_ms;
  const last = await Promise.all(team.map((one) => one.told()));
  await Promise.all(team.map((one) => one.stop()));
  return { per_second: (done / (after.at_ms - before.at_ms)) * 1000, cpu_us: (cpu_ms * 1000) / done, last };
}

const rounded = (n: number | null, digits: number): number | null => (n === null ? null : Number(n.toFixed(digits)));

/** The median over the rounds of refreshes a second with a budget in force ÷ without one. */
async function refreshRounds(server: Server, scale: Scale): Promise<number | null> {
  const ratios: number[] = [];
  const rounds: number[][] = [];
  for (let n = 0; n < scale.rounds; n += 1) {
    const both: Rate[] = [];
    // Taking turns, so that neither always goes first.
    const order: Work[] = n % 2 === 0 ? ["refresh", "refresh with budget"] : ["refresh with budget", "refresh"];
    for (const work of order) {
      const url = await server.create("round", FOLLOWED);
      both.push(await rate(server, url, [work, work], scale.refresh_ms));
    }
    const [without, with_budget] = (n % 2 === 0 ? both : both.toReversed()) as [Rate, Rate];
    ratios.push(with_budget.per_second / without.per_second);
    rounds.push([n + 1, without.per_second, with_budget.per_second, without.cpu_us, with_budget.cpu_us]);
  }
  const heads = ["round", "without", "with a budget", "CPU µs each", "with a budget"];
  process.stdout.write(table("Refreshes a second, two workers", heads, rounds));
  return median(ratios);
}

export async function run(options: Options): Promise<object> {
  const scale = options.quick ? quick : full;
  process.stdout.write(`budget, ${options.quick ? "quick" : "full"}: ${JSON.stringify(scale)}\n`);
  const server = await Server.start();
  options.atEnd(() => server.remove());
  options.atEnd(async () => {
    for (const child of Member.all) child.kill("SIGKILL");
  });
  await fill(server, FOLLOWED, { items: scale.resources, boxes: 0 });

  const takes: [number, number][] = [];
  for (const processes of scale.processes) {
    const url = await server.create("round", FOLLOWED);
    const works = Array.from({ length: processes }, (): Work => "takes");
    takes.push([processes, (await rate(server, url, works, scale.takes_ms)).per_second]);
  }
  process.stdout.write(table("Takes from one budget", ["processes", "takes/s"], takes));

  const refreshes = await refreshRounds(server, scale);

  const url = await server.create("round", FOLLOWED);
  const flood = await rate(server, url, ["flood", "flood", "search"], scale.flood_ms);
  const waits = flood.last[2]!.waits_ms;
  const p95 = percentile(waits, 0.95);
  process.stdout.write(
    `\nA search's take waited ${p95?.toFixed(1)} ms (p95 of ${waits.length}) while two processes flooded init; ${Math.round(flood.per_second)} calls/s in all, of 200.\n`,
  );
  return {
    bench: "budget",
    scale: options.quick ? "quick" : "full",
    takes_per_s: rounded(takes.at(-1)?.[1] ?? null, 0),
    refresh_ratio_with_budget: rounded(refreshes, 3),
    search_wait_p95_ms_under_flood: rounded(p95, 1),
  };
}
