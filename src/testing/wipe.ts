/** Empties a database between two runs, without migrating it again. */
import { raw } from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

const engine = [
  ...["resource", "due", "hold", "lane", "upstream", "edge", "message", "tidemark", "skip", "feed", "worker"],
  ...["pull", "pull_count", "freshness", "progress", "budget", "flight", "credential", "validator"],
].map((name) => `tidemark.${name}`);

/** All that the engine keeps and the tables given, with their numbers beginning anew. */
export async function wipe(db: Queryable, tables: { name: string }[] = []): Promise<void> {
  const names = [...engine, ...new Set(tables.map((t) => t.name))];
  await db.query(raw(`truncate ${names.join(", ")} restart identity cascade`));
}
