/** Four real processes on a real PostgreSQL against an upstream that keeps a log: replayed, it shows no call too many. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { realClock } from "tidemark";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LIFE_MS_MAX } from "../../src/engine/share.ts";
import { overspent } from "../../src/testing/replay.ts";
import { type TestPostgres, testDatabase } from "../postgres.ts";
import { type BudgetOrder, gap, type Logged, LoggingUpstream, pace } from "./budget-upstream.ts";

const program = fileURLToPath(new URL("./budget-process.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

let store: TestPostgres;
let upstream: LoggingUpstream;
let url: string;
let fleet: ChildProcess[] = [];
let said: string[] = [];
/** When each closing was written down. */
let closed: number[] = [];

beforeEach(async () => {
  store = await testDatabase();
  upstream = new LoggingUpstream();
  url = await upstream.open();
  fleet = [];
  said = [];
  closed = [];
});
afterEach(async () => {
  await end("SIGKILL");
  await upstream.close();
  await store.close();
});

async function start(order: Pick<BudgetOrder, "upstream"> & Partial<BudgetOrder>): Promise<ChildProcess> {
  const whole: BudgetOrder = {
    database_url: store.url,
    url,
    name: `caller-${fleet.length}`,
    callers: 20,
    share: "",
    group: false,
    ...order,
  };
  const child = spawn(process.execPath, ["--import", "tsx", program, JSON.stringify(whole)], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  fleet.push(child);
  child.stderr!.on("data", (part) => said.push(String(part)));
  child.stdout!.on("data", (part) => {
    for (const [, ms] of String(part).matchAll(/closed ([\d.]+)/g)) closed.push(Number(ms));
  });
  await once(child.stdout!, "data");
  return child;
}

async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  const alive = fleet.filter((child) => child.exitCode === null && child.signalCode === null);
  await Promise.all(
    alive.map(async (child) => {
      const gone = once(child, "exit");
      child.kill("SIGCONT");
      child.kill(signal);
      await gone;
    }),
  );
}

/** Calls in the order in which they were sent. */
const sent = (log: Logged[]) =>
  log.map(({ sent_ms }) => ({ at_ms: sent_ms, cost: 1 })).sort((a, b) => a.at_ms - b.at_ms);

it("keeps one pace in every stretch of time, while callers are killed and frozen", { timeout: 90_000 }, async () => {
  for (let n = 0; n < 4; n += 1) await start({ upstream: "paced" });
  const begun = realClock.elapsed_ms();
  await realClock.sleep(2_000);
  fleet[0]!.kill("SIGKILL");
  fleet[1]!.kill("SIGSTOP");
  await realClock.sleep(1_500);
  fleet[1]!.kill("SIGCONT");
  await start({ upstream: "paced" });
  await realClock.sleep(2_500);
  const seconds = (realClock.elapsed_ms() - begun) / 1000;
  await end("SIGTERM");
  expect(overspent(sent(upstream.log), pace)).toBeNull();
  // It is also used: a budget that lets nobody through overspends nothing.
  expect(upstream.log.length).toBeGreaterThan(pace.per_second * seconds * 0.3);
  expect(said).toEqual([]);
});

it("leaves a share its reserve while three processes flood another, and lends what is idle", {
  timeout: 90_000,
}, async () => {
  for (let n = 0; n < 3; n += 1) await start({ upstream: "shared", share: "init" });
  await realClock.sleep(2_500);
  const alone = upstream.log.length;
  await start({ upstream: "shared", share: "search" });
  const begun = upstream.log.length;
  await realClock.sleep(4_000);
  await end("SIGTERM");
  expect(overspent(sent(upstream.log), pace)).toBeNull();
  // Alone it gets far more than the half that is its own.
  expect(alone).toBeGreaterThan(pace.per_second * 2.5 * 0.5);
  const since = upstream.log.slice(begun);
  const first_ms = Math.min(...since.filter((one) => one.share === "search").map((one) => one.sent_ms));
  const last_ms = Math.max(...since.map((one) => one.sent_ms));
  const searches = since.filter((one) => one.share === "search").length;
  expect(searches).toBeGreaterThan(((last_ms - first_ms) / 1000) * pace.per_second * 0.2 * 0.8);
});

it("keeps a gap to each group after each answer, over all processes", { timeout: 90_000 }, async () => {
  upstream.answer_ms = 20;
  for (let n = 0; n < 4; n += 1) await start({ upstream: "gapped", group: true, callers: 4 });
  await realClock.sleep(4_000);
  await end("SIGTERM");
  for (const path of ["/a", "/b"]) {
    const calls = upstream.log
      .filter((one) => one.path === path)
      .map(({ sent_ms, answered_ms }) => ({ at_ms: sent_ms, cost: 1, ms: answered_ms - sent_ms }))
      .sort((a, b) => a.at_ms - b.at_ms);
    expect(calls.length).toBeGreaterThan(5);
    expect(overspent(calls, gap)).toBeNull();
  }
});

it("never has more calls out at once than may be, and gets a dead caller's places back", {
  timeout: 90_000,
}, async () => {
  upstream.answer_ms = 50;
  for (let n = 0; n < 4; n += 1) await start({ upstream: "crowded", callers: 5 });
  await realClock.sleep(2_000);
  for (const child of fleet.slice(0, 2)) child.kill("SIGKILL");
  const killed = upstream.log.length;
  await realClock.sleep(12_000);
  await end("SIGTERM");
  for (const { sent_ms } of upstream.log) {
    const out = upstream.log.filter((one) => one.sent_ms <= sent_ms && one.answered_ms > sent_ms);
    expect(out.length).toBeLessThanOrEqual(3);
  }
  const late = upstream.log.slice(killed).map((one) => one.sent_ms);
  // After the dead caller's places are back, all three are in use again.
  const last = upstream.log.filter((one) => one.sent_ms > Math.max(...late) - 1_000);
  const most = Math.max(
    ...last.map(({ sent_ms }) => last.filter((o) => o.sent_ms <= sent_ms && o.answered_ms > sent_ms).length),
  );
  expect(most).toBe(3);
});

it("makes no call before the time is over when one process is told to wait", { timeout: 90_000 }, async () => {
  const told: number[] = [];
  upstream.tired = (n) => {
    if (n === 0 || n % 150 !== 0) return null;
    told.push(n);
    return 2;
  };
  for (let n = 0; n < 4; n += 1) await start({ upstream: "tired", callers: 5 });
  await realClock.sleep(8_000);
  await end("SIGTERM");
  expect(told.length).toBeGreaterThan(1);
  expect(closed.length).toBeGreaterThan(1);
  for (const closed_ms of closed) {
    const told_ms = Math.max(...told.map((n) => upstream.log[n]!.answered_ms).filter((ms) => ms <= closed_ms));
    // What other processes had drawn before may be spent for as long as a grant lives.
    const early = upstream.log.filter((one) => one.sent_ms > closed_ms + LIFE_MS_MAX && one.sent_ms < told_ms + 2_000);
    expect(early).toEqual([]);
  }
});
