/** The breaker of each upstream as its row in the database: read, changed by its table, written only if nobody else wrote meanwhile. */
import sql from "sql-template-tag";
import type { Events } from "../events.ts";
import type { Queryable } from "../store/db.ts";
import { type Breaker, type BreakerEvent, type BreakerEvents, type Change, transition } from "./breaker.ts";
import { phaseOf } from "./schedule.ts";

interface BreakerRow extends Breaker {
  breaker_no: bigint;
}

const TRIES = 20;

/** Strikes are forgiven after thirty quiet minutes. */
async function readBreaker(db: Queryable, upstream: string): Promise<BreakerRow> {
  const { rows } = await db.query<BreakerRow>(sql`
    select breaker as state, breaker_no, failing,
           case when greatest(closed_until, struck_at) < tidemark.now() - interval '30 minutes' then 0 else strikes end as strikes,
           extract(epoch from tidemark.now() - struck_at)::float8 * 1000 as struck_ms,
           coalesce(extract(epoch from closed_until - tidemark.now())::float8 * 1000, 0) as closed_ms,
           well_by, extract(epoch from tidemark.now() - well_at)::float8 * 1000 as well_ms,
           extract(epoch from tidemark.now() - other_well_at)::float8 * 1000 as other_well_ms
      from tidemark.upstream where upstream = ${upstream}`);
  if (rows[0]) return rows[0];
  await db.query(sql`insert into tidemark.upstream (upstream) values (${upstream}) on conflict (upstream) do nothing`);
  return readBreaker(db, upstream);
}

/**
 * Writes a change unless somebody else was faster; no lock is held between reading and writing. A longer wait that the upstream asked
 * for stands, whatever becomes of the breaker: a probe's own time is the one without a reason.
 */
async function writeBreaker(
  db: Queryable,
  upstream: string,
  breaker_no: bigint,
  { state, failing, strikes, struck, closed_ms, well }: NonNullable<Change["next"]>,
  resource: bigint,
  reason: string,
): Promise<boolean> {
  const until = sql`tidemark.now() + ${closed_ms ?? 0}::float8 * interval '1 millisecond'`;
  const { count } = await db.query(sql`
    update tidemark.upstream
       set breaker = ${state}, breaker_no = breaker_no + 1, failing = ${failing}::bigint[], strikes = ${strikes}::int,
           struck_at = case when ${struck} then tidemark.now() else struck_at end,
           closed_until = case when ${closed_ms === null} or ${closed_ms === 0} and closed_reason <> '' then closed_until
                               when ${closed_ms !== 0} then greatest(closed_until, ${until})
                               when asked_until > tidemark.now() then asked_until end,
           closed_reason = case when ${closed_ms === null} or ${closed_ms === 0} and closed_reason <> '' or ${closed_ms !== 0} and closed_until > ${until}
                                then closed_reason when ${closed_ms !== 0} then ${reason}
                                when asked_until > tidemark.now() then asked_reason end,
           closed_at = case when ${closed_ms !== null && closed_ms > 0} then tidemark.now() else closed_at end,
           other_well_at = case when ${well} and well_by is distinct from ${resource}::bigint then well_at else other_well_at end,
           well_by = case when ${well} then ${resource}::bigint else well_by end,
           well_at = case when ${well} then tidemark.now() else well_at end
     where upstream = ${upstream} and breaker_no = ${breaker_no}::bigint`);
  return count > 0;
}

/** Tells the breaker what happened; says what follows from it. */
export async function tell<E extends BreakerEvent>(
  db: Queryable,
  events: Events,
  upstream: string,
  event: E,
  by: BreakerEvents[E],
  reason: string,
): Promise<Change> {
  for (let tries = 1; ; tries += 1) {
    const row = await readBreaker(db, upstream);
    const change = transition(row, event, by, phaseOf(upstream, String(row.strikes), ""));
    if (!change.next) return change;
    const written = await writeBreaker(db, upstream, row.breaker_no, change.next, by.resource, reason);
    if (!written && tries < TRIES) continue;
    if (written && change.next.state !== row.state) {
      const { wait_ms } = change;
      const error_code = event === "refused" ? "UpstreamForbids" : "UpstreamDown";
      events.emit("breaker_changed", { upstream, from: row.state, to: change.next.state, reason, wait_ms, error_code });
    }
    // Where everybody tells something at once the others' word is as good as ours; a probe is nobody's then.
    return written ? change : { ...change, next: null };
  }
}
