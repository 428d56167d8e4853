/** The row of a package, made anew from its versions whenever one of them changed, in the same commit. */
import sql, { type Sql } from "sql-template-tag";
import { together } from "tidemark";
import { wordsOf } from "./package-id.ts";

/** A word as it stands in a tsvector or a tsquery. */
export const quoted = (word: string): string => `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/** A package, and the last of the events just handled; its id is spelt as the newest event that is no deletion spells it. */
export interface PackageEvent {
  feed_id: bigint;
  lower_id: string;
  resource_id: bigint;
  id: string;
  /** When it was spelt like this; 0 where only deletions were handled. */
  id_ticks: bigint;
  ticks: bigint;
}

/** The newest listed version that such a client sees; by index, whatever is known of the table. */
const top = (condition: Sql): Sql => sql`
  (select v.version_key from nuget.version v
    where v.feed_id = g.feed_id and v.lower_id = g.lower_id and not v.deleted and v.listed and ${condition}
    order by v.sort_key desc limit 1)`;

const wordsText = ({ id }: PackageEvent): string =>
  wordsOf(id)
    .map((word) => quoted(`i/${word}`))
    .join(" ");

/** One statement for the packages of all pulls that commit together: their statements one by one were a round trip and a plan each. */
export const packageRow = together<PackageEvent>(async (tx, all) => {
  await tx.query(sql`
    insert into nuget.package as p (feed_id, lower_id, resource_id, id, id_ticks, ticks, stable_key, any_key, stable2_key, any2_key,
                                    search)
    select g.feed_id, g.lower_id, g.resource_id, n.id, n.id_ticks, greatest(g.ticks, o.ticks),
           k.stable_key, k.any_key, k.stable2_key, k.any2_key,
           n.words || array_to_tsvector(array(
               select 't/' || l from unnest(tsvector_to_array(to_tsvector('simple', concat_ws(' ', v.details ->> 'title',
                 (select string_agg(left(t, 100), ' ') from jsonb_array_elements_text(v.details -> 'tags') t))))) l))
             || array_to_tsvector(array(select distinct 'y/' || lower(t) from unnest(v.package_types) t))
             || strip(to_tsvector('english', concat_ws(' ', v.details ->> 'summary', left(v.details ->> 'description', 4000),
                                                       v.details ->> 'authors')))
      from unnest(${all.map((p) => p.feed_id)}::bigint[], ${all.map((p) => p.lower_id)}::text[], ${all.map((p) => p.resource_id)}::bigint[],
                  ${all.map((p) => p.id)}::text[], ${all.map((p) => p.id_ticks)}::bigint[], ${all.map((p) => p.ticks)}::bigint[],
                  ${all.map(wordsText)}::text[])
           as g(feed_id, lower_id, resource_id, id, id_ticks, ticks, words)
     cross join lateral (
       select ${top(sql`not v.prerelease and not v.semver2`)} as stable_key, ${top(sql`not v.semver2`)} as any_key,
              ${top(sql`not v.prerelease`)} as stable2_key, ${top(sql`true`)} as any2_key) k
      left join lateral (
       select v.package_types, v.details from nuget.version v
        where v.feed_id = g.feed_id and v.lower_id = g.lower_id and v.version_key = k.any2_key limit 1) v on true
      left join lateral (
       select o.id, o.id_ticks, o.ticks, o.search from nuget.package o
        where o.feed_id = g.feed_id and o.lower_id = g.lower_id limit 1) o on true
     cross join lateral (
       select case when o.id_ticks > g.id_ticks then o.id else g.id end as id, greatest(o.id_ticks, g.id_ticks) as id_ticks,
              case when o.id_ticks > g.id_ticks
                   then array_to_tsvector(array(select l from unnest(tsvector_to_array(o.search)) l where starts_with(l, 'i/')))
                   else g.words::tsvector end as words) n
    on conflict (feed_id, lower_id) do update
       set id = excluded.id, id_ticks = excluded.id_ticks, ticks = excluded.ticks, stable_key = excluded.stable_key, any_key = excluded.any_key,
           stable2_key = excluded.stable2_key, any2_key = excluded.any2_key, search = excluded.search`);
});
