/** Opens whichever database the settings name. */
import sql from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { Db, Queryable } from "./db.ts";
import { openEmbedded } from "./embedded.ts";
import { openPostgres } from "./postgres.ts";

export interface StoreOptions {
  /** A PostgreSQL server; none means the embedded database. */
  database_url?: string | undefined;
  /** The data directory, or "memory://". */
  data: string;
  application_name?: string;
  max?: number;
}

const oldest_version = 15;

export async function openStore({ database_url, data, ...options }: StoreOptions): Promise<Db> {
  if (database_url === undefined || database_url === "") return openEmbedded({ data });
  const db = openPostgres(database_url, options);
  try {
    await requireVersion(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

/** SQL of ours is what all of these know. */
export async function requireVersion(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ version: number }>(
    sql`select current_setting('server_version_num')::int / 10000 as version`,
  );
  const version = rows[0]?.version ?? 0;
  if (version >= oldest_version) return;
  throw new TidemarkError(
    "ConfigInvalid",
    `DATABASE_URL names a PostgreSQL ${version}; Tidemark needs ${oldest_version} or newer.`,
    { details: { version } },
  );
}
