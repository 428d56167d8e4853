/** The row of a package, made anew from its versions whenever one of them changed, in the same commit. */
import sql, { type Sql } from "sql-template-tag";
import type { Tx } from "tidemark";
import { wordsOf } from "./package-id.ts";

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
  await tx.query(sql`
    insert into nuget.package as p (feed_id, lower_id, resource_id, id, id_ticks, ticks, stable_key, any_key, stable2_key, any2_key,
                                    package_types, id_words, tag_words, title, about)
    select ${feed_id}::bigint, ${lower_id}, ${resource_id}::bigint, ${newest.id}, ${newest.ticks}::bigint, ${newest.ticks}::bigint,
           k.stable_key, k.any_key, k.stable2_key, k.any2_key, coalesce(v.package_types, '{}'), ${wordsOf(newest.id)}::text[],
           array(select distinct left(lower(t), 100) from jsonb_array_elements_text(v.details -> 'tags') t where t <> ''),
           coalesce(v.details ->> 'title', ''),
           concat_ws(' ', v.details ->> 'summary', left(v.details ->> 'description', 4000), v.details ->> 'authors')
      from (select ${top(sql`not v.prerelease and not v.semver2`)} as stable_key, ${top(sql`not v.semver2`)} as any_key,
                   ${top(sql`not v.prerelease`)} as stable2_key, ${top(sql`true`)} as any2_key) k
      left join nuget.version v on v.feed_id = ${feed_id}::bigint and v.lower_id = ${lower_id} and v.version_key = k.any2_key
    on conflict (feed_id, lower_id) do update
       set id = case when excluded.id_ticks >= p.id_ticks then excluded.id else p.id end,
           id_words = case when excluded.id_ticks >= p.id_ticks then excluded.id_words else p.id_words end,
           id_ticks = greatest(excluded.id_ticks, p.id_ticks), ticks = greatest(excluded.ticks, p.ticks),
           stable_key = excluded.stable_key, any_key = excluded.any_key, stable2_key = excluded.stable2_key, any2_key = excluded.any2_key,
           package_types = excluded.package_types, tag_words = excluded.tag_words, title = excluded.title, about = excluded.about`);
}
