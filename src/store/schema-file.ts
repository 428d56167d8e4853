/** The text of schema.sql, which shows the engine's schema and every source's at one glance. */
import { readdir } from "node:fs/promises";
import type { Db } from "./db.ts";
import { dumpSchema } from "./dump.ts";
import { engineFolder, type Migrations, migrate, readMigrations } from "./migrate.ts";

const sourcesFolder = new URL("../sources/", import.meta.url);

const heading = `-- The whole schema, as the migrations make it: read this, and change those. \`npm run schema\` writes it anew.
`;

/** The engine's migrations and those that lie in a source's \`migrations\` folder; each owner has the schema of its name. */
export async function readAllMigrations(): Promise<Migrations[]> {
  const all = [await readMigrations("tidemark", engineFolder)];
  const sources = await readdir(sourcesFolder, { withFileTypes: true });
  for (const { name } of sources.filter((entry) => entry.isDirectory()).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const folder = new URL(`${name}/migrations/`, sourcesFolder);
    const files = await readdir(folder).catch(() => []);
    if (files.length > 0) all.push(await readMigrations(name, folder));
  }
  return all;
}

/** Migrates `db` and describes what came of it. */
export async function schemaText(db: Db): Promise<string> {
  const migrations = await readAllMigrations();
  await migrate(db, migrations);
  const dumped = await dumpSchema(
    db,
    migrations.map(({ owner }) => owner.replaceAll("-", "_")),
  );
  return `${heading}\n${dumped}`;
}
