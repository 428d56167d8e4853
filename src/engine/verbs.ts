/** What people do to resources: follow, unfollow, refresh, pause, resume; each in one short transaction. */
import sql from "sql-template-tag";
import type { Kind, Source } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";
import { nearest } from "../spelling.ts";
import type { Db, Queryable } from "../store/db.ts";
import { orphan } from "./children.ts";
import type { Lanes } from "./lanes.ts";
import { lockDue, makeResources, reviveGone } from "./resources.ts";

export interface Named {
  source: string;
  kind: string;
  key: string;
}

export const KEY_MAX = 1024;

/** Begins to follow what a person typed; following twice changes nothing but the options. */
export async function follow(
  db: Db,
  lanes: Lanes,
  source_name: string,
  text: string,
  options: Record<string, unknown> = {},
): Promise<Named> {
  const source = sourceOf(lanes, source_name);
  const followed = source.follow(text.trim());
  if (typeof followed === "string") throw new TidemarkError("InputInvalid", followed);
  if (followed.key.length === 0 || followed.key.length > KEY_MAX)
    throw new TidemarkError(
      "InputInvalid",
      `A key has between 1 and ${KEY_MAX} characters; this one has ${followed.key.length}.`,
    );
  const kind = lanes.kind(source_name, followed.kind);
  const all = { ...followed.options, ...options };
  const checked = checkOptions(kind.options, all, `${source_name} ${followed.kind}`);
  const spec = lanes.spec(source_name, followed.kind, followed.key, checked, kind.cursor.parse(undefined));
  const pair = await lanes.ensure(db, spec);
  await source.prepare?.(db, { kind: followed.kind, key: followed.key, options: checked });
  const named = { source: source_name, kind: followed.kind, key: followed.key };
  await db.transaction(async (tx) => {
    const first_come = spec.lane.order === "first come";
    await makeResources(tx, [{ ...named, options: toJson(checked), lane_id: pair.asked, first_come }]);
    const id = await idOf(tx, named);
    await lockDue(tx, [id]);
    await tx.query(sql`
      update tidemark.resource
         set followed_at = coalesce(followed_at, tidemark.now()), options = ${toJson(checked)}::jsonb,
             -- Whoever follows it looks at it; a minute ago, so that a view right after is written too.
             viewed_at = coalesce(viewed_at, tidemark.now() - interval '61 seconds')
       where resource_id = ${id}::bigint`);
    await reviveGone(tx, [id]);
  });
  return named;
}

function checkOptions(schema: Kind["options"], given: Record<string, unknown>, what: string): Record<string, unknown> {
  if (!schema) {
    const name = Object.keys(given)[0];
    if (name !== undefined)
      throw new TidemarkError("InputInvalid", `${what} takes no options, so not "${name}" either.`);
    return {};
  }
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const said = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".") || "all"}: ${message}`);
    throw new TidemarkError("InputInvalid", `The options of ${what} were not understood: ${said.join("; ")}.`);
  }
  // A schema that drops what it does not know would drop a misspelt option without a word.
  const unknown = Object.keys(given).find((name) => !(name in parsed.data));
  if (unknown === undefined) return parsed.data;
  throw new TidemarkError("InputInvalid", `${what} has no option "${unknown}".`);
}

export function sourceOf(lanes: Lanes, name: string): Source {
  const source = lanes.sources.get(name);
  if (source) return source;
  const names = [...lanes.sources.keys()];
  const near = nearest(name, names, 3);
  const meant = near ? ` Did you mean "${near}"?` : "";
  throw new TidemarkError(
    "InputInvalid",
    `There is no source "${name}"; there are: ${names.join(", ") || "none"}.${meant}`,
  );
}

/** Ends following. What is also someone's child lives on; the rest is gone, and its records go in bounded batches. */
export async function unfollow(db: Db, named: Named): Promise<{ gone: number }> {
  return db.transaction(async (tx) => {
    const id = await idOf(tx, named);
    await lockDue(tx, [id]);
    const { count } = await tx.query(sql`
      update tidemark.resource set followed_at = null where resource_id = ${id}::bigint and followed_at is not null`);
    if (count === 0)
      throw new TidemarkError("NotFollowed", `${named.source} ${named.kind} ${named.key} is not followed itself.`);
    const gone = await orphan(tx, [id], "unfollowed");
    return { gone: gone.length };
  });
}

/** Makes it due now, in the lane of what people asked for; a floor of politeness holds, also behind a parking, which does not. */
export async function refresh(db: Db, named: Named): Promise<void> {
  await db.transaction(async (tx) => {
    const id = await idOf(tx, named);
    await lockDue(tx, [id]);
    const { count } = await tx.query(sql`
      with was as (
        select resource_id, parked_at, case when floor_at > tidemark.now() then floor_at else '-infinity' end as floor_at
          from tidemark.resource
         where resource_id = ${id}::bigint and paused_at is null and (gone_at is null or followed_at is not null)
      ), r as (
        update tidemark.resource set parked_at = null, floor_at = null where resource_id = ${id}::bigint and parked_at is not null
      )
      update tidemark.due d
         set not_before = case when was.parked_at is not null then was.floor_at else d.not_before end,
             due_at = case when d.lease_until is not null then d.due_at
                           when was.parked_at is not null then greatest(tidemark.now(), was.floor_at)
                           else greatest(least(d.due_at, tidemark.now()), d.not_before) end,
             failures = case when was.parked_at is not null then 0 else d.failures end,
             lane_id = case when d.lease_until is null then a.lane_id else d.lane_id end,
             asked_at = case when a.first_come then coalesce(d.asked_at, tidemark.now()) end
        from was, tidemark.lane l, tidemark.lane a
       where d.resource_id = was.resource_id and l.lane_id = d.lane_id
         and (a.source, a.name, a.upstream, a.urgency) = (l.source, l.name, l.upstream, 'asked')`);
    if (count === 0) await explainMissing(tx, named, "refreshed");
  });
}

/** Stops it; a pull under way ends as it would. A floor of politeness is kept aside, for when it is resumed. */
export async function pause(db: Db, named: Named): Promise<void> {
  await change(db, named, "paused", (tx, id) =>
    tx.query(sql`
      with was as (
        select resource_id, case when not_before > tidemark.now() then not_before end as floor_at
          from tidemark.due where resource_id = ${id}::bigint
      ), r as (
        update tidemark.resource r
           set paused_at = coalesce(r.paused_at, tidemark.now()),
               floor_at = case when r.paused_at is not null or r.parked_at is not null then r.floor_at else was.floor_at end
          from was where r.resource_id = was.resource_id
      )
      update tidemark.due set not_before = 'infinity', due_at = 'infinity' where resource_id = ${id}::bigint`),
  );
}

/** Goes on at once; also the way back for what is parked. A floor of politeness is neither, and holds. */
export async function resume(db: Db, named: Named): Promise<void> {
  await change(db, named, "resumed", (tx, id) =>
    tx.query(sql`
      with was as (
        select resource_id, case when floor_at > tidemark.now() then floor_at else '-infinity' end as floor_at
          from tidemark.resource
         where resource_id = ${id}::bigint and (paused_at is not null or parked_at is not null)
      ), r as (
        update tidemark.resource r set paused_at = null, parked_at = null, floor_at = null
          from was where r.resource_id = was.resource_id
      )
      update tidemark.due d
         set not_before = was.floor_at, due_at = greatest(tidemark.now(), was.floor_at), failures = 0
        from was where d.resource_id = was.resource_id and d.not_before >= d.due_at`),
  );
}

async function change(
  db: Db,
  named: Named,
  word: string,
  work: (tx: Queryable, id: bigint) => Promise<unknown>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const id = await idOf(tx, named);
    await lockDue(tx, [id]);
    const { rows } = await tx.query<{ gone: boolean }>(sql`
      select gone_at is not null as gone from tidemark.resource where resource_id = ${id}::bigint`);
    if (rows[0]?.gone) return explainMissing(tx, named, word);
    await work(tx, id);
  });
}

/** A resource whose worker died again and again is parked like any that keeps failing. */
export async function parkExpired(db: Queryable, ids: bigint[], cool_off_ms: number): Promise<void> {
  if (ids.length === 0) return;
  const reason = "its worker died again and again while working on it";
  await db.query(sql`
    with d as (
      update tidemark.due set not_before = tidemark.now() + ${cool_off_ms}::float8 * interval '1 millisecond',
             due_at = tidemark.now() + ${cool_off_ms}::float8 * interval '1 millisecond'
       where resource_id = any(${ids}::bigint[]) and lease_until is null
      returning resource_id
    )
    update tidemark.resource r set parked_at = tidemark.now(), reason = ${reason}
      from d where r.resource_id = d.resource_id`);
}

async function idOf(db: Queryable, named: Named): Promise<bigint> {
  const { rows } = await db.query<{ resource_id: bigint }>(sql`
    select resource_id from tidemark.resource where (source, kind, key) = (${named.source}, ${named.kind}, ${named.key})`);
  if (rows[0]) return rows[0].resource_id;
  throw new TidemarkError(
    "NotFollowed",
    `There is no ${named.source} ${named.kind} ${named.key}. \`tidemark status ${named.source}\` lists what is there.`,
  );
}

async function explainMissing(db: Queryable, named: Named, word: string): Promise<never> {
  const id = await idOf(db, named);
  const { rows } = await db.query<{ status: string }>(
    sql`select status from tidemark.status where resource_id = ${id}::bigint`,
  );
  throw new TidemarkError(
    "InputInvalid",
    `${named.source} ${named.kind} ${named.key} is ${rows[0]?.status ?? "not there"} and cannot be ${word}.`,
  );
}
