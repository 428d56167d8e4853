/** Migrations: each step once, whoever tries, and a schema that does not fit is refused. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import sql from "sql-template-tag";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../../src/store/db.ts";
import { checkMigrated, type Migrations, migrate, readMigrations } from "../../src/store/migrate.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { stores, testDatabase } from "../postgres.ts";

const steps = (...texts: string[]): Migrations => ({
  owner: "shop",
  steps: texts.map((text, at) => ({ n: at + 1, name: `step${at + 1}`, sql: text })),
});
const one = "create schema shop; create table shop.item (id int primary key); insert into shop.item values (1), (2);";
const two = "alter table shop.item add column price int not null default 5; update shop.item set price = id * 10;";

describe.each(stores)("migrations, on $store", ({ open }) => {
  let db: Db;
  beforeAll(async () => {
    ({ db } = await open());
  });
  beforeEach(async () => {
    await db.query(sql`drop schema if exists shop cascade`);
    await db.query(sql`delete from tidemark.migration where owner <> 'tidemark'`);
  });

  it("apply every step in order and say which", async () => {
    const told: number[] = [];
    const applied = await migrate(db, [steps(one, two)], { onStep: ({ n }) => told.push(n) });
    expect(applied).toEqual([
      { owner: "shop", n: 1, name: "step1" },
      { owner: "shop", n: 2, name: "step2" },
    ]);
    expect(told).toEqual([1, 2]);
    await checkMigrated(db, [steps(one, two)]);
  });

  it("do nothing the second time", async () => {
    await migrate(db, [steps(one)]);
    expect(await migrate(db, [steps(one)])).toEqual([]);
  });

  it("upgrade a database with data in place", async () => {
    await migrate(db, [steps(one)]);
    await db.query(sql`insert into shop.item values (3)`);
    expect(await migrate(db, [steps(one, two)])).toEqual([{ owner: "shop", n: 2, name: "step2" }]);
    const { rows } = await db.query(sql`select id, price from shop.item order by id`);
    expect(rows.map(({ price }) => price)).toEqual([10, 20, 30]);
  });

  it("leave nothing of a step that fails, and keep the steps before it", async () => {
    const broken = "create table shop.half (id int); select 1 / 0;";
    await expect(migrate(db, [steps(one, broken)])).rejects.toMatchObject({ code: "22012" });
    const { rows } = await db.query(
      sql`select to_regclass('shop.half') as half, to_regclass('shop.item')::text as item`,
    );
    expect(rows).toEqual([{ half: null, item: "shop.item" }]);
    expect(await migrate(db, [steps(one, two)])).toHaveLength(1);
  });

  it("notice a step that was edited after it was applied", async () => {
    await migrate(db, [steps(one)]);
    const changed = [steps(`${one} -- better`)];
    await expect(migrate(db, changed)).rejects.toMatchObject({
      code: "MigrationEdited",
      details: { owner: "shop", n: 1 },
    });
    await expect(checkMigrated(db, changed)).rejects.toMatchObject({ code: "MigrationEdited" });
  });

  it("do not mind other line ends", async () => {
    await migrate(db, [steps("create schema shop;\ncreate table shop.item (id int);\n")]);
    await checkMigrated(db, [steps("create schema shop;\r\ncreate table shop.item (id int);\r\n")]);
  });

  it("refuse a database that a newer release migrated", async () => {
    await migrate(db, [steps(one, two)]);
    await expect(migrate(db, [steps(one)])).rejects.toMatchObject({ code: "SchemaTooNew" });
    await expect(checkMigrated(db, [steps(one)])).rejects.toThrow(/migration 2 \(step2\) of shop/);
  });

  it("leave the steps of owners that are not loaded alone", async () => {
    await migrate(db, [steps(one)]);
    await checkMigrated(db, []);
    expect(await migrate(db, [])).toEqual([]);
  });

  it("say what is missing and what to do", async () => {
    await expect(checkMigrated(db, [steps(one, two)])).rejects.toThrow(
      /1 \(step1\), 2 \(step2\) of shop.*tidemark migrate/,
    );
    await expect(checkMigrated(db, [steps(one)])).rejects.toMatchObject({ code: "SchemaTooOld" });
  });

  it("refuse lists with gaps, repetitions or the same owner twice", async () => {
    const gap = { owner: "shop", steps: [{ n: 2, name: "late", sql: one }] };
    const twice = { owner: "shop", steps: [1, 1].map((n) => ({ n, name: "same", sql: "select 1" })) };
    for (const wrong of [[gap], [twice], [steps(one), steps(one)]]) {
      await expect(migrate(db, wrong)).rejects.toMatchObject({ code: "ConfigInvalid" });
      await expect(checkMigrated(db, wrong)).rejects.toMatchObject({ code: "ConfigInvalid" });
    }
  });
});

describe("several processes at once", () => {
  it("apply each step once, on a database that has nothing yet", async () => {
    const { db, url } = await testDatabase();
    await db.query(sql`drop schema tidemark cascade`);
    const pools = Array.from({ length: 6 }, () => openPostgres(url, { max: 2 }));
    const all = await Promise.all(pools.map((pool) => migrate(pool, [steps(one, two)]))).finally(() =>
      Promise.all(pools.map((pool) => pool.close())),
    );
    expect(all.flat().map(({ n }) => n)).toHaveLength(2);
    expect((await db.query(sql`select price from shop.item order by id`)).rows).toEqual([{ price: 10 }, { price: 20 }]);
  });

  it("finds a database without anything too old", async () => {
    const { db } = await testDatabase();
    await db.query(sql`drop schema tidemark cascade`);
    await expect(checkMigrated(db, [steps(one)])).rejects.toMatchObject({ code: "SchemaTooOld" });
  });
});

describe("a folder of migrations", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-migrations-"));
    await mkdir(path.join(folder, "good"));
    await mkdir(path.join(folder, "bad"));
    await writeFile(path.join(folder, "good", "0002_second.sql"), "select 2");
    await writeFile(path.join(folder, "good", "0001_first step.sql"), "select 1");
    await writeFile(path.join(folder, "good", "README.md"), "");
    await writeFile(path.join(folder, "bad", "1_first.sql"), "");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is read in the order of its numbers, with or without a slash at the end of its address", async () => {
    const expected = {
      owner: "shop",
      steps: [
        { n: 1, name: "first step", sql: "select 1" },
        { n: 2, name: "second", sql: "select 2" },
      ],
    };
    expect(await readMigrations("shop", pathToFileURL(path.join(folder, "good")))).toEqual(expected);
    expect(await readMigrations("shop", pathToFileURL(path.join(folder, "good/")))).toEqual(expected);
  });

  it("is refused when a file has another name", async () => {
    await expect(readMigrations("shop", pathToFileURL(path.join(folder, "bad")))).rejects.toThrow(/1_first\.sql/);
  });
});
