/** The row of a package, made anew from its versions whenever one of them changed, in the same commit. */
import sql, { type Sql } from "sql-template-tag";
import type { Tx } from "tidemark";
import { wordsOf } from "./package-id.ts";

/** A word as it stands in a tsvector or a tsquery. */
export const quoted = (word: string): string => `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

export interface PackageKey {
  feed_id: bigint;
  lower_id: string;
  resource_id: bigint;
}

/** `newest` is the last event of those just handled: an id is spelt as its newest event spells it. */
export async function writePackage(
  tx: Tx,
  { feed_id, lower_id, resource_id }: PackageKey,
  newest: { id: string; ticks: bigint },
): Promise<void> {
  const top = (condition: Sql) => sql`
    (select v.version_key from nuget.version v
      where v.feed_id = ${feed_id}::bigint and v.lower_id = ${lower_id} and not v.deleted and v.listed and ${condition}
      order by v.sort_key desc limit 1)`;
  const words = wordsOf(newest.id).map((word, n) => `${quoted(word)}:${n + 1}A`);
  await tx.query(sql`
    insert into nuget.package as p (feed_id, lower_id, resource_id, id, id_ticks, ticks, stable_key, any_key, stable2_key, any2_key,
                                    package_types, search)
    select ${feed_id}::bigint, ${lower_id}, ${resource_id}::bigint, n.id, n.id_ticks, greatest(${newest.ticks}::bigint, o.ticks),
           k.stable_key, k.any_key, k.stable2_key, k.any2_key, coalesce(v.package_types, '{}'),
           n.words || setweight(to_tsvector('simple', concat_ws(' ', v.details ->> 'title',
               (select string_agg(left(g, 100), ' ') from jsonb_array_elements_text(v.details -> 'tags') g))), 'B')
             || setweight(to_tsvector('english', concat_ws(' ', v.details ->> 'summary', left(v.details ->> 'description', 4000),
                                                           v.details ->> 'authors')), 'C')
      from (select ${top(sql`not v.prerelease and not v.semver2`)} as stable_key, ${top(sql`not v.semver2`)} as any_key,
                   ${top(sql`not v.prerelease`)} as stable2_key, ${top(sql`true`)} as any2_key) k
      left join nuget.version v on v.feed_id = ${feed_id}::bigint and v.lower_id = ${lower_id} and v.version_key = k.any2_key
      left join nuget.package o on o.feed_id = ${feed_id}::bigint and o.lower_id = ${lower_id}
     cross join lateral (
       select case when o.id_ticks > ${newest.ticks}::bigint then o.id else ${newest.id} end as id,
              greatest(o.id_ticks, ${newest.ticks}::bigint) as id_ticks,
              case when o.id_ticks > ${newest.ticks}::bigint then ts_filter(o.search, '{a}') else ${words.join(" ")}::tsvector end as words) n
    on conflict (feed_id, lower_id) do update
       set id = excluded.id, id_ticks = excluded.id_ticks, ticks = excluded.ticks, stable_key = excluded.stable_key, any_key = excluded.any_key,
           stable2_key = excluded.stable2_key, any2_key = excluded.any2_key, package_types = excluded.package_types, search = excluded.search`);
}
