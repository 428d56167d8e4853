/** A list of leases that another transaction has locked, and then lets go of unchanged, on a real PostgreSQL. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, expect, it } from "vitest";
import { Events, every, Worker } from "../../src/index.ts";
import { setDatabaseClock } from "../../src/testing/virtual-clock.ts";
import { settings } from "../sql/rig.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { letGo, Session } from "./session.ts";
import { Workbench } from "./workbench.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.open();
});
afterEach(letGo);

it("leases of the dead whose list was locked for long are found when its transaction rolls back", async () => {
  const source = toySource({ page: toyKind(), tick: toyKind({ schedule: every("1s") }) });
  await bench.reset(source, "a", "b");
  await bench.claimAll(1);
  await bench.later();
  // Another worker looked at the list first, and died before it could end anything.
  const locked = await Session.begin(bench.db);
  await locked.tx.query(sql`select hold_id from tidemark.hold for update`);
  const { clock } = bench;
  const db = await setDatabaseClock(bench.db, clock);
  const parts = { db, clock, events: new Events(), sources: [source], settings, name: "w", user_agent: "test" };
  const worker = new Worker(parts);
  // Something is due all the time, so that what the worker believes to be settled moves on.
  await bench.follow("tick:t");
  const running = worker.run();
  await clock.advance(20_000);
  expect(await bench.due("a")).toMatchObject({ lease_no: 1n, leased: true });
  await locked.rollback();
  await clock.advance(3_000);
  for (const key of ["a", "b"]) expect(await bench.due(key)).toMatchObject({ lease_no: 2n, leased: false });
  let stopped = false;
  void worker.stop().finally(() => {
    stopped = true;
  });
  await clock.until(() => stopped);
  await running;
});
