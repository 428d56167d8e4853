/** Four real processes on a real PostgreSQL against an upstream that keeps a log: replayed, it shows no call too many. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { LIFE_MS_MAX } from "../../src/engine/share.ts";
import { overspent } from "../../src/testing/replay.ts";
import { wipe } from "../../src/testing/wipe.ts";
import { type TestPostgres, testDatabase } from "../postgres.ts";
import { type BudgetOrder, type BudgetReport, gap, type Logged, LoggingUpstream, pace } from "./budget-upstream.ts";

const program = fileURLToPath(new URL("./budget-process.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

let store: TestPostgres;
let upstream: LoggingUpstream;
let url: string;
/** Processes that wait for an order: starting one takes longer than most tests. */
let idle: Promise<ChildProcess>[] = [];
let fleet: ChildProcess[] = [];
let said: string[] = [];
/** When each closing was written down. */
let closed: number[] = [];

const heard = (child: ChildProcess, word: BudgetReport) =>
  new Promise<void>((resolve) => {
    child.on("message", (said) => said === word && resolve());
    child.on("exit", () => resolve());
  });

async function recruit(): Promise<ChildProcess> {
  const child = fork(program, { cwd: root, execArgv: ["--import", "tsx"] });
  child.on("message", (report: BudgetReport) => {
    if (typeof report === "string") return;
    if ("closed_ms" in report) closed.push(report.closed_ms);
    else said.push(report.trouble);
  });
  await heard(child, "ready");
  return child;
}

beforeAll(async () => {
  idle = Array.from({ length: 5 }, recruit);
  store = await testDatabase();
  await Promise.all(idle);
}, 120_000);
beforeEach(async () => {
  await wipe(store.db);
  upstream = new LoggingUpstream();
  url = await upstream.open();
  fleet = [];
  said = [];
  closed = [];
});
afterEach(async () => {
  await end();
  await upstream.close();
}, 60_000);
afterAll(async () => {
  for (const child of await Promise.all(idle)) child.disconnect();
});

async function start(order: Pick<BudgetOrder, "upstream"> & Partial<BudgetOrder>): Promise<ChildProcess> {
  const child = await (idle.shift() ?? recruit());
  fleet.push(child);
  const name = `caller-${fleet.length}`;
  const whole: BudgetOrder = { database_url: store.url, url, name, callers: 20, share: "", group: false, ...order };
  child.send(whole);
  return child;
}

/** Those that live come to an end, and wait for the next order. */
async function end(): Promise<void> {
  const alive = fleet.filter((child) => child.exitCode === null && child.signalCode === null);
  fleet = [];
  await Promise.all(
    alive.map(async (child) => {
      const stopped = heard(child, "stopped");
      child.kill("SIGCONT");
      child.send("stop");
      await stopped;
      idle.push(Promise.resolve(child));
    }),
  );
}

/** Calls in the order in which they were sent. */
const sent = (log: Logged[]) =>
  log.map(({ sent_ms }) => ({ at_ms: sent_ms, cost: 1 })).sort((a, b) => a.at_ms - b.at_ms);

const calls = (n: number) => upstream.until((log) => log.length >= n);

it("keeps one pace in every stretch of time, while callers are killed and frozen", { timeout: 300_000 }, async () => {
  await Promise.all([0, 1, 2, 3].map(() => start({ upstream: "paced" })));
  await calls(150);
  fleet[0]!.kill("SIGKILL");
  fleet[1]!.kill("SIGSTOP");
  await calls(280);
  // What it had drawn when it froze is too old now.
  fleet[1]!.kill("SIGCONT");
  await start({ upstream: "paced" });
  await calls(380);
  await end();
  expect(overspent(sent(upstream.log), pace)).toBeNull();
  expect(said).toEqual([]);
});

it("leaves a share its reserve while three processes flood another, and lends what is idle", {
  timeout: 300_000,
}, async () => {
  await Promise.all([0, 1, 2].map(() => start({ upstream: "shared", share: "init" })));
  // More than the part of it that is its own, all buckets included: the rest was lent.
  await calls(2 * pace.burst);
  await start({ upstream: "shared", share: "search" });
  // It is served while the flood goes on; how fast each is on this machine is another matter.
  await upstream.until((log) => log.filter((one) => one.share === "search").length >= 30);
  await end();
  expect(overspent(sent(upstream.log), pace)).toBeNull();
});

it("keeps a gap to each group after each answer, over all processes", { timeout: 300_000 }, async () => {
  upstream.answer_ms = 20;
  await Promise.all([0, 1, 2, 3].map(() => start({ upstream: "gapped", group: true, callers: 4 })));
  await upstream.until((log) => ["/a", "/b"].every((path) => log.filter((one) => one.path === path).length > 10));
  await end();
  for (const path of ["/a", "/b"]) {
    const ours = upstream.log
      .filter((one) => one.path === path)
      .map(({ sent_ms, answered_ms }) => ({ at_ms: sent_ms, cost: 1, ms: answered_ms - sent_ms }))
      .sort((a, b) => a.at_ms - b.at_ms);
    expect(overspent(ours, gap)).toBeNull();
  }
});

it("makes no call before the time is over when one process is told to wait", { timeout: 300_000 }, async () => {
  const told: number[] = [];
  upstream.tired = (n) => {
    if (n === 0 || n % 100 !== 0) return null;
    told.push(n);
    return 1;
  };
  await Promise.all([0, 1, 2, 3].map(() => start({ upstream: "tired", callers: 5 })));
  await calls(320);
  await end();
  expect(closed.length).toBeGreaterThan(1);
  for (const closed_ms of closed) {
    const told_ms = Math.max(...told.map((n) => upstream.log[n]!.answered_ms).filter((ms) => ms <= closed_ms));
    // What other processes had drawn before may be spent for as long as a grant lives.
    const early = upstream.log.filter((one) => one.sent_ms > closed_ms + LIFE_MS_MAX && one.sent_ms < told_ms + 1_000);
    expect(early).toEqual([]);
  }
});

it("never has more calls out at once than may be, and gets a dead caller's places back", {
  timeout: 300_000,
}, async () => {
  const out = (log: Logged[]) => log.filter((one) => one.answered_ms === Number.POSITIVE_INFINITY).length;
  upstream.answer_ms = 50;
  await Promise.all([0, 1, 2, 3].map(() => start({ upstream: "crowded", callers: 5 })));
  await calls(40);
  // It dies with every place taken, and nobody else is there to end its calls.
  for (const child of fleet) child.kill("SIGSTOP");
  for (const child of fleet.slice(0, 2)) child.kill("SIGKILL");
  for (const child of fleet.slice(2)) child.kill("SIGCONT");
  await upstream.until((log) => out(log) === 0);
  const killed = upstream.log.length;
  await upstream.until((log) => log.length > killed + 5 && out(log) === 3);
  await end();
  for (const { sent_ms } of upstream.log) {
    const beside = upstream.log.filter((one) => one.sent_ms <= sent_ms && one.answered_ms > sent_ms);
    expect(beside.length).toBeLessThanOrEqual(3);
  }
});
