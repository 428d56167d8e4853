/** An append-only feed: entries are stamped in the order in which they become visible, strictly increasing by microseconds. */
import sql, { raw, Sql } from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { Tx } from "../store/db.ts";
import { lastByKey, type Row, type Table, unnest } from "./table.ts";

export interface Publish {
  feed: Feed;
  entries: Row[];
}

export class Feed {
  readonly name: string;
  readonly table: Table;
  /** The column that takes the stamp; not one of the table's declared columns. */
  readonly at: string;

  constructor(name: string, table: Table, at = "published_at") {
    if (table.columns[at])
      throw new TidemarkError("BatchInvalid", `Feed ${name} stamps "${at}" itself: do not declare it as a column.`);
    this.name = name;
    this.table = table;
    this.at = at;
  }

  entries(entries: Row[]): Publish {
    return { feed: this, entries };
  }
}

export function feed(name: string, table: Table, at?: string): Feed {
  return new Feed(name, table, at);
}

/**
 * Publishes what is not published yet; an entry that is there keeps its stamp for ever.
 *
 * The feed's row is locked until commit and the stamp is taken in a new statement behind that lock. So whoever commits
 * later has the later stamp, and a reader that resumes from the last entry it saw misses nothing. Entries are numbered as they were
 * given, before it is looked which of them are new: a join may turn them about.
 */
export async function publish(tx: Tx, f: Feed, given: Row[]): Promise<number> {
  const rows = inGivenOrder(f.table, given);
  if (rows.length === 0) return 0;
  await tx.query(
    sql`insert into tidemark.feed (feed, last_at) values (${f.name}, '-infinity') on conflict (feed) do nothing`,
  );
  await tx.query(sql`select last_at from tidemark.feed where feed = ${f.name} for update`);
  const columns = Object.keys(f.table.columns);
  const names = columns.join(", ");
  const matches = f.table.key.map((c) => `t.${c} = u.${c}`).join(" and ");
  const { rows: written } = await tx.query<{ n: number }>(sql`
    with base as materialized (
      select greatest(tidemark.now(), last_at + interval '1 microsecond') as at from tidemark.feed where feed = ${f.name}
    ), fresh as materialized (
      select ${raw(columns.map((c) => `u.${c}`).join(", "))}, row_number() over (order by u.tidemark_no) as tidemark_order
        from (select ${raw(columns.map((c) => `i.${c}`).join(", "))}, row_number() over () as tidemark_no
                from (${unnest(f.table, columns, rows)}) i(${raw(names)})) u
       where not exists (select 1 from ${raw(f.table.name)} t where ${raw(matches)})
    ), stamped as (
      insert into ${raw(f.table.name)} (${raw(names)}, ${raw(f.at)})
      select ${raw(columns.map((c) => `fresh.${c}`).join(", "))}, base.at + (fresh.tidemark_order - 1) * interval '1 microsecond'
        from fresh, base
      returning ${raw(f.at)} as at
    ), moved as (
      update tidemark.feed set last_at = (select max(at) from stamped)
       where feed = ${f.name} and exists (select 1 from stamped)
    )
    select count(at)::int as n from stamped`);
  return written[0]?.n ?? 0;
}

/** One row a key, in the order given: the order of entries within a batch is the source's to choose. */
function inGivenOrder(t: Table, given: Row[]): Row[] {
  const kept = new Set(lastByKey(t, given));
  return given.filter((row) => kept.has(row));
}

/** The entries from a moment on, oldest first: what a reader of the feed asks for. */
export function readFeed(f: Feed, columns: string[], since: string | null, most: number): Sql {
  const names = columns.map((c) => `t.${c}`).join(", ");
  return new Sql(
    [
      `select ${names}, t.${f.at} from ${f.table.name} t where t.${f.at} >= `,
      `::timestamptz order by t.${f.at} limit `,
      "",
    ],
    [since ?? "-infinity", most],
  );
}
