/** The end of many pulls in one fenced statement: it gives up the lease, sets the next due moment and how fresh the mirror is. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { inOrder } from "./lease.ts";
import type { End } from "./outcome.ts";

export interface Finish {
  resource_id: bigint;
  lease_no: bigint;
  place: string;
  lane_id: number;
  first_come: boolean;
  mail_done: bigint;
  end: End;
}

/**
 * Writes the ends of pulls whose lease number still matches; says whose did. Outside a transaction the lease must not have
 * ended either; inside one (`locked`) that was checked when the rows were locked.
 *
 * Ends that differ only in their time go together in one statement; nearly all do, and what they share is sent once. What is in
 * `done` is not done again: it grows with each statement, so that who has to try once more knows what was written.
 */
export async function finish(
  db: Queryable,
  given: Finish[],
  locked = false,
  done = new Set<bigint>(),
): Promise<Set<bigint>> {
  const groups: Finish[][] = [];
  for (const f of given.filter(({ resource_id }) => !done.has(resource_id))) {
    const group = groups.find((g) => alike(g[0]!, f));
    if (group) group.push(f);
    else groups.push([f]);
  }
  for (const group of groups) for (const id of await finishAlike(db, inOrder(group), locked)) done.add(id);
  return done;
}

function alike(a: Finish, b: Finish): boolean {
  return (
    a.lane_id === b.lane_id &&
    a.end.outcome === b.end.outcome &&
    a.end.failures === b.end.failures &&
    a.end.fresh === b.end.fresh &&
    a.end.floor === b.end.floor &&
    a.end.keep_place === b.end.keep_place &&
    a.first_come === b.first_come
  );
}

/**
 * `fresh_at` becomes the moment the pull began: only what was true then is known. A resource with mail is due at once: the
 * tail is compared in the statement, under the row's own lock, or a wake-up would be lost.
 */
async function finishAlike(db: Queryable, f: Finish[], locked: boolean): Promise<bigint[]> {
  const { lane_id, first_come, end } = f[0]!;
  const wakes = end.outcome === "fresh" || end.outcome === "more" || end.outcome === "gone";
  const { rows } = await db.query<{ done: bigint[] }>(sql`
    select tidemark.finish(${lane_id}, ${first_come}, ${wakes}, ${end.floor}, ${end.fresh}, ${end.failures}::smallint, ${end.keep_place}, ${locked},
      ${f.map((x) => x.place)}::tid[], ${f.map((x) => x.resource_id)}, ${f.map((x) => x.lease_no)}, ${f.map((x) => x.end.wait_ms)}, ${f.map((x) => x.mail_done)}) as done`);
  return rows[0]!.done;
}
