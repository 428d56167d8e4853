/** Two workers at one lease, stepped statement by statement on a real PostgreSQL. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { countLive, expire, lockLane } from "../../src/engine/holds.ts";
import { claim } from "../../src/engine/lease.ts";
import { Events, Worker } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { settings } from "../sql/rig.ts";
import { toyKind, toySource, words } from "../sql/toy.ts";
import { blocks, letGo, Session, stopAt } from "./session.ts";
import { TTL, Workbench } from "./workbench.ts";

describe("two workers", () => {
  let bench: Workbench;
  const source = toySource({ page: toyKind(), one: toyKind({ lane: () => ({ name: "one", fleet: 1 }) }) });
  const word = (version: number) => ({
    put: [words.rows([{ word: "a", version }])],
    cursor: { at: version, done: true },
  });
  const mirrored = () => bench.rows(sql`select version from toy.word`);
  const expireAll = async (db = bench.db as Parameters<typeof expire>[0]) => (await expire(db, "-infinity", 100)).ended;
  const as = (worker_id: number) => ({ worker_id, ttl_ms: TTL });
  const idle = { busy: () => 0, asked: 0 };

  beforeAll(async () => {
    bench = await Workbench.open();
  });
  afterEach(letGo);
  beforeEach(() => bench.reset(source, "a", "b", "c", "d"));

  it("that claim at the same moment get different resources, and neither waits", async () => {
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    const wants = bench.lanes.rows().map(({ lane_id }) => ({ lane_id, mark: "-infinity", most: 2, ahead_ms: 0 }));
    const first = await claim(a.tx, wants, as(1));
    const second = await claim(b.tx, wants, as(2));
    await b.commit();
    await a.commit();
    const keys = [...first, ...second].map((l) => l.key);
    expect(first).toHaveLength(2);
    expect(second).toHaveLength(2);
    expect(new Set(keys).size).toBe(4);
    expect(await bench.rows(sql`select lease_no from tidemark.due group by lease_no`)).toEqual([{ lease_no: 1n }]);
  });

  it("would get the same resource if rows were not locked while they are picked", async () => {
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    const naive = sql`
      update tidemark.due set lease_no = lease_no + 1
       where resource_id = (select min(resource_id) from tidemark.due where lease_until is null) returning resource_id`;
    const first = (await a.tx.query(naive)).rows;
    const waiting = b.tx.query(naive);
    await blocks(bench.db, waiting);
    await a.commit();
    expect((await waiting).rows).toEqual(first);
    await b.rollback();
  });

  it("of which one paused beyond its lease: what it commits then writes nothing", async () => {
    const { a: old } = await bench.claimAll(1);
    await bench.later();
    await expireAll();
    const { a: now } = await bench.claimAll(2);
    expect((await bench.commit(bench.unit(now!, word(2)))).committed).toBe(true);
    expect((await bench.commit(bench.unit(old!, word(1)))).committed).toBe(false);
    expect(await mirrored()).toEqual([{ version: 2 }]);
  });

  it("of which one paused beyond its lease: it cannot commit even while nobody else has the resource", async () => {
    const { a: old } = await bench.claimAll(1);
    await bench.later();
    expect((await bench.commit(bench.unit(old!, word(1)))).committed).toBe(false);
    await expireAll();
    expect((await bench.commit(bench.unit(old!, word(1)))).committed).toBe(false);
    expect(await mirrored()).toEqual([]);
  });

  it("of which one's commit already waits for the row while the other takes the resource: it writes nothing", async () => {
    const { a: old } = await bench.claimAll(1);
    await bench.later();
    const taker = await Session.begin(bench.db);
    await expireAll(taker.tx);
    const { a: now } = await bench.claimAll(2, taker.tx);
    const late = bench.commit(bench.unit(old!, word(1)));
    await blocks(bench.db, late);
    await taker.commit();
    expect((await late).committed).toBe(false);
    expect(await mirrored()).toEqual([]);
    expect((await bench.commit(bench.unit(now!, word(2)))).committed).toBe(true);
    expect(await mirrored()).toEqual([{ version: 2 }]);
  });

  it("of which one is in the middle of its commit: the lease cannot be taken from it until that has ended", async () => {
    const { a } = await bench.claimAll(1);
    const stop = stopAt("recorded");
    const committing = bench.commit(bench.unit(a!, word(1)), stop.at);
    await stop.reached;
    await bench.later();
    expect((await expireAll()).map((e) => e.resource_id)).not.toContain(a!.resource_id);
    stop.open();
    expect((await committing).committed).toBe(true);
    expect(await mirrored()).toEqual([{ version: 1 }]);
    expect(await bench.due("a")).toMatchObject({ leased: false, lease_no: 1n });
  });

  it("of which one froze in the middle of its commit: the server ends it before long, and the other can take the lease", async () => {
    const { a } = await bench.claimAll(1);
    const stop = stopAt("recorded");
    const frozen = bench.commit(bench.unit(a!, word(1)), stop.at, 200).catch((error: unknown) => error);
    await stop.reached;
    await bench.later();
    await expect
      .poll(
        async () => {
          await bench.later(1_000);
          return (await expireAll()).map((e) => e.resource_id);
        },
        { timeout: 20_000 },
      )
      .toContain(a!.resource_id);
    stop.open();
    expect(await frozen).toMatchObject({ code: "StoreDown" });
    expect(await mirrored()).toEqual([]);
  });

  it("that race for a lane of one get one lease between them", async () => {
    await bench.reset(source, "one:x", "one:y");
    const row = bench.lanes.rows().find((r) => r.name === "one" && r.urgency === "asked")!;
    const a = await Session.begin(bench.db);
    await lockLane(a.tx, row.source, row.name, row.upstream);
    expect(await countLive(a.tx, row.source, row.name, row.upstream)).toBe(0);
    const { db, clock, lanes } = bench;
    const other = new Claims({ db, lanes, clock, slots: 10 });
    expect(await other.next(10, idle, as(2))).toEqual([]);
    const mine = await claim(a.tx, [{ lane_id: row.lane_id, mark: "-infinity", most: 1, ahead_ms: 0 }], as(1));
    await a.commit();
    expect(mine).toHaveLength(1);
    expect(await other.next(10, idle, as(2))).toEqual([]);
    expect(await countLive(db, row.source, row.name, row.upstream)).toBe(1);
  });

  it("of which one froze while it claimed in a bounded lane: the other claims everything else meanwhile", async () => {
    await bench.reset(source, "one:x", "page:y");
    const row = bench.lanes.rows().find((r) => r.name === "one")!;
    const frozen = await Session.begin(bench.db);
    await lockLane(frozen.tx, row.source, row.name, row.upstream);
    const { db, clock, lanes } = bench;
    const other = new Claims({ db, lanes, clock, slots: 10 });
    expect((await other.next(10, idle, as(2))).map((l) => l.key)).toEqual(["y"]);
    await frozen.rollback();
    expect((await other.next(10, idle, as(2))).map((l) => l.key)).toEqual(["x"]);
  });

  it("of which one keeps an old list of leases locked: the other looks at it twice a second, not all the time", async () => {
    await bench.claimAll(1);
    await bench.later();
    const locked = await Session.begin(bench.db);
    await locked.tx.query(sql`select hold_id from tidemark.hold for update`);
    let statements = 0;
    const db: Db = {
      ...bench.db,
      kind: "postgres",
      query: (...given) => {
        statements += 1;
        return bench.db.query(...given);
      },
      transaction: (...given) => bench.db.transaction(...given),
      listen: async () => async () => undefined,
      close: async () => undefined,
    };
    const { clock } = bench;
    const parts = { db, clock, events: new Events(), sources: [source], settings, name: "w", user_agent: "test" };
    const worker = new Worker(parts);
    const running = worker.run();
    await clock.advance(10_000);
    expect(statements).toBeLessThan(100);
    await locked.rollback();
    let stopped = false;
    void worker.stop().finally(() => {
      stopped = true;
    });
    await clock.until(() => stopped);
    await running;
  });

  it("that race a hundred times for a lane of one never hold two leases", async () => {
    await bench.reset(source, ...Array.from({ length: 30 }, (_, i) => `one:${i}`));
    const { db, clock, lanes } = bench;
    const workers = [1, 2, 3, 4].map((id) => ({
      id,
      claims: new Claims({ db, lanes, clock, slots: 10 }),
    }));
    for (let round = 0; round < 25; round += 1) {
      const all = await Promise.all(workers.map((w) => w.claims.next(10, idle, as(w.id))));
      expect(all.flat()).toHaveLength(1);
      await db.query(sql`update tidemark.due set lease_until = null where lease_until is not null`);
    }
  });
});
