/** Closing what asked us to wait, for every worker until the time is over: an upstream, or one account, host or group behind it. */
import sql, { raw } from "sql-template-tag";
import type { Queryable } from "../store/db.ts";
import { strikeWait_ms } from "./breaker.ts";
import { phaseOf } from "./schedule.ts";

export interface Closing {
  what: "upstream" | "budget";
  name: string;
  /** As we were told; null where the time is ours to choose. */
  wait_ms: number | null;
  reason: string;
}

/**
 * Closes it for as long as we were told, or ever longer each time we were not told: 60 s doubling to a day, forgiven after thirty
 * quiet minutes. A longer closing stands, and answers to calls that were out together are one strike. Says for how long.
 */
export async function close(db: Queryable, { what, name, wait_ms, reason }: Closing): Promise<number> {
  const table = raw(`tidemark.${what}`);
  const key = raw(what);
  if (what === "upstream")
    await db.query(sql`insert into tidemark.upstream (upstream) values (${name}) on conflict (upstream) do nothing`);
  const { rows } = await db.query<{ strikes: number; closed_ms: number }>(sql`
    select case when closed_until < tidemark.now() - interval '30 minutes' then 0 else strikes end as strikes,
           coalesce(extract(epoch from closed_until - tidemark.now())::float8 * 1000, 0) as closed_ms
      from ${table} where ${key} = ${name}`);
  const { strikes = 0, closed_ms = 0 } = rows[0] ?? {};
  const unasked = wait_ms === null;
  if (unasked && closed_ms > 0) return closed_ms;
  const next = unasked ? strikes + 1 : strikes;
  const ms = wait_ms ?? strikeWait_ms(next, phaseOf(name, String(next), ""));
  await db.query(sql`
    update ${table}
       set closed_until = tidemark.now() + ${ms}::float8 * interval '1 millisecond', closed_reason = ${reason},
           closed_at = tidemark.now(), strikes = ${next}::int
     where ${key} = ${name}
       and (closed_until is null or closed_until < tidemark.now() + ${ms}::float8 * interval '1 millisecond')
       and (not ${unasked} or closed_until is null or closed_until <= tidemark.now())`);
  // Beside the time of whoever tests it now, which may be longer, and is forgotten when that is well.
  if (what === "upstream")
    await db.query(sql`
      update tidemark.upstream
         set asked_until = tidemark.now() + ${ms}::float8 * interval '1 millisecond', asked_reason = ${reason}
       where upstream = ${name}
         and (asked_until is null or asked_until < tidemark.now() + ${ms}::float8 * interval '1 millisecond')`);
  return Math.max(ms, closed_ms);
}

/** For how long an upstream is closed, and why; null when it is not. */
export async function readShut(db: Queryable, upstream: string): Promise<{ wait_ms: number; reason: string } | null> {
  const { rows } = await db.query<{ wait_ms: number; reason: string }>(sql`
    select extract(epoch from closed_until - tidemark.now())::float8 * 1000 as wait_ms, coalesce(closed_reason, '') as reason
      from tidemark.upstream where upstream = ${upstream} and closed_until > tidemark.now()`);
  return rows[0] ?? null;
}
