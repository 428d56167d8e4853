/** `tidemark migrate`: bring the schema up to date. */
import type { Command } from "commander";
import { type AppliedStep, migrate } from "../store/migrate.ts";
import { openStore } from "../store/open.ts";
import { migrationsOf } from "./migrations.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { type DataOptions, print, type Shell } from "./shell.ts";

export function addMigrate(program: Command, shell: Shell): void {
  const command = program
    .command("migrate")
    .summary("bring the database's schema up to date")
    .description(
      "Applies the migrations that are missing, under a lock, so that any number may try at once. The release before may keep running.",
    );
  examples(jsonOption(sourceOption(command)), [
    ["DATABASE_URL=postgresql://… tidemark migrate", "before a new release's workers start"],
  ]).action(async (options: DataOptions) => {
    const { config, sources } = await shell.settings(options.source ?? []);
    const db = await openStore({
      database_url: config.database_url ?? undefined,
      data: config.data,
      application_name: "tidemark migrate",
      max: 2,
    });
    try {
      const applied = await migrate(db, await migrationsOf(sources));
      print(shell, options, { applied }, ({ applied: steps }) => words(steps));
    } finally {
      await db.close();
    }
  });
}

function words(applied: AppliedStep[]): string[] {
  if (applied.length === 0) return ["The schema is up to date."];
  return applied.map(({ owner, n, name }) => `Applied migration ${n} (${name}) of ${owner}.`);
}
