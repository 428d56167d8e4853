/** Makes what searches find anew from what is stored, without a call, some pages at a time. */
import sql from "sql-template-tag";
import { type Db, TidemarkError } from "tidemark";

const PAGES_AT_ONCE = 500;

export async function rebuild(db: Db, part: string | null): Promise<{ rows: number; next: string | null }> {
  if (part !== null && !/^\d{1,18}$/.test(part))
    throw new TidemarkError("InputInvalid", `"${part}" is no part of the web's pages.`);
  const { rows } = await db.query<{ page_id: bigint }>(
    sql`select page_id from web.guestbook where page_id > ${part ?? "0"}::bigint order by page_id limit ${PAGES_AT_ONCE}::int`,
  );
  const ids = rows.map((row) => row.page_id);
  const { rows: made } = await db.query<{ written: number }>(sql`select web.index_pages(${ids}::bigint[]) as written`);
  return { rows: made[0]!.written, next: ids.length < PAGES_AT_ONCE ? null : ids.at(-1)!.toString() };
}
