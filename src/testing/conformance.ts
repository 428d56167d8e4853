/** The checks that every source must pass: cut anywhere, told to wait, lied to, it ends with the same mirror. */
import assert from "node:assert/strict";
import type { Sql } from "sql-template-tag";
import type { Source } from "../contract.ts";
import type { Db } from "../store/db.ts";
import { openEmbedded } from "../store/embedded.ts";
import { engineFolder, migrate, readMigrations } from "../store/migrate.ts";
import { overspent } from "./replay.ts";
import { type Mirror, type MirroredTable, Trial, type TrialGiven } from "./trial.ts";
import type { Route, Trouble } from "./upstream.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What a source has to be given to be checked. */
export interface Given {
  /** What to follow, as a person types it. */
  follow: string[];
  /** What the upstream answers. Called for each run, so that every run meets the same upstream. */
  upstream(): Route;
  /** The tables to compare; every declared column is, but the volatile ones. */
  tables: MirroredTable[];
  /** What of a cursor has to be the same; all of it unless said. */
  cursor?(cursor: unknown): unknown;
  /** Bodies that its upstream would never send. */
  malformed?: string[];
  /** A migrated database, emptied for each run; embedded and in memory unless said. */
  open?(source: Source): Promise<{ db: Db; close(): Promise<void> }>;
  /** How many places to cut at, at most (100 unless said), and how many calls to disturb in each way (8): spread evenly when there are more. */
  cuts_most?: number;
  calls_most?: number;
}

/** One check, for whatever runs tests: `for (const { name, run } of conformance(…)) it(name, run)`. */
export interface Check {
  name: string;
  run(): Promise<void>;
}

const MALFORMED = ["<html><body>Bad gateway</body></html>", '{"half": ', "null"];
const RETRY_AFTER_S = 7;
const CUTS_MOST = 100;
const CALLS_MOST = 8;

/** The list of checks; `source` is given the address of its pretend upstream where it needs one, and the clock that stands still while it works. */
export function conformance(source: Source | ((url: string, clock: VirtualClock) => Source), given: Given): Check[] {
  const make = typeof source === "function" ? source : () => source;
  const all: TrialGiven = { ...given, source: make };
  const check = (name: string, work: (store: Db) => Promise<void>): Check => ({
    name,
    async run() {
      const { db, close } = await (given.open ?? openHere)(make("http://127.0.0.1:9", new VirtualClock()));
      try {
        await work(db);
      } finally {
        await close();
      }
    },
  });
  const cuts = given.cuts_most ?? CUTS_MOST;
  const calls = given.calls_most ?? CALLS_MOST;
  const server: Trouble[] = [
    { trouble: "error", status: 500 },
    { trouble: "error", status: 503 },
    { trouble: "hang" },
    { trouble: "cut" },
  ];
  const lies: Trouble[] = (given.malformed ?? MALFORMED).map((body) => ({ trouble: "malformed", body }));
  return [
    check("comes to the same mirror and cursors when cut after any commit", (db) => cutEverywhere(db, all, cuts)),
    check("writes nothing when nothing changed", (db) => writesNothing(db, all)),
    check("waits when it is told to, and is not charged for it", (db) => disturb(db, all, calls, [busy], waited)),
    check("recovers when the upstream fails or does not answer", (db) => disturb(db, all, calls, server, recovered)),
    check("commits nothing from a malformed answer", (db) => disturb(db, all, calls, lies, refused)),
    check("commits nothing from half an answer", (db) => disturb(db, all, calls, [{ trouble: "truncated" }], refused)),
    check("stays within its budget with three workers", (db) => withinBudget(db, all)),
  ];
}

const busy: Trouble = { trouble: "busy", retry_after: String(RETRY_AFTER_S) };

async function openHere(source: Source): Promise<{ db: Db; close(): Promise<void> }> {
  const db = await openEmbedded();
  const own = source.migrations ? [{ owner: source.name, steps: source.migrations.steps }] : [];
  await migrate(db, [await readMigrations("tidemark", engineFolder), ...own]);
  return { db, close: () => db.close() };
}

interface Uncut {
  mirror: Mirror;
  commits: number;
  requests: number;
}

const isCommit = (statement: Sql | null) => statement === null || /^\s*update tidemark\.due/.test(statement.text);

async function uncut(store: Db, given: TrialGiven, slots: number): Promise<Uncut> {
  return Trial.run(store, given, async (trial) => {
    let commits = 0;
    trial.start({ slots }, (statement) => {
      if (isCommit(statement)) commits += 1;
      return false;
    });
    await trial.toRest();
    const mirror = await trial.mirror();
    const requests = trial.upstream.requests.length;
    assert.ok(requests > 0, "it never called its upstream");
    assert.equal(trial.calls.length, requests, "it calls its upstream past the engine");
    const rows = Object.values(mirror.tables).reduce((n, t) => n + t.length, 0);
    assert.ok(rows > 0, "nothing was mirrored: there is nothing to compare");
    return { mirror, commits, requests };
  });
}

/** Up to `most` of the numbers from 0 to n - 1, spread evenly. */
function spread(n: number, most: number): number[] {
  if (n <= most || most < 2) return Array.from({ length: Math.min(n, most) }, (_, i) => i);
  return [...new Set(Array.from({ length: most }, (_, i) => Math.round((i * (n - 1)) / (most - 1))))];
}

async function cutEverywhere(store: Db, given: TrialGiven, most: number): Promise<void> {
  const whole = await uncut(store, given, 10);
  for (const n of spread(whole.commits, most))
    await Trial.run(store, given, async (trial) => {
      let commits = 0;
      const first = trial.start({}, (statement) => isCommit(statement) && commits++ === n);
      await trial.toRest(() => first.dead);
      if (first.dead) {
        await first.kill();
        trial.start();
        await trial.toRest();
      }
      assert.deepEqual(await trial.mirror(), whole.mirror, `cut after commit ${n + 1} of ${whole.commits}`);
    });
}

async function writesNothing(store: Db, given: TrialGiven): Promise<void> {
  await Trial.run(store, given, async (trial) => {
    trial.start();
    await trial.toRest();
    const mirror = await trial.mirror();
    trial.rows_written = 0;
    await trial.pullAgain();
    assert.equal(trial.rows_written, 0, "the second pull wrote rows");
    assert.deepEqual(await trial.mirror(), mirror);
  });
}

/** Troubles each call in turn, one at a time, and demands that the run ends as if nothing had happened. */
async function disturb(
  store: Db,
  given: TrialGiven,
  most: number,
  troubles: Trouble[],
  judge: (trial: Trial, what: string) => void,
): Promise<void> {
  const whole = await uncut(store, given, 1);
  for (const trouble of troubles)
    for (const n of spread(whole.requests, most))
      await Trial.run(store, given, async (trial) => {
        const what = `${JSON.stringify(trouble)} at call ${n + 1} of ${whole.requests}`;
        const written = writtenAfter(trial, n, trouble);
        trial.start({ slots: 1 });
        await trial.toRest();
        assert.equal(written(), 0, `rows were committed by the pull that met ${what}`);
        assert.deepEqual(await trial.mirror(), whole.mirror, what);
        judge(trial, what);
      });
}

/** Sets the trouble, and counts rows that the pull which meets it still commits. */
function writtenAfter(trial: Trial, n: number, trouble: Trouble): () => number {
  let met = false;
  let rows_after = 0;
  trial.upstream.trouble = (_, i) => {
    if (i !== n) return null;
    met = true;
    return trouble;
  };
  trial.events.on("commit", ({ rows }) => {
    if (met) rows_after += rows;
  });
  trial.events.on("pull_ended", () => {
    met = false;
  });
  return () => rows_after;
}

function waited(trial: Trial, what: string): void {
  const told = trial.upstream.requests.find((r) => r.trouble)!;
  const early = trial.upstream.requests.filter(
    (r) => r.at_ms > told.at_ms && r.at_ms < told.at_ms + RETRY_AFTER_S * 1000,
  );
  assert.deepEqual(
    early.map((r) => r.path),
    [],
    `called before the time was over: ${what}`,
  );
  const outcomes = trial.ended.map((e) => e.outcome);
  assert.ok(outcomes.includes("later"), `being told to wait should end with "later": ${what}`);
  assert.ok(!outcomes.includes("failed"), `being told to wait is no failure: ${what}`);
}

function recovered(trial: Trial, what: string): void {
  const outcomes = trial.ended.map((e) => e.outcome);
  assert.ok(outcomes.includes("failed") || outcomes.includes("later"), `the trouble went unnoticed: ${what}`);
}

function refused(trial: Trial, what: string): void {
  const outcomes = trial.ended.map((e) => e.outcome);
  assert.ok(outcomes.includes("failed"), `the answer was taken for a good one: ${what}`);
}

async function withinBudget(store: Db, given: TrialGiven): Promise<void> {
  await Trial.run(store, given, async (trial) => {
    for (let workers = 0; workers < 3; workers += 1) trial.start();
    await trial.toRest();
    await trial.pullAgain();
    const budgets = trial.budgets();
    for (const { budget, declared } of budgets) {
      const calls = trial.took.filter((t) => t.budget === budget).sort((a, b) => a.at_ms - b.at_ms);
      const said = overspent(calls, declared, trial.upstream.tells_resets);
      assert.equal(said, null, `the budget ${budget} was overspent`);
    }
    for (const { upstream, took } of trial.calls) {
      const its = budgets.filter((b) => b.upstream === upstream);
      const some = its.length === 0 || its.some((b) => took.includes(b.budget));
      assert.ok(some, `a call to ${upstream} took from none of its budgets`);
    }
  });
}
