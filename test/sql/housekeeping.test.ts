/** Housekeeping: what is old or gone is deleted in bounded batches, and nothing else is. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Housekeeping } from "../../src/engine/housekeeping.ts";
import { follow, gone, refresh, unfollow } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { type TestPostgres, testDatabase } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource, words } from "./toy.ts";

const DAY_MS = 86_400_000;
let rig: Rig;
let store: TestPostgres;
let housekeeping: Housekeeping;
let missing: Set<string>;
const named = (key: string) => ({ source: "toy", kind: "page", key });
const page = toyKind({
  owns: [words],
  async *pull({ resource: { key, resource_id }, cursor }) {
    if (missing.has(key)) return gone("nobody has it");
    const rows = Array.from({ length: 2_500 }, (_, n) => ({ owner_id: resource_id, word: `${key}-${n}`, version: 1 }));
    if (cursor.at === 0) yield { put: [words.rows(rows)], cursor: { at: 1, done: true } };
    return undefined;
  },
});

beforeAll(async () => {
  rig = await Rig.open(async (options) => {
    store = await testDatabase(options);
    return store;
  });
});
beforeEach(async () => {
  missing = new Set();
  await rig.reset(toySource({ page }));
  housekeeping = new Housekeeping(rig);
});
afterEach(() => rig.end());

const wordCount = async (key: string) =>
  (await rig.rows<{ n: number }>(sql`select count(*)::int as n from toy.word where word like ${`${key}-%`}`))[0]!.n;

async function pulled(...keys: string[]): Promise<void> {
  await rig.follow(...keys);
  const worker = rig.start();
  await rig.calm();
  await rig.stop(worker);
}

describe("what nobody follows any more", () => {
  it("loses its records at once, and itself after seven days", async () => {
    await pulled("a", "b");
    await unfollow(rig.db, named("a"));
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(0);
    expect(await wordCount("b")).toBe(2_500);
    expect(await rig.statuses()).toEqual({ a: "gone", b: "waiting" });
    await rig.clock.advance(6.9 * DAY_MS);
    await housekeeping.turn();
    expect(await rig.statuses()).toHaveProperty("a");
    await rig.clock.advance(0.2 * DAY_MS);
    await housekeeping.turn();
    expect(await rig.statuses()).not.toHaveProperty("a");
    expect(await rig.rows(sql`select resource_id from tidemark.due`)).toHaveLength(1);
  });

  it("begins anew when it is followed again in the meantime", async () => {
    await pulled("a");
    await unfollow(rig.db, named("a"));
    await housekeeping.turn();
    await pulled("a");
    expect(await wordCount("a")).toBe(2_500);
    await rig.clock.advance(8 * DAY_MS);
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(2_500);
    expect(await rig.statuses()).toHaveProperty("a");
  });

  it("is purged only once its records are seen to be gone", async () => {
    await pulled("a");
    await unfollow(rig.db, named("a"));
    await rig.clock.advance(8 * DAY_MS);
    const stopped = new AbortController();
    stopped.abort();
    await housekeeping.turn(stopped.signal);
    expect(await rig.statuses()).toEqual({ a: "gone" });
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(0);
    expect(await rig.statuses()).toEqual({});
  });

  it("takes its mail with it, and lets the tidemark of the poster go on", async () => {
    await rig.follow("a", "poster");
    const a = (await rig.resource("a")).resource_id;
    const poster = (await rig.resource("poster")).resource_id;
    await rig.db.query(sql`insert into tidemark.tidemark (resource_id, internal, position) values (${poster}, 9, 4)`);
    await rig.db.query(sql`
      insert into tidemark.message (resource_id, seq, origin_id, position, payload) values (${a}, 1, ${poster}, 5, '{"n": 1}')`);
    await rig.db.query(sql`update tidemark.due set mail_seq = 1 where resource_id = ${a}`);
    await unfollow(rig.db, named("a"));
    await housekeeping.turn();
    expect(await rig.rows(sql`select seq from tidemark.message`)).toEqual([]);
    expect(await rig.rows(sql`select position from tidemark.tidemark`)).toEqual([{ position: 9n }]);
    expect((await rig.resource("a")).mail).toBe(0n);
  });
});

describe("what is followed and gone upstream", () => {
  /** Pulled, and then found to be gone. */
  const vanished = async (key: string) => {
    await pulled(key);
    missing.add(key);
    await refresh(rig.db, named(key));
    await pulled();
    expect(await rig.statuses()).toEqual({ [key]: "gone" });
  };
  /** A worker looks at what is due after these days. */
  const days = async (n: number) => {
    await rig.clock.advance(n * DAY_MS);
    await pulled();
  };

  it("keeps its records for a week, whoever asks meanwhile, and goes on where it was when it comes back", async () => {
    await vanished("a");
    await housekeeping.turn();
    await rig.clock.advance(DAY_MS);
    await refresh(rig.db, named("a"));
    await pulled();
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(2_500);
    expect((await rig.resource("a")).cursor).toMatchObject({ at: 1 });
    missing.clear();
    await refresh(rig.db, named("a"));
    await pulled();
    expect(await rig.statuses()).toEqual({ a: "waiting" });
    expect((await rig.resource("a")).cursor).toMatchObject({ at: 1 });
    await rig.clock.advance(8 * DAY_MS);
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(2_500);
  });

  it("loses its records and its cursor once a look after a week finds it gone still, and begins anew when it comes back", async () => {
    await vanished("a");
    // Nobody looked: a week alone proves nothing.
    await rig.clock.advance(8 * DAY_MS);
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(2_500);
    await days(0);
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(0);
    expect((await rig.resource("a")).cursor).toBeNull();
    // It is still followed, so it stays, and is looked at every week.
    await days(20);
    await housekeeping.turn();
    expect(await rig.statuses()).toEqual({ a: "gone" });
    missing.clear();
    await days(8);
    expect(await rig.statuses()).toEqual({ a: "waiting" });
    expect(await wordCount("a")).toBe(2_500);
  });

  it("loses its records at once when nobody follows it any more", async () => {
    await vanished("a");
    await housekeeping.turn();
    await unfollow(rig.db, named("a"));
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(0);
  });

  it("is looked at again when it has mail, instead of keeping its poster's tidemark waiting for a week", async () => {
    await vanished("a");
    missing.clear();
    await rig.db.query(sql`update tidemark.due set mail_seq = mail_seq + 1`);
    await housekeeping.turn();
    expect((await rig.resource("a")).due_in_ms).toBeLessThanOrEqual(0);
    await rig.db.query(sql`update tidemark.due set mail_done = mail_seq`);
    await pulled();
  });
});

describe("what is old", () => {
  it("goes: counters, progress and pulls after a week, lost workers after a day", async () => {
    await follow(rig.db, rig.lanes, "toy", "a");
    await rig.db.query(sql`insert into tidemark.worker (name, role, slots) values ('lost', 'worker', 1)`);
    for (const days of [0, 6, 8]) {
      await rig.db.query(sql`
        insert into tidemark.pull_count (source, kind, minute, outcome, pulls, changed)
        values ('toy', 'page', tidemark.now() - ${days}::int * interval '1 day', 'fresh', 1, 0)`);
      await rig.db.query(sql`
        insert into tidemark.progress (lane_id, minute, done)
        select min(lane_id), tidemark.now() - ${days}::int * interval '1 day', 1 from tidemark.lane`);
    }
    await housekeeping.turn();
    expect(await rig.rows(sql`select minute from tidemark.pull_count`)).toHaveLength(2);
    expect(await rig.rows(sql`select minute from tidemark.progress`)).toHaveLength(2);
    expect(await rig.rows(sql`select name from tidemark.worker`)).toHaveLength(1);
    await rig.clock.advance(1.1 * DAY_MS);
    await housekeeping.turn();
    expect(await rig.rows(sql`select name from tidemark.worker`)).toEqual([]);
  });

  it("keeps each pull for at least seven days and at most eight", async () => {
    const note = (day: number) =>
      rig.db.query(sql`
      insert into tidemark.pull (day, resource_id, started_at, ms, outcome)
      select (extract(epoch from tidemark.now())::bigint / 86400 % 8)::smallint, ${day}, tidemark.now(), 1, 'fresh'`);
    for (let day = 0; day < 10; day += 1) {
      await note(day);
      await housekeeping.turn();
      await rig.clock.advance(DAY_MS);
    }
    const kept = await rig.rows<{ resource_id: bigint }>(
      sql`select resource_id from tidemark.pull order by resource_id`,
    );
    expect(kept.map((row) => Number(row.resource_id))).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });
});

/** A turn on a database whose transactions this function may come before, or keep from happening. */
async function turnWith(before: (n: number) => Promise<boolean>): Promise<void> {
  let n = 0;
  const db: Db = {
    kind: "postgres",
    query: (statement) => rig.db.query(statement),
    transaction: async (work) => ((await before(n++)) ? rig.db.transaction(work) : (null as never)),
    listen: () => Promise.reject(new Error("nobody listens")),
    close: async () => {},
  };
  await new Housekeeping({ ...rig, db }).turn();
}

/** The first ones are for how fresh it is, for what is old and for mail; then come those for what is gone. */
const OLD = 9;

describe("somebody else in between", () => {
  it("who brings a resource back keeps its records", async () => {
    await pulled("a");
    await unfollow(rig.db, named("a"));
    await turnWith(async (n) => {
      if (n === OLD) await rig.follow("a");
      return true;
    });
    expect(await wordCount("a")).toBe(2_500);
    await pulled();
  });

  it("who has the lock while records should go does not get the resource purged without them", async () => {
    await pulled("a");
    await unfollow(rig.db, named("a"));
    await rig.clock.advance(8 * DAY_MS);
    await turnWith(async (n) => n !== OLD);
    expect(await rig.statuses()).toEqual({ a: "gone" });
    expect(await wordCount("a")).toBe(2_500);
    await turnWith(async () => true);
    expect(await rig.statuses()).toEqual({});
    expect(await wordCount("a")).toBe(0);
  });
});

describe("two at once", () => {
  it("leave the work to the one that has the lock", async () => {
    await pulled("a");
    await unfollow(rig.db, named("a"));
    await store.db.transaction(async (tx) => {
      await tx.query(sql`select pg_advisory_xact_lock(${0x6b656570}::bigint)`);
      await housekeeping.turn();
    });
    expect(await wordCount("a")).toBe(2_500);
    await housekeeping.turn();
    expect(await wordCount("a")).toBe(0);
  });
});

it("drops budgets that nobody asked for in a week, however many hosts there were, and calls of the dead", async () => {
  await rig.db.query(sql`
    insert into tidemark.budget (budget, upstream, shape, room, life_ms, share, reserved, capacity, level, refused_at, refused_ms, closed_until)
    select 'h' || i, 'web', 'gap', 1, 500, array[''], array[1], array[1], array[1], array[tidemark.now()], array[0],
           case when i = 1 then tidemark.now() + interval '9 days' end
      from generate_series(1, 2500) i`);
  await rig.db.query(sql`insert into tidemark.flight (budget, until) values ('h1', tidemark.now())`);
  const left = () =>
    rig.rows(sql`
      select (select count(*)::int from tidemark.budget) as budgets, (select count(*)::int from tidemark.flight) as flights`);
  await rig.clock.advance(6 * DAY_MS);
  await housekeeping.turn();
  expect(await left()).toEqual([{ budgets: 2500, flights: 0 }]);
  await rig.clock.advance(2 * DAY_MS);
  await housekeeping.turn();
  expect(await left()).toEqual([{ budgets: 1, flights: 0 }]);
});
