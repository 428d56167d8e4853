/** Brings the schema up to date, once each step, however many processes try at the same time. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import sql from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { Db, Queryable, ScriptTx, Tx } from "./db.ts";

export interface Step {
  n: number;
  name: string;
  sql: string;
}

/** The numbered steps of the engine ("tidemark") or of one source; numbers begin at 1 and have no gaps. */
export interface Migrations {
  owner: string;
  steps: Step[];
}

export interface AppliedStep {
  owner: string;
  n: number;
  name: string;
}

/** Where the engine's own steps are, seen from src/store as from dist/store. */
export const engineFolder = new URL("../../migrations/", import.meta.url);

/** Reads `NNNN_name.sql` files. */
export async function readMigrations(owner: string, folder: URL): Promise<Migrations> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const steps = files.map(async (file) => {
    const named = /^(\d{4})_(.+)\.sql$/.exec(file);
    if (named === null) throw invalid(owner, `${file} is not named like 0001_name.sql`);
    const text = await readFile(new URL(encodeURIComponent(file), slashed(folder)), "utf8");
    return { n: Number(named[1]), name: named[2]!, sql: text };
  });
  return { owner, steps: await Promise.all(steps) };
}

/** Applies what is missing, in order, and returns it; refuses a database that is newer or differs. */
export async function migrate(
  db: Db,
  migrations: Migrations[],
  { onStep }: { onStep?: (step: AppliedStep) => void } = {},
): Promise<AppliedStep[]> {
  requireOrder(migrations);
  await createTable(db);
  requireKnown(migrations, await readApplied(db));
  const done: AppliedStep[] = [];
  for (const { owner, steps } of migrations) {
    for (const step of steps) {
      if (!(await apply(db, owner, step))) continue;
      const applied = { owner, n: step.n, name: step.name };
      done.push(applied);
      onStep?.(applied);
    }
  }
  return done;
}

/** Refuses to run on a schema that is not exactly the one these migrations make. */
export async function checkMigrated(db: Db, migrations: Migrations[]): Promise<void> {
  requireOrder(migrations);
  const applied = (await hasTable(db)) ? await readApplied(db) : [];
  requireKnown(migrations, applied);
  const there = new Set(applied.map(({ owner, n }) => `${owner} ${n}`));
  for (const { owner, steps } of migrations) {
    const missing = steps.filter(({ n }) => !there.has(`${owner} ${n}`));
    if (missing.length === 0) continue;
    const which = missing.map(({ n, name }) => `${n} (${name})`).join(", ");
    throw new TidemarkError(
      "SchemaTooOld",
      `The database lacks migration ${which} of ${owner}: run \`tidemark migrate\`.`,
      { details: { owner, missing: missing.map(({ n }) => n) } },
    );
  }
}

interface Row {
  owner: string;
  n: number;
  name: string;
  checksum: string;
}

/** Any number that nothing else of ours takes: "tide" in ASCII. Held only to the end of a transaction, for poolers. */
const lock_key = 0x74696465;

async function takeLock(tx: Tx): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${lock_key}::bigint)`);
}

async function hasTable(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ there: boolean }>(
    sql`select to_regclass('tidemark.migration') is not null as there`,
  );
  return rows[0]?.there ?? false;
}

async function createTable(db: Db): Promise<void> {
  // Whoever may not create schemas can still run on one that exists.
  if (await hasTable(db)) return;
  await db.transaction(async (tx) => {
    // First of all: two that create the same schema at once fail, `if not exists` or not.
    await takeLock(tx);
    await tx.query(sql`create schema if not exists tidemark`);
    await tx.query(sql`
      create table if not exists tidemark.migration (
        owner text,
        n int,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now(),
        primary key (owner, n)
      )
    `);
    await tx.query(sql`
      comment on table tidemark.migration is 'Which steps made this schema, with the checksum of their text.'
    `);
  });
}

async function readApplied(db: Queryable): Promise<Row[]> {
  const { rows } = await db.query<Row>(sql`select owner, n, name, checksum from tidemark.migration order by owner, n`);
  return rows;
}

/** False when somebody else was faster. */
async function apply(db: Db, owner: string, step: Step): Promise<boolean> {
  const seen = await readStep(db, owner, step);
  if (seen) return false;
  return db.transaction(async (tx) => {
    await takeLock(tx);
    // In a statement after the lock, whose snapshot sees what its last holder committed.
    if (await readStep(tx, owner, step)) return false;
    await scripted(tx).script(step.sql);
    await tx.query(sql`
      insert into tidemark.migration (owner, n, name, checksum)
      values (${owner}, ${step.n}, ${step.name}, ${checksum(step.sql)})
    `);
    return true;
  });
}

async function readStep(db: Queryable, owner: string, step: Step): Promise<boolean> {
  const { rows } = await db.query<{ checksum: string }>(
    sql`select checksum from tidemark.migration where owner = ${owner} and n = ${step.n}`,
  );
  const [row] = rows;
  if (row && row.checksum !== checksum(step.sql)) throw edited(owner, step);
  return row !== undefined;
}

function scripted(tx: Tx): ScriptTx {
  if (!("script" in tx)) throw new Error("this transaction cannot run a script");
  return tx as ScriptTx;
}

/** The same for a checkout with other line ends. */
export function checksum(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}

/** Steps of owners that are not given here are somebody else's business: a source that is not loaded keeps its tables. */
function requireKnown(migrations: Migrations[], applied: Row[]): void {
  for (const { owner, steps } of migrations) {
    for (const row of applied.filter((one) => one.owner === owner)) {
      const step = steps.find(({ n }) => n === row.n);
      if (step === undefined) {
        const sentence = `The database has migration ${row.n} (${row.name}) of ${owner}, which this release does not know.`;
        throw new TidemarkError("SchemaTooNew", `${sentence} Run the newer release.`, { details: { owner, n: row.n } });
      }
      if (checksum(step.sql) !== row.checksum) throw edited(owner, step);
    }
  }
}

function requireOrder(migrations: Migrations[]): void {
  const owners = new Set<string>();
  for (const { owner, steps } of migrations) {
    if (owners.has(owner)) throw invalid(owner, "its migrations are given twice");
    owners.add(owner);
    steps.forEach(({ n }, at) => {
      if (n !== at + 1) throw invalid(owner, `number ${at + 1} is expected where ${n} is found`);
    });
  }
}

function edited(owner: string, { n, name }: Step): TidemarkError {
  const sentence = `Migration ${n} (${name}) of ${owner} was edited after it had been applied.`;
  return new TidemarkError("MigrationEdited", `${sentence} Restore it and add a new one.`, { details: { owner, n } });
}

function invalid(owner: string, what: string): TidemarkError {
  return new TidemarkError("ConfigInvalid", `The migrations of ${owner} are not in order: ${what}.`, {
    details: { owner },
  });
}

function slashed(folder: URL): URL {
  return folder.href.endsWith("/") ? folder : new URL(`${folder.href}/`);
}
