/** What is kept prepared never answers otherwise than a statement given for the first time. */
import sql, { raw } from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Db, ScriptTx } from "./db.ts";
import { openEmbedded } from "./embedded.ts";

let db: Db;

beforeAll(async () => {
  db = await openEmbedded({ thread: false });
});

afterAll(() => db.close());

const script = (text: string) => db.transaction((tx) => (tx as unknown as ScriptTx).script(text));
const prepared = async () =>
  Number((await db.query<{ n: bigint }>(sql`select count(*) as n from pg_prepared_statements`)).rows[0]!.n);
const plans = async (text: string) =>
  (
    await db.query<{ n: bigint }>(sql`select (generic_plans + custom_plans)::int8 as n from pg_prepared_statements
    where statement = ${text}`)
  ).rows[0]?.n;

describe("a statement of the embedded database", () => {
  it("is prepared once and used again", async () => {
    for (let i = 0; i < 7; i += 1)
      expect(await db.query(sql`select ${i}::int as a, null as b, ${"ü"} as c`)).toEqual({
        rows: [{ a: i, b: null, c: "ü" }],
        count: 1,
      });
    expect(await plans("select $1::int as a, null as b, $2 as c")).toBe(7n);
  });

  it("counts the rows that it changed, whether it was given before or not", async () => {
    await script("create table counted (a int)");
    for (const count of [3, 3]) {
      const { rows, count: n } = await db.query(sql`insert into counted select generate_series(1, ${count}::int)`);
      expect({ rows, n }).toEqual({ rows: [], n: count });
    }
    expect((await db.query(sql`delete from counted`)).count).toBe(6);
  });

  it("shows a column that was added since, in a script or as a statement", async () => {
    await script("create table wide (a int); insert into wide values (1)");
    const ask = async () => (await db.query(sql`table wide`)).rows;
    expect(await ask()).toEqual([{ a: 1 }]);
    await script("alter table wide add b int default 2");
    expect(await ask()).toEqual([{ a: 1, b: 2 }]);
    await db.query(sql`alter table wide add c int default 3`);
    expect(await ask()).toEqual([{ a: 1, b: 2, c: 3 }]);
  });

  it("fails once and is well again when a function changed the table behind our back", async () => {
    await script(`create table hidden (a int); insert into hidden values (1);
      create function widen() returns void language plpgsql as $$ begin alter table hidden add b int default 2; end $$`);
    const ask = async () => (await db.query(sql`table hidden`)).rows;
    await ask();
    await db.query(sql`select widen()`);
    await expect(ask()).rejects.toThrow("cached plan must not change result type");
    expect(await ask()).toEqual([{ a: 1, b: 2 }]);
  });

  it("leaves nothing behind when it cannot be parsed, and is kept when only this run of it failed", async () => {
    const before = await prepared();
    await expect(db.query(sql`select nothing from nowhere`)).rejects.toMatchObject({ code: "42P01" });
    expect(await prepared()).toBe(before);
    const divide = (by: number) => db.query(sql`select 1 / ${by}::int as a`);
    await expect(divide(0)).rejects.toMatchObject({ code: "22012" });
    expect((await divide(1)).rows).toEqual([{ a: 1 }]);
    expect(await plans("select 1 / $1::int as a")).toBe(1n);
  });

  it("can fail in a transaction, which ends as a whole, and the next one is not disturbed", async () => {
    await script("create table whole (a int)");
    const failing = db.transaction(async (tx) => {
      await tx.query(sql`insert into whole values (1)`);
      await tx.query(sql`select 1 / ${0}::int as a`).catch(() => undefined);
      await tx.query(sql`insert into whole values (2)`);
    });
    await expect(failing).rejects.toMatchObject({ code: "25P02" });
    await db.transaction((tx) => tx.query(sql`insert into whole values (3)`));
    expect((await db.query(sql`select a from whole`)).rows).toEqual([{ a: 3 }]);
  });

  it("is planned anew after 200 uses, because tables grow", async () => {
    for (let i = 0; i < 201; i += 1) await db.query(sql`select ${i}::int as used`);
    expect(await plans("select $1::int as used")).toBe(1n);
  });

  it("is forgotten when 300 others were used since", async () => {
    for (let i = 0; i < 320; i += 1) await db.query(sql`select ${raw(String(i))} as other`);
    // One of them is closed together with the next statement, and that one is prepared itself.
    expect(await prepared()).toBeLessThanOrEqual(302);
    expect(await plans("select 0 as other")).toBeUndefined();
    expect(await plans("select 319 as other")).toBe(1n);
  });
});
