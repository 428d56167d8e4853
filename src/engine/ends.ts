/** What a commit leaves behind about the pull itself: the cold row where it changed, the hot row where the pull ends. */
import sql from "sql-template-tag";
import { toJson } from "../mirror/table.ts";
import type { Tx } from "../store/db.ts";
import { type Finish, finish } from "./finish.ts";
import type { Lanes } from "./lanes.ts";
import type { End } from "./outcome.ts";
import type { Committed, Unit } from "./unit.ts";
import { saveValidators } from "./validators.ts";

/** The cold row where something about it changed, and the hot row where the pull ends. */
export async function applyEnds(tx: Tx, lanes: Lanes, units: Unit[], results: Map<Unit, Committed>): Promise<void> {
  const colds: Cold[] = [];
  const finishes: Finish[] = [];
  for (const u of units) {
    const result = results.get(u)!;
    result.end = u.end?.(result) ?? null;
    const cold = coldOf(u, result);
    if (cold) colds.push(cold);
    if (result.end) finishes.push(finishOf(lanes, u, result.end, result.message_parked));
  }
  await writeCold(tx, colds);
  const fresh = units.filter((u) => u.seen && results.get(u)?.end?.outcome === "fresh");
  await saveValidators(
    tx,
    fresh.map((u) => ({ resource_id: u.lease.resource_id, version: u.kind.version ?? 0, seen: u.seen! })),
  );
  if (finishes.length > 0) await finish(tx, finishes, true);
}

/** The hot row's end; a message that failed but is not parked yet stays the next one. */
export function finishOf(lanes: Lanes, u: Unit, end: End, parked = false): Finish {
  const { lease, kind } = u;
  const cursor = u.batch?.cursor ?? u.cursor ?? kind.cursor.parse(undefined);
  const spec = lanes.spec(lease.source, lease.kind, lease.key, lease.options ?? {}, cursor);
  const pair = lanes.known(spec) ?? lanes.pair(spec);
  return {
    resource_id: lease.resource_id,
    lease_no: lease.lease_no,
    place: lease.place,
    lane_id: end.keep_place && lanes.row(lease.lane_id)?.urgency === "asked" ? pair.asked : pair.routine,
    first_come: spec.lane.order === "first come",
    mail_done: u.charge && !parked ? lease.mail_done : u.mail_done,
    end,
  };
}

interface Cold {
  resource_id: bigint;
  cursor: string | null;
  changed: boolean;
  generation: bigint | null;
  done: number | null;
  total: number | null;
  ended: boolean;
  end: End | null;
}

function coldOf(u: Unit, result: Committed): Cold | null {
  const { batch, lease } = u;
  const { end } = result;
  const ended = end !== null && (lease.marked || end.reason !== null || end.error !== null || end.parked || end.gone);
  const complete = batch?.children?.complete === true;
  const changed = result.changed > 0;
  const cursor = batch?.cursor === undefined ? null : toJson(batch.cursor);
  // A cursor that stands where it stood is not written again: an unchanged refresh touches no cold row.
  const moved = cursor !== null && (lease.cursor === null || cursor !== toJson(u.cursor));
  if (!moved && !changed && !complete && !batch?.progress && !ended) return null;
  return {
    resource_id: lease.resource_id,
    cursor: moved ? cursor : null,
    changed,
    generation: complete ? u.generation : null,
    done: batch?.progress?.done ?? null,
    total: batch?.progress?.total ?? null,
    ended,
    end,
  };
}

/** How long the upstream asked us to wait: what was paused meanwhile, or is parked for longer, has no other place for it. */
const floorOf = (end: End | null): number | null => (end?.parked ? end.told_ms : end?.floor ? end.wait_ms : null);

async function writeCold(tx: Tx, c: Cold[]): Promise<void> {
  if (c.length === 0) return;
  await tx.query(sql`
    update tidemark.resource r
       set cursor = coalesce(c.cursor::jsonb, r.cursor),
           changed_at = case when c.changed then tidemark.now() else r.changed_at end,
           generation = coalesce(c.generation, r.generation),
           progress_done = coalesce(c.done, r.progress_done),
           progress_total = coalesce(c.total, r.progress_total),
           reason = case when c.ended then c.reason else r.reason end,
           error = case when c.ended then c.error::jsonb || jsonb_build_object('at', tidemark.now()) else r.error end,
           parked_at = case when not c.ended then r.parked_at when c.parked then coalesce(r.parked_at, tidemark.now()) end,
           gone_at = case when not c.ended then r.gone_at when c.gone then coalesce(r.gone_at, tidemark.now()) end,
           floor_at = case when (r.paused_at is not null or c.parked) and c.floor_ms is not null
                           then tidemark.now() + c.floor_ms * interval '1 millisecond' else r.floor_at end
      from unnest(${c.map((x) => x.resource_id)}::bigint[], ${c.map((x) => x.cursor)}::text[], ${c.map((x) => x.changed)}::boolean[],
                  ${c.map((x) => x.generation)}::bigint[], ${c.map((x) => x.done)}::bigint[], ${c.map((x) => x.total)}::bigint[],
                  ${c.map((x) => x.ended)}::boolean[], ${c.map((x) => x.end?.reason ?? null)}::text[],
                  ${c.map((x) => x.end?.error ?? null)}::text[], ${c.map((x) => x.end?.parked ?? false)}::boolean[],
                  ${c.map((x) => x.end?.gone ?? false)}::boolean[], ${c.map(({ end }) => floorOf(end))}::float8[])
           as c(resource_id, cursor, changed, generation, done, total, ended, reason, error, parked, gone, floor_ms)
     where r.resource_id = c.resource_id`);
}
