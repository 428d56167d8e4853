/** Lost connections are ridden out: the next statement works, and listeners hear again. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import { TidemarkError } from "../../src/errors.ts";
import type { Db } from "../../src/store/db.ts";
import { openStore } from "../../src/store/open.ts";
import { isConnectionFailure, openPostgres } from "../../src/store/postgres.ts";
import { testDatabase } from "../postgres.ts";
import { type PostgresServer, startPostgres } from "../postgres-server.ts";

/** Gathers what is heard, and waits for more. */
function ear() {
  const heard: string[] = [];
  let wake = () => {};
  return {
    heard,
    hear: (payload: string) => {
      heard.push(payload);
      wake();
    },
    async until(done: () => boolean): Promise<void> {
      while (!done()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function killAll(db: Db): Promise<void> {
  await db.query(sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
  `);
}

describe("a connection that is lost", () => {
  let url: string;
  let other: Db;
  beforeAll(async () => {
    ({ url } = await testDatabase());
    other = openPostgres(url, { max: 1 });
  });
  afterAll(() => other.close());

  it("while idle costs nothing", async () => {
    const db = openPostgres(url, { max: 3 });
    await Promise.all([1, 2, 3].map(() => db.query(sql`select pg_sleep(0.01)`)));
    await killAll(other);
    // Their ends have been sent before the answer to this was; nothing is left that could still be handed out.
    await other.query(sql`select 1`);
    await realClock.sleep(0);
    const results = await Promise.allSettled([1, 2, 3].map(() => db.query(sql`select 1`)));
    for (const end of results) {
      if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "StoreDown", retry: "later" });
    }
    expect((await db.query(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    await db.close();
  });

  it("in a transaction is StoreDown with its cause, and nothing was written", async () => {
    const db = openPostgres(url, { max: 1 });
    await db.query(sql`create table if not exists kept (id int)`);
    const attempt = db.transaction(async (tx) => {
      await tx.query(sql`insert into kept values (1)`);
      await killAll(other);
      await tx.query(sql`insert into kept values (2)`);
    });
    const error = await attempt.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TidemarkError);
    expect(error).toMatchObject({ code: "StoreDown", cause: expect.any(Error) });
    expect(isConnectionFailure(error)).toBe(true);
    expect((await db.query(sql`select id from kept`)).rows).toEqual([]);
    await db.close();
  });

  it("while a transaction does something else does not end the process", async () => {
    const db = openPostgres(url, { max: 1 });
    const attempt = db.transaction(async () => {
      await killAll(other);
      await realClock.sleep(0);
      return "unaware";
    });
    await expect(attempt).rejects.toMatchObject({ code: "StoreDown" });
    await db.close();
  });

  it("is not confused with a statement's own error", async () => {
    const error = await other.query(sql`select 1 / 0`).catch((thrown: unknown) => thrown);
    expect(isConnectionFailure(error)).toBe(false);
  });

  it("while listening is made anew, and the listener is told that it may have missed something", async () => {
    const db = openPostgres(url);
    const { heard, hear, until } = ear();
    await db.listen("work", hear);
    await killAll(other);
    await until(() => heard.includes(""));
    await other.query(sql`select pg_notify('work', 'after')`);
    await until(() => heard.includes("after"));
    expect(heard).toEqual(["", "after"]);
    await db.close();
  });

  it("when all are in use is StoreDown, not an endless wait", async () => {
    const db = openPostgres(url, { max: 1 });
    const attempt = db.transaction(async () => db.query(sql`select 1`));
    await expect(attempt).rejects.toMatchObject({ code: "StoreDown" });
    await db.close();
  });

  it("gives up waiting for a free one when the signal aborts", async () => {
    const db = openPostgres(url, { max: 1 });
    const control = new AbortController();
    await db.transaction(async () => {
      const waiting = db.query(sql`select 1`, { signal: control.signal });
      control.abort(new Error("not waiting"));
      await expect(waiting).rejects.toThrow("not waiting");
    });
    expect((await db.query(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
    await db.close();
  });

  it("by giving up a statement stops it on the server too", async () => {
    const db = openPostgres(url, { max: 1 });
    const control = new AbortController();
    const running = db.query(sql`select pg_sleep(600) as "given up"`, { signal: control.signal });
    const here = sql`select pid from pg_stat_activity where query like '%given up%' and state = 'active' and pid <> pg_backend_pid()`;
    while ((await other.query(here)).count === 0);
    control.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    while ((await other.query(here)).count > 0);
    await db.close();
  });
});

describe("a server that restarts", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  it("is StoreDown meanwhile, then works again, and listeners hear again", async () => {
    const db = openPostgres(server.url);
    const { heard, hear, until } = ear();
    await db.listen("work", hear);
    await db.query(sql`select 1`);
    await server.stop();
    await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "StoreDown" });
    await expect(db.transaction(async () => {})).rejects.toMatchObject({ code: "StoreDown" });
    await server.start();
    await until(() => heard.includes(""));
    await db.query(sql`select pg_notify('work', 'after')`);
    await until(() => heard.includes("after"));
    expect(heard).toEqual(["", "after"]);
    await db.close();
  });

  it("can be closed while it is away", async () => {
    const db = openPostgres(server.url);
    await db.listen("work", () => {});
    await server.stop();
    await db.close();
    await server.start();
  });
});

describe("opening", () => {
  it("is StoreDown when nothing answers there", async () => {
    const attempt = openStore({ database_url: "postgresql://nobody@127.0.0.1:1/none", data: "memory://" });
    await expect(attempt).rejects.toMatchObject({ code: "StoreDown" });
    const db = openPostgres("postgresql://nobody@127.0.0.1:1/none");
    await expect(db.listen("work", () => {})).rejects.toMatchObject({ code: "StoreDown" });
    await db.close();
  });

  it("passes on what the server says about a database that is not there", async () => {
    const { url } = await testDatabase();
    const attempt = openStore({ database_url: `${url}_missing`, data: "memory://" });
    await expect(attempt).rejects.toMatchObject({ code: "3D000" });
  });

  it("takes PostgreSQL for a url", async () => {
    const { url } = await testDatabase();
    const db = await openStore({ database_url: url, data: "memory://", application_name: "some test" });
    expect(db.kind).toBe("postgres");
    const { rows } = await db.query(sql`select current_setting('application_name') as name`);
    expect(rows).toEqual([{ name: "some test" }]);
    await db.close();
  });
});
