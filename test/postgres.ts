/** Databases for tests: a migrated one in about 25 ms, on the server or embedded, gone when the test file ends. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, cp, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { afterAll, describe, inject } from "vitest";
import { realClock } from "../src/clock.ts";
import type { Db } from "../src/store/db.ts";
import { openEmbedded } from "../src/store/embedded.ts";
import { engineFolder, type Migrations, migrate, readMigrations } from "../src/store/migrate.ts";
import { openPostgres } from "../src/store/postgres.ts";

export interface TestStore {
  db: Db;
  close(): Promise<void>;
}

export interface TestPostgres extends TestStore {
  /** For connections of one's own, which have to be closed before the end. */
  url: string;
}

export interface TestOptions {
  /** Applied after the engine's. */
  migrations?: Migrations[];
  max?: number;
}

const opened: TestStore[] = [];

afterAll(async () => {
  const ends = await Promise.allSettled(opened.map((store) => store.close()));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
});

/** A database of its own on the PostgreSQL server; fails at the end if anybody is still connected to it. */
export async function testDatabase({ migrations = [], max = 10 }: TestOptions = {}): Promise<TestPostgres> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await asAdmin((admin) => admin.query(`create database ${name} template template_tidemark`));
  const url = inject("postgres_url").replace(/postgres$/, name);
  const db = openPostgres(url, { max });
  const close = once(async () => {
    await db.close();
    const left = await asAdmin((admin) => drop(admin, name));
    if (left.length > 0) throw new Error(`connections were left open: ${left.join("; ")}`);
  });
  opened.push({ db, close });
  if (migrations.length > 0) await migrate(db, [await engine(), ...migrations]);
  return { url, db, close };
}

/** The embedded database, migrated, in a directory of its own. */
export async function testEmbedded({
  migrations = [],
  thread = true,
}: TestOptions & { thread?: boolean } = {}): Promise<TestStore & { data: string }> {
  const data = path.join(inject("scratch"), randomUUID());
  await cp(await embeddedTemplate(), data, { recursive: true, mode: constants.COPYFILE_FICLONE });
  const db = await openEmbedded({ data, thread });
  const close = once(async () => {
    await db.close();
    await rm(data, { recursive: true, force: true });
  });
  opened.push({ db, close });
  if (migrations.length > 0) await migrate(db, [await engine(), ...migrations]);
  return { db, data, close };
}

type Open = (options?: TestOptions) => Promise<TestStore>;

/** For `describe.each(stores)("…, on $store", ({ open }) => …)`: each call of `open` gives a new database. */
export const stores: { store: string; open: Open }[] = [
  { store: "PostgreSQL", open: testDatabase },
  { store: "the embedded database", open: testEmbedded },
];

/** The same tests for both drivers. */
export function bothStores(name: string, suite: (open: Open) => void): void {
  describe.each(stores)(`${name}, on $store`, ({ open }) => suite(open));
}

function engine(): Promise<Migrations> {
  return readMigrations("tidemark", engineFolder);
}

/** Built by the first that needs it, because it takes seconds: copying it and opening the copy takes one. */
async function embeddedTemplate(): Promise<string> {
  const template = path.join(inject("scratch"), "embedded-template");
  const building = `${template}.building`;
  for (;;) {
    if (await exists(template)) return template;
    const mine = await mkdir(building).then(
      () => true,
      () => false,
    );
    if (!mine) {
      await realClock.sleep(50);
      continue;
    }
    try {
      const db = await openEmbedded({ data: building, thread: false });
      await migrate(db, [await engine()]).finally(() => db.close());
      await rename(building, template);
    } finally {
      await rm(building, { recursive: true, force: true });
    }
  }
}

/** Who is still connected a moment after closing; the database is gone in any case. */
async function drop(admin: pg.Client, name: string): Promise<string[]> {
  let left: string[] = [];
  // A server process ends a little after its connection.
  for (let tries = 0; tries < 100; tries++) {
    const { rows } = await admin.query(
      "select application_name || ': ' || query as who from pg_stat_activity where datname = $1",
      [name],
    );
    left = rows.map(({ who }) => who);
    if (left.length === 0) break;
    await realClock.sleep(20);
  }
  await admin.query(`drop database ${name} with (force)`);
  return left;
}

async function asAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: inject("postgres_url") });
  await admin.connect();
  return work(admin).finally(() => admin.end());
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
