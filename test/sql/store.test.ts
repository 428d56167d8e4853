/** What both database drivers promise, proved on both. */
import sql, { raw } from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import type { Db } from "../../src/store/db.ts";
import { stores } from "../postgres.ts";

/** A promise to be kept later. */
function signal<T = void>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe.each(stores)("a store, on $store", ({ open }) => {
  let db: Db;
  beforeAll(async () => {
    ({ db } = await open());
    await db.query(sql`create table note (id int8 primary key, at timestamptz, body jsonb)`);
  });

  describe("values", () => {
    it("gives an int8 beyond 2^53 back exactly", async () => {
      const { rows } = await db.query(sql`select ${9007199254740993n}::int8 as n, 9223372036854775807 as most`);
      expect(rows).toEqual([{ n: 9007199254740993n, most: 9223372036854775807n }]);
    });

    it("gives even a small int8 as a bigint, and a count too", async () => {
      const { rows } = await db.query(sql`select 1::int8 as n, count(*) as c from generate_series(1, 3)`);
      expect(rows).toEqual([{ n: 1n, c: 3n }]);
    });

    it.each(["UTC", "Asia/Kolkata", "America/New_York", "Asia/Kathmandu"])(
      "gives the microseconds of a timestamptz back to a session in %s",
      async (zone) => {
        const at = "2026-11-15T22:55:50.123456Z";
        const rows = await db.transaction(async (tx) => {
          await tx.query(sql`set local timezone to ${raw(`'${zone}'`)}`);
          return (await tx.query(sql`select ${at}::timestamptz as at, array[${at}::timestamptz, null] as all`)).rows;
        });
        expect(rows).toEqual([{ at, all: [at, null] }]);
      },
    );

    it.each(["infinity", "-infinity", "0044-03-15T12:00:00.000000Z BC", "10000-01-01T00:00:00.000000Z"])(
      "takes %s, which it gave, as a parameter",
      async (at) => {
        expect((await db.query(sql`select ${at}::timestamptz as at`)).rows).toEqual([{ at }]);
      },
    );

    it("takes arrays as parameters of unnest", async () => {
      const ids = [1n, 9007199254740993n];
      const times = ["2026-11-15T22:55:50.000001Z", null];
      const { rows } = await db.query(
        sql`select id, at, body from unnest(${ids}::int8[], ${times}::timestamptz[], ${['{"a": "x\\"y"}', null]}::jsonb[]) as t (id, at, body)`,
      );
      expect(rows).toEqual([
        { id: 1n, at: times[0], body: { a: 'x"y' } },
        { id: 9007199254740993n, at: null, body: null },
      ]);
    });

    it("takes jsonb as text and gives it parsed", async () => {
      const { rows } = await db.query(
        sql`select ${JSON.stringify([1, { a: null }])}::jsonb as j, ${{ b: 1 }}::json as o`,
      );
      expect(rows).toEqual([{ j: [1, { a: null }], o: { b: 1 } }]);
    });

    it("gives every other type as promised", async () => {
      const { rows } = await db.query(sql`
        select 1::int4 as i, 1.5::float8 as f, 'NaN'::float8 as nan, 1.50::numeric as num, true as yes, null::int8 as none,
          '2026-11-15'::date as d, '2026-11-15 10:00:00.5'::timestamp as ts, ${new Uint8Array([0, 255])}::bytea as bytes,
          array['a', null, 'b,"c"'] as texts, array[[1, 2], [3, 4]] as grid, 'x'::name as name, interval '1 day' as span
      `);
      expect(rows).toEqual([
        {
          ...{ i: 1, f: 1.5, nan: Number.NaN, num: "1.50", yes: true, none: null, d: "2026-11-15" },
          ...{ ts: "2026-11-15 10:00:00.5", bytes: new Uint8Array([0, 255]), texts: ["a", null, 'b,"c"'] },
          ...{ grid: [[1, 2], [3, 4]], name: "x", span: "1 day" }, // biome-ignore format: one grid
        },
      ]);
    });

    it("leaves types that it does not know as text, alone and in arrays", async () => {
      await db.query(sql`create type mood as enum ('good', 'bad')`);
      const { rows } = await db.query(sql`select 'good'::mood as m, array['bad'::mood] as all, ${"bad"}::mood as p`);
      expect(rows).toEqual([{ m: "good", all: "{bad}", p: "bad" }]);
    });
  });

  describe("statements", () => {
    it("counts the rows returned or changed", async () => {
      const insert = sql`insert into note (id) select n from generate_series(100, 104) as n`;
      expect((await db.query(insert)).count).toBe(5);
      expect((await db.query(sql`update note set body = '1' where id < 102`)).count).toBe(2);
      expect((await db.query(sql`select id from note where id >= 103`)).count).toBe(2);
      expect((await db.query(sql`delete from note returning id`)).count).toBe(5);
      expect((await db.query(sql`create table if not exists other (id int)`)).count).toBe(0);
    });

    it("refuses several statements at once", async () => {
      await expect(db.query(sql`select 1; select 2`)).rejects.toMatchObject({ code: "42601" });
    });

    it("reports a statement's error as PostgreSQL does, and goes on", async () => {
      await db.query(sql`insert into note (id) values (1)`);
      await expect(db.query(sql`insert into note (id) values (${1n})`)).rejects.toMatchObject({
        ...{ code: "23505", constraint: "note_pkey", table: "note", severity: "ERROR" },
        message: expect.stringContaining("duplicate key"),
      });
      await expect(db.query(sql`select ${"x"}::int`)).rejects.toMatchObject({ code: "22P02" });
      await expect(db.query(sql`selec 1`)).rejects.toMatchObject({ code: "42601", position: "1" });
      expect((await db.query(sql`delete from note`)).count).toBe(1);
    });
  });

  describe("transactions", () => {
    it("commits what the function did and gives its value", async () => {
      const value = await db.transaction(async (tx) => {
        await tx.query(sql`insert into note (id) values (1)`);
        return "done";
      });
      expect(value).toBe("done");
      expect((await db.query(sql`delete from note where id = 1`)).count).toBe(1);
    });

    it("rolls back when the function throws, and can be used again", async () => {
      const thrown = new Error("no");
      const attempt = db.transaction(async (tx) => {
        await tx.query(sql`insert into note (id) values (2)`);
        throw thrown;
      });
      await expect(attempt).rejects.toBe(thrown);
      expect((await db.query(sql`select id from note where id = 2`)).count).toBe(0);
    });

    it("rolls back when a statement fails, and can be used again", async () => {
      const attempt = db.transaction(async (tx) => {
        await tx.query(sql`insert into note (id) values (3)`);
        await tx.query(sql`select 1 / 0`);
      });
      await expect(attempt).rejects.toMatchObject({ code: "22012" });
      expect((await db.query(sql`select id from note where id = 3`)).count).toBe(0);
      await db.transaction((tx) => tx.query(sql`insert into note (id) values (3)`));
      expect((await db.query(sql`delete from note where id = 3`)).count).toBe(1);
    });

    it("does not pretend to have committed after a failure that the function swallowed", async () => {
      const attempt = db.transaction(async (tx) => {
        await tx.query(sql`insert into note (id) values (4)`);
        await tx.query(sql`select 1 / 0`).catch(() => {});
      });
      await expect(attempt).rejects.toMatchObject({ code: "22012" });
      expect((await db.query(sql`select id from note where id = 4`)).count).toBe(0);
    });

    it("refuses writes when it is read only", async () => {
      const attempt = db.transaction((tx) => tx.query(sql`insert into note (id) values (5)`), { read_only: true });
      await expect(attempt).rejects.toMatchObject({ code: "25006" });
    });

    it("refuses statements after its end", async () => {
      const late = await db.transaction(async (tx) => () => tx.query(sql`select 1`));
      await expect(late()).rejects.toThrow(/has ended/);
    });

    it("keeps what others do out of it", async () => {
      const { others, at_the_time } = await db.transaction(async (tx) => {
        await tx.query(sql`insert into note (id) values (6)`);
        const reading = db.query(sql`select id from note where id = 6`).then(({ count }) => count);
        // A server's other sessions see nothing yet; the embedded database's one session is ours until the end.
        return { others: reading, at_the_time: db.kind === "postgres" ? await reading : 0 };
      });
      expect(at_the_time).toBe(0);
      expect(await others).toBe(db.kind === "postgres" ? 0 : 1);
      expect((await db.query(sql`delete from note where id = 6`)).count).toBe(1);
    });

    it("takes a deferred constraint's refusal at commit for a failure", async () => {
      await db.query(sql`create table child (id int8 references note deferrable initially deferred)`);
      const attempt = db.transaction((tx) => tx.query(sql`insert into child (id) values (999)`));
      await expect(attempt).rejects.toMatchObject({ code: "23503" });
      expect((await db.query(sql`select id from child`)).count).toBe(0);
    });
  });

  describe("giving up", () => {
    const slow = sql`select count(*) as n from generate_series(1, 1500000) as a`;

    it("does not begin when the signal has aborted already", async () => {
      const reason = new Error("stop");
      const options = { signal: AbortSignal.abort(reason) };
      await expect(db.query(sql`select 1`, options)).rejects.toBe(reason);
      await expect(db.transaction((tx) => tx.query(sql`select 1`), options)).rejects.toBe(reason);
    });

    it("rejects a running statement with the signal's reason, and goes on", async () => {
      const control = new AbortController();
      const running = db.query(slow, { signal: control.signal });
      const reason = new Error("enough");
      // Sent by now; whether it runs already does not matter.
      void realClock.sleep(0).then(() => control.abort(reason));
      await expect(running).rejects.toBe(reason);
      expect((await db.query(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    });

    it("rolls back the transaction whose statement was given up", async () => {
      const control = new AbortController();
      const reason = new Error("enough");
      const running = db.transaction(
        async (tx) => {
          await tx.query(sql`insert into note (id) values (7)`);
          void realClock.sleep(0).then(() => control.abort(reason));
          await tx.query(slow);
        },
        { signal: control.signal },
      );
      await expect(running).rejects.toBe(reason);
      expect((await db.query(sql`select id from note where id = 7`)).count).toBe(0);
    });

    it("rolls back when the signal aborts between statements", async () => {
      const control = new AbortController();
      const running = db.transaction(
        async (tx) => {
          await tx.query(sql`insert into note (id) values (8)`);
          control.abort(new Error("between"));
        },
        { signal: control.signal },
      );
      await expect(running).rejects.toThrow("between");
      expect((await db.query(sql`select id from note where id = 8`)).count).toBe(0);
    });
  });

  describe("notifications", () => {
    it("are heard when the transaction that sent them commits, and not before", async () => {
      const heard: string[] = [];
      const second = signal();
      const stop = await db.listen("Some Channel", (payload) => {
        heard.push(payload);
        if (payload === "second") second.resolve();
      });
      await db
        .transaction(async (tx) => {
          await tx.query(sql`select pg_notify('Some Channel', 'never')`);
          throw new Error("rolled back");
        })
        .catch(() => {});
      await db.transaction((tx) => tx.query(sql`select pg_notify(${"Some Channel"}, ${"first"})`));
      await db.query(sql`select pg_notify('Other', 'not mine')`);
      await db.query(sql`select pg_notify('Some Channel', 'second')`);
      await second.promise;
      expect(heard).toEqual(["first", "second"]);
      await stop();
    });

    it("reach everyone who listens until they stop", async () => {
      const a: string[] = [];
      const b: string[] = [];
      const end = signal();
      const stopA = await db.listen("c", (payload) => a.push(payload));
      const stopB = await db.listen("c", (payload) => {
        b.push(payload);
        if (payload === "2") end.resolve();
      });
      await db.query(sql`select pg_notify('c', '1')`);
      const between = signal();
      const stopC = await db.listen("c", (payload) => payload === "between" && between.resolve());
      await db.query(sql`select pg_notify('c', 'between')`);
      await between.promise;
      await stopA();
      await db.query(sql`select pg_notify('c', '2')`);
      await end.promise;
      expect(a).toEqual(["1", "between"]);
      expect(b).toEqual(["1", "between", "2"]);
      await stopB();
      await stopC();
    });
  });

  describe("closing", () => {
    afterAll(() => db.close());

    it("refuses later statements as StoreDown, and may be repeated", async () => {
      await db.close();
      await db.close();
      await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "StoreDown" });
      await expect(db.transaction(async () => {})).rejects.toMatchObject({ code: "StoreDown" });
    });
  });
});
