/** The embedded database's guards: its one session, stuck statements, dead threads, killed processes. */
import { mkdtemp, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild } from "../../test/child.ts";
import { realClock } from "../clock.ts";
import type { Db } from "./db.ts";
import { maintainEmbedded, openEmbedded } from "./embedded.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-embedded-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs for minutes unless somebody ends it, and takes no memory. */
const endless = sql`select count(*) from generate_series(1, 1000000) as a, generate_series(1, 1000000) as b`;

describe("the one session", () => {
  let db: Db;
  beforeAll(async () => {
    db = await openEmbedded({ thread: false });
    await db.query(sql`create table note (n int)`);
  });
  afterAll(() => db.close());

  it("serves first come, first served", async () => {
    const order: string[] = [];
    const did = (name: string) => () => order.push(name);
    await Promise.all([
      db.transaction(async (tx) => {
        await tx.query(sql`insert into note values (1)`);
        await tx.query(sql`insert into note values (2)`);
        order.push("first transaction");
      }),
      db.query(sql`select n from note`).then(({ count }) => order.push(`query sees ${count}`)),
      db.transaction((tx) => tx.query(sql`delete from note`)).then(did("second transaction")),
      db.query(sql`select n from note`).then(({ count }) => order.push(`query sees ${count}`)),
    ]);
    expect(order).toEqual(["first transaction", "query sees 2", "second transaction", "query sees 0"]);
  });

  it("drops a waiting statement that was given up", async () => {
    const control = new AbortController();
    await db.transaction(async () => {
      const waiting = db.query(sql`insert into note values (3)`, { signal: control.signal });
      control.abort(new Error("not waiting"));
      await expect(waiting).rejects.toThrow("not waiting");
    });
    expect((await db.query(sql`select n from note`)).count).toBe(0);
  });

  it("knows pgvector", async () => {
    await db.query(sql`create extension vector`);
    const { rows } = await db.query(sql`select ${"[1,2]"}::vector <-> '[1,3]' as far, '[1,2]'::vector as v`);
    expect(rows).toEqual([{ far: 1, v: "[1,2]" }]);
  });

  it("takes housekeeping", async () => {
    await maintainEmbedded(db);
    const { rows } = await db.query(sql`select reltuples from pg_class where relname = 'note'`);
    expect(rows).toEqual([{ reltuples: 0 }]);
  });
});

describe("in a thread", () => {
  it("leaves the process free while a statement runs", async () => {
    const db = await openEmbedded({});
    let turns = 0;
    let over = false;
    const spin = async () => {
      for (; !over; turns++) await realClock.sleep(0);
    };
    const spinning = spin();
    await db.query(sql`select count(*) from generate_series(1, 1000000)`);
    over = true;
    await spinning;
    expect(turns).toBeGreaterThan(20);
    await db.close();
  });

  it("is ended when a statement takes too long; what was committed is there when it reopens", async () => {
    const db = await openEmbedded({ data: path.join(folder, "slow"), statement_timeout_ms: 1500 });
    const heard: string[] = [];
    await db.listen("work", (payload) => heard.push(payload));
    await db.query(sql`create table note (n int)`);
    await db.query(sql`insert into note values (1)`);
    const slow = db.transaction(async (tx) => {
      await tx.query(sql`insert into note values (2)`);
      await tx.query(endless);
    });
    const waiting = db.query(sql`select 1`);
    await expect(slow).rejects.toThrow(/took longer than 1500 ms/);
    await expect(waiting).rejects.toMatchObject({ code: "StoreDown", retry: "later" });
    expect((await db.query(sql`select n from note`)).rows).toEqual([{ n: 1 }]);
    await db.query(sql`select pg_notify('work', 'again')`);
    expect(heard).toEqual(["", "again"]);
    await db.close();
  });

  it("is ended when a statement goes on long after it was given up", async () => {
    const db = await openEmbedded({ data: path.join(folder, "stuck"), stuck_after_ms: 100 });
    const control = new AbortController();
    const running = db.query(endless, { signal: control.signal });
    void realClock.sleep(0).then(() => control.abort(new Error("enough")));
    await expect(running).rejects.toThrow("enough");
    await expect(db.query(sql`select 1`)).rejects.toThrow(/went on after its caller had given up/);
    expect((await db.query(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    await db.close();
  });

  it("does not come back empty when it was in memory only", async () => {
    const db = await openEmbedded({ statement_timeout_ms: 1500 });
    await expect(db.query(endless)).rejects.toMatchObject({ code: "StoreDown" });
    await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "StoreDown" });
    await db.close();
  });
});

describe("on disk", () => {
  it("is private, and refused to a second opening while it is open", async () => {
    const data = path.join(folder, "twice");
    const db = await openEmbedded({ data, thread: false });
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    await expect(openEmbedded({ data, thread: false })).rejects.toMatchObject({ code: "StoreLocked" });
    await db.close();
    await (await openEmbedded({ data, thread: false })).close();
  });

  it("has every acknowledged commit after a kill", async () => {
    const data = path.join(folder, "killed");
    let last = 0;
    for (const commits of [1, 40, 120]) {
      const child = startChild("embedded-writer.ts", data);
      for (let seen = 0; seen < commits; seen++) last = Number(await child.line());
      last = Number((await child.kill()).at(-1) ?? last);
    }
    const db = await openEmbedded({ data, thread: false });
    const { rows } = await db.query<{ n: number; most: number }>(
      sql`select count(*)::int as n, max(n) as most from note`,
    );
    expect(rows[0]!.n).toBe(rows[0]!.most);
    expect(rows[0]!.most).toBeGreaterThanOrEqual(last);
    await db.close();
  });
});
