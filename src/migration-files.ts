/** The migrations of a source, read from the folder beside its code. */
import { readFileSync } from "node:fs";
import type { SourceMigrations } from "./contract.ts";

/** `migrations/0001_NAME.sql` and so on, beside the file whose `import.meta.url` this is; forward only, in this order. */
export function migrationsBeside(url: string, ...names: string[]): SourceMigrations {
  const steps = names.map((name, i) => {
    const file = `./migrations/${String(i + 1).padStart(4, "0")}_${name}.sql`;
    return { n: i + 1, name, sql: readFileSync(new URL(file, url), "utf8") };
  });
  return { steps };
}
