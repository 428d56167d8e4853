/** The records of a commit: rows put and dropped, children seen, others touched and vouched for. */
import sql from "sql-template-tag";
import type { Ref, SharedWrite } from "../contract.ts";
import { publish } from "../mirror/feed.ts";
import { dropRows, keyName, putRows, putTellable, type Row, type Table, tellable, toJson } from "../mirror/table.ts";
import type { Tx } from "../store/db.ts";
import { dropUnseen, orphan, seeChildren, updateOptions } from "./children.ts";
import type { Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import { nextDue } from "./outcome.ts";
import { makeDue } from "./resources.ts";
import { scoped } from "./targets.ts";
import type { Committed, Unit } from "./unit.ts";

/** Records of all units, table by table in one order; then children, touched and vouched, then what only SQL can say. */
export async function applyRecords(
  tx: Tx,
  lanes: Lanes,
  units: Unit[],
  targets: Map<string, bigint>,
  results: Map<Unit, Committed>,
) {
  const shared = units.length === 1 ? null : mergeable(units);
  if (shared) {
    for (const [t, puts] of shared) {
      const written = await putTellable(
        tx,
        t,
        puts.flatMap((p) => p.rows),
      );
      for (const { unit, rows } of puts)
        results.get(unit)!.changed += rows.filter((row) => written.has(keyName(t, row))).length;
    }
  }
  for (const u of units) {
    const result = results.get(u)!;
    // Each once: a listing may name a child twice, and one statement cannot write a row twice.
    const ids = (refs: Ref[]) => [...new Set(refs.flatMap((r) => targets.get(scoped(u.lease.source, r)) ?? []))];
    for (const drop of u.batch?.drop ?? []) result.changed += await dropRows(tx, drop.table, drop.keys);
    if (!shared) for (const put of u.batch?.put ?? []) result.changed += await putRows(tx, put.table, put.rows);
    if (u.batch?.children) await applyChildren(tx, u, ids(u.batch.children.found), targets);
    if (u.batch?.touch) await makeDue(tx, ids(u.batch.touch));
    if (u.batch?.vouch) await vouch(tx, lanes, u, ids(u.batch.vouch));
    await u.batch?.write?.(tx);
  }
  await writeTogether(tx, units);
}

async function writeTogether(tx: Tx, units: Unit[]): Promise<void> {
  const all = new Map<SharedWrite["write"], unknown[]>();
  for (const { batch } of units)
    if (batch?.write_together) {
      const { write, value } = batch.write_together;
      const values = all.get(write);
      if (values) values.push(value);
      else all.set(write, [value]);
    }
  for (const [write, values] of all) await write(tx, values);
}

/** Puts of several pulls into one table go in one statement, where it can be told whose rows changed and nobody drops rows. */
function mergeable(units: Unit[]): Map<Table, { unit: Unit; rows: Row[] }[]> | null {
  if (units.some((u) => u.batch?.drop || u.batch?.write)) return null;
  const merged = new Map<Table, { unit: Unit; rows: Row[] }[]>();
  for (const unit of units)
    for (const { table, rows } of unit.batch?.put ?? []) {
      if (!tellable(table)) return null;
      const into = merged.get(table);
      if (into) into.push({ unit, rows });
      else merged.set(table, [{ unit, rows }]);
    }
  return merged;
}

async function applyChildren(tx: Tx, u: Unit, ids: bigint[], targets: Map<string, bigint>): Promise<void> {
  await seeChildren(tx, u.lease.resource_id, ids, u.generation);
  const given = new Map(
    (u.batch?.children?.found ?? []).flatMap((c) =>
      c.options ? [[targets.get(scoped(u.lease.source, c))!, toJson(c.options)] as const] : [],
    ),
  );
  await updateOptions(
    tx,
    [...given].map(([resource_id, options]) => ({ resource_id, options })),
  );
  if (u.batch?.children?.complete) {
    const unseen = await dropUnseen(tx, u.lease.resource_id, u.generation);
    await orphan(tx, unseen, `${u.lease.kind} ${u.lease.key} no longer lists it`);
  }
}

/** Confirms others as of the beginning of this pull and postpones them by their own schedule; a leased row is left alone. */
async function vouch(tx: Tx, lanes: Lanes, u: Unit, ids: bigint[]): Promise<void> {
  type Vouched = Pick<Lease, "source" | "kind" | "key" | "options" | "changed_at" | "viewed_at" | "fresh_at"> & {
    resource_id: bigint;
    now_ms: number;
  };
  const { rows } = await tx.query<Vouched>(sql`
    select r.resource_id, r.source, r.kind, r.key, r.options, r.changed_at, r.viewed_at, d.fresh_at,
           extract(epoch from ${u.lease.tried_at}::timestamptz)::float8 * 1000 as now_ms
      from tidemark.resource r join tidemark.due d on d.resource_id = r.resource_id
     where r.resource_id = any(${ids}::bigint[]) and d.lease_until is null and r.gone_at is null and d.mail_seq = d.mail_done
       and d.fresh_at is not null
     order by r.resource_id`);
  const waits = rows.map((r) => nextDue(lanes.kind(r.source, r.kind), r, false, r.now_ms, r.now_ms).wait_ms);
  await tx.query(sql`
    update tidemark.due d
       set fresh_at = greatest(d.fresh_at, ${u.lease.tried_at}::timestamptz),
           due_at = greatest(d.due_at, d.not_before, ${u.lease.tried_at}::timestamptz + v.wait_ms * interval '1 millisecond')
      from unnest(${rows.map((r) => r.resource_id)}::bigint[], ${waits}::float8[]) as v(resource_id, wait_ms)
     where d.resource_id = v.resource_id and d.lease_until is null`);
}

/** What is published, feed by feed in one order, each behind its lock. */
export async function applyFeeds(tx: Tx, units: Unit[], results: Map<Unit, Committed>): Promise<void> {
  const published = units.flatMap((u) => (u.batch?.publish ?? []).map((p) => ({ u, p })));
  published.sort((a, b) => (a.p.feed.name < b.p.feed.name ? -1 : a.p.feed.name > b.p.feed.name ? 1 : 0));
  for (const { u, p } of published) results.get(u)!.changed += await publish(tx, p.feed, p.entries);
}
