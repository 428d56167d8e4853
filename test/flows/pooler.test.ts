/** Workers behind a transaction pooler: no session state, no named statements, and new work found without being told. */
import sql from "sql-template-tag";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { follow } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { Pooler } from "../pooler.ts";
import { testDatabase } from "../postgres.ts";
import { box, Posting, to } from "../sql/boxes.ts";
import { Rig } from "../sql/rig.ts";
import { toyKind, toySource, words } from "../sql/toy.ts";

const SERVERS = 2;
let pooler: Pooler;
let db: Db;
let rig: Rig;

beforeAll(async () => {
  rig = await Rig.open(async (options) => {
    const { url } = await testDatabase(options);
    pooler = await Pooler.start(url, SERVERS);
    db = openPostgres(pooler.url, { max: 6 });
    return { db, close: () => db.close() };
  });
});
afterAll(async () => {
  await db.close();
  await pooler.close();
});

describe("the pooler that stands in", () => {
  it("keeps a transaction together, and nothing else", async () => {
    const pids = () => db.query<{ pid: number }>(sql`select pg_backend_pid() as pid`).then(({ rows }) => rows[0]!.pid);
    const inside = await db.transaction(async (tx) => {
      const seen = new Set<number>();
      for (let n = 0; n < 4; n += 1) {
        seen.add((await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`)).rows[0]!.pid);
        await pids();
      }
      return seen.size;
    });
    expect(inside).toBe(1);
    expect(new Set([await pids(), await pids(), await pids()]).size).toBe(SERVERS);
    expect(pooler.named).toEqual([]);
  });

  it("loses notifications", async () => {
    const heard: string[] = [];
    const stop = await db.listen("work", (payload) => heard.push(payload));
    for (let n = 0; n < 4; n += 1) await db.query(sql`select pg_notify('work', 'x')`);
    await db.transaction((tx) => tx.query(sql`select 1`));
    expect(heard).toEqual([]);
    await stop();
  });
});

describe("workers behind it", () => {
  const posting = new Posting(() => rig);
  let hangs = false;
  const page = toyKind({
    owns: [words],
    async *pull({ resource: { key, resource_id }, cursor, signal }) {
      for (let at = cursor.at + 1; at <= 5; at += 1) {
        const row = { owner_id: resource_id, word: `${key}-${at}`, version: 1 };
        yield { put: [words.rows([row])], cursor: { at, done: at === 5 } };
        if (hangs) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }
      return undefined;
    },
  });
  beforeEach(() => rig.reset(toySource({ page, poster: posting.poster, box: box() })));
  afterEach(async () => {
    await rig.end();
    expect(pooler.named).toEqual([]);
    expect(pooler.met_most).toBe(SERVERS);
  });

  it("pull and mirror what is followed, each batch once", async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    await rig.follow(...keys);
    rig.start();
    rig.start();
    await rig.calm();
    expect((await rig.rows<{ n: number }>(sql`select count(*)::int as n from toy.word`))[0]!.n).toBe(100);
    expect(rig.ended.map((e) => e.outcome)).toEqual(keys.map(() => "fresh"));
  });

  it("handle messages in order, each once", async () => {
    posting.posts = { 1: Array.from({ length: 30 }, (_, n) => to(n % 2 ? "x" : "y", n, BigInt(n + 1))) };
    await rig.follow("poster:p");
    rig.start();
    rig.start();
    await rig.calm();
    expect(await posting.log("y")).toEqual(Array.from({ length: 15 }, (_, n) => 2 * n));
    expect(await posting.log("x")).toEqual(Array.from({ length: 15 }, (_, n) => 2 * n + 1));
  });

  it("find what somebody else made due, though nobody tells them, within ten seconds and a bit", async () => {
    await rig.follow("a");
    rig.start();
    await rig.calm();
    await follow(rig.db, rig.lanes, "toy", "b");
    await rig.clock.advance(11_000);
    expect(await rig.statuses()).toEqual({ a: "waiting", b: "waiting" });
  });

  it("take over what a dead one held", async () => {
    hangs = true;
    await rig.follow("a");
    const dead = rig.start({}, "killed");
    await rig.clock.until(async () => (await rig.resource("a")).cursor !== null);
    await rig.kill(dead);
    hangs = false;
    rig.start();
    await rig.clock.advance(32_000);
    expect(await rig.resource("a")).toMatchObject({ status: "waiting", cursor: { at: 5 } });
  });
});
