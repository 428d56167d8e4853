/** The end of many pulls in one fenced statement: it gives up the lease, sets the next due moment and how fresh the mirror is. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { inOrder } from "./lease.ts";
import type { End } from "./outcome.ts";

export interface Finish {
  resource_id: bigint;
  lease_no: bigint;
  lane_id: number;
  first_come: boolean;
  mail_done: bigint;
  end: End;
}

/**
 * Writes the ends of pulls whose lease number still matches; says whose did. Outside a transaction the lease must not have
 * ended either; inside one (`locked`) that was checked when the rows were locked.
 *
 * Ends that differ only in their time go together in one statement; nearly all do, and what they share is sent once.
 */
export async function finish(db: Queryable, given: Finish[], locked = false): Promise<Set<bigint>> {
  const groups = new Map<string, Finish[]>();
  for (const f of given) {
    const { outcome, floor, fresh, failures, keep_place } = f.end;
    const alike = `${f.lane_id} ${f.first_come} ${outcome} ${floor} ${fresh} ${failures} ${keep_place}`;
    const group = groups.get(alike);
    if (group) group.push(f);
    else groups.set(alike, [f]);
  }
  const done = new Set<bigint>();
  for (const group of groups.values()) for (const id of await finishAlike(db, inOrder(group), locked)) done.add(id);
  return done;
}

/**
 * `fresh_at` becomes the moment the pull began: only what was true then is known. A resource with mail is due at once: the
 * tail is compared here, under the row's own lock, or a wake-up would be lost. `coalesce` hides the lease's end from the
 * planner, which would otherwise scan all that was leased lately: 83 µs a row under a held snapshot instead of 22.
 */
async function finishAlike(db: Queryable, f: Finish[], locked: boolean): Promise<bigint[]> {
  const { lane_id, first_come, end } = f[0]!;
  const at = sql`tidemark.now() + e.wait_ms * interval '1 millisecond'`;
  const still = sql`case when d.not_before > tidemark.now() then d.not_before else '-infinity' end`;
  // The floor under the next due moment: one that still holds, or the wait this end asks for.
  const floor = end.floor ? sql`greatest(${still}, ${at})` : still;
  const wakes = end.outcome === "fresh" || end.outcome === "more";
  const next = wakes ? sql`case when d.mail_seq > e.mail_done then tidemark.now() else ${at} end` : at;
  const due = sql`greatest(${next}, ${floor})`;
  const place = end.keep_place ? sql`coalesce(d.asked_at, tidemark.now())` : due;
  const { rows } = await db.query<{ resource_id: bigint }>(sql`
    update tidemark.due d
       set lease_until = null,
           worker_id = null,
           not_before = ${floor},
           due_at = ${due},
           fresh_at = ${end.fresh ? sql`d.tried_at` : sql`d.fresh_at`},
           failures = ${end.failures}::smallint,
           lane_id = ${lane_id}::int,
           mail_done = e.mail_done,
           asked_at = ${first_come ? place : sql`null`}
      from unnest(${f.map((x) => x.resource_id)}::bigint[], ${f.map((x) => x.lease_no)}::bigint[],
                  ${f.map((x) => x.end.wait_ms)}::float8[], ${f.map((x) => x.mail_done)}::bigint[])
           as e(resource_id, lease_no, wait_ms, mail_done)
     where d.resource_id = e.resource_id and d.lease_no = e.lease_no
       and coalesce(${locked} and d.lease_until is not null or d.lease_until > tidemark.now(), false)
    returning d.resource_id`);
  return rows.map((r) => r.resource_id);
}
