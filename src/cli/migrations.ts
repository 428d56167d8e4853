/** All migrations that a process with these sources needs: the engine's and each source's. */
import type { Source } from "../contract.ts";
import { engineFolder, type Migrations, readMigrations } from "../store/migrate.ts";

export async function migrationsOf(sources: readonly Source[]): Promise<Migrations[]> {
  const own = sources.flatMap(({ name, migrations }) => (migrations ? [{ owner: name, steps: migrations.steps }] : []));
  return [await readMigrations("tidemark", engineFolder), ...own];
}
