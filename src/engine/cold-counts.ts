/** How many resources of each source are followed, parked, paused or gone: exact while they are few, from a sample when they are many. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

/** Counted exactly up to here. */
const COUNTED_MOST = 2_000;

/** A part of a table, by whole pages. */
export const sampled = (percent: number): Sql =>
  percent < 100 ? raw(`tablesample system (${percent.toFixed(4)})`) : empty;

export interface ColdCount {
  source: string;
  followed: number;
  parked: number;
  paused: number;
  gone: number;
  messages_parked: number;
}

/** What is rare or chosen by people, each from its own partial index and up to the bound. */
export async function countCold(db: Queryable, sources: string[]): Promise<ColdCount[]> {
  const { rows } = await db.query<ColdCount>(sql`
    with gone as materialized (
      select source from tidemark.resource where gone_at is not null limit ${COUNTED_MOST}
    ), held as materialized (
      select r.source
        from (select resource_id from tidemark.message where parked_at is not null limit ${COUNTED_MOST}) m
        join tidemark.resource r on r.resource_id = m.resource_id
    )
    select s.source,
           (select count(*) from (select 1 from tidemark.resource r
             where r.source = s.source and r.followed_at is not null limit ${COUNTED_MOST}) c)::float8 as followed,
           (select count(*) from (select 1 from tidemark.resource r
             where r.source = s.source and r.parked_at is not null limit ${COUNTED_MOST}) c)::float8 as parked,
           (select count(*) from (select 1 from tidemark.resource r
             where r.source = s.source and r.paused_at is not null limit ${COUNTED_MOST}) c)::float8 as paused,
           (select count(*) from gone c where c.source = s.source)::float8 as gone,
           (select count(*) from held c where c.source = s.source)::float8 as messages_parked
      from unnest(${sources}::text[]) as s(source)`);
  return rows;
}

/** The same from a sample of the wide table, for what there is too much of. */
export async function sampleCold(db: Queryable, percent: number): Promise<ColdCount[]> {
  const { rows } = await db.query<ColdCount>(sql`
    select r.source, count(r.followed_at) * 100 / ${percent}::float8 as followed, count(r.parked_at) * 100 / ${percent}::float8 as parked,
           count(r.paused_at) * 100 / ${percent}::float8 as paused, count(r.gone_at) * 100 / ${percent}::float8 as gone,
           0::float8 as messages_parked
      from tidemark.resource r ${sampled(percent)} group by r.source`);
  return rows;
}

const capped_fields = ["followed", "parked", "paused", "gone"] as const;

/** Which counts reached the bound. The gone are counted over all sources together. */
function isCapped(all: ColdCount[], row: ColdCount, field: (typeof capped_fields)[number]): boolean {
  const count = field === "gone" ? all.reduce((sum, one) => sum + one.gone, 0) : row[field];
  return count >= COUNTED_MOST;
}

/** Exact counts where they stayed below the bound, the sample's where they reached it. */
export function mergeCold(exact: ColdCount[], sample: ColdCount[]): ColdCount[] {
  return exact.map((row) => {
    const guess = sample.find((one) => one.source === row.source);
    const merged = { ...row };
    for (const field of capped_fields)
      if (guess && isCapped(exact, row, field)) merged[field] = Math.max(row[field], Math.round(guess[field]));
    return merged;
  });
}

/** What is counted by source. */
export async function readCold(db: Queryable, sources: string[], percent: number): Promise<ColdCount[]> {
  const exact = await countCold(db, sources);
  const capped = exact.some((row) => capped_fields.some((field) => isCapped(exact, row, field)));
  return capped ? mergeCold(exact, await sampleCold(db, percent)) : exact;
}
