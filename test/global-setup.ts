/** Before all tests: one PostgreSQL server with a migrated template; after them: nothing is left. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { openPostgres } from "../src/store/postgres.ts";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The server's own database, from which others are created. */
    postgres_url: string;
    /** A directory for this run, removed at its end. */
    scratch: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scratch = await mkdtemp(path.join(os.tmpdir(), "tidemark-tests-"));
  const server = await startPostgres();
  const teardown = async () => {
    await server.remove();
    await rm(scratch, { recursive: true, force: true });
  };
  try {
    await buildTemplate(server.url);
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide("postgres_url", server.url);
  project.provide("scratch", scratch);
  return teardown;
}

async function buildTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query("create database template_tidemark");
  await admin.end();
  const db = openPostgres(url.replace(/postgres$/, "template_tidemark"));
  await migrate(db, [await readMigrations("tidemark", engineFolder)]).finally(() => db.close());
}
