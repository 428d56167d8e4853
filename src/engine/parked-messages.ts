/** Messages that failed too often: listed with their reasons, and given another try by hand. */
import sql from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { Db, Queryable, Tx } from "../store/db.ts";
import { lockDue } from "./resources.ts";
import type { Named } from "./verbs.ts";

export interface ParkedMessage extends Named {
  resource_id: bigint;
  seq: bigint;
  origin_id: bigint | null;
  position: bigint | null;
  tries: number;
  posted_at: string;
  parked_at: string;
  payload: unknown;
  error: unknown;
}

/** A place in the list: older than this. */
export interface Before {
  parked_at: string;
  resource_id: bigint;
  seq: bigint;
}

/** Parked messages, the newest first. */
export async function listParked(
  db: Queryable,
  source: string | null,
  before: Before | null,
  limit: number,
): Promise<ParkedMessage[]> {
  const { rows } = await db.query<ParkedMessage>(sql`
    select m.resource_id, m.seq, r.source, r.kind, r.key, m.origin_id, m.position, m.tries::int as tries, m.posted_at, m.parked_at,
           m.payload, m.error
      from tidemark.message m join tidemark.resource r on r.resource_id = m.resource_id
     where m.parked_at is not null
       and (${source}::text is null or r.source = ${source})
       and (m.parked_at, m.resource_id, m.seq) < (${before?.parked_at ?? "infinity"}::timestamptz,
            ${before?.resource_id ?? 0n}::bigint, ${before?.seq ?? 0n}::bigint)
     order by m.parked_at desc, m.resource_id desc, m.seq desc
     limit ${limit}`);
  return rows;
}

/**
 * Another try for a parked message: it goes to the end of its mailbox under a new number, and its skip record goes, since it is
 * no longer skipped. One that was replaced in the meantime by a newer message of the same coalescing key has nothing left to say.
 */
export async function retryMessage(db: Db, resource_id: bigint, seq: bigint): Promise<{ seq: bigint | null }> {
  return db.transaction(async (tx) => {
    await lockDue(tx, [resource_id]);
    const coalesce_key = await lockParked(tx, resource_id, seq);
    await dropSkip(tx, resource_id, seq);
    if (coalesce_key !== null && (await isReplaced(tx, resource_id, coalesce_key))) {
      await dropMessage(tx, resource_id, seq);
      return { seq: null };
    }
    const again = await appendMail(tx, resource_id);
    await unpark(tx, resource_id, seq, again);
    return { seq: again };
  });
}

async function lockParked(tx: Tx, resource_id: bigint, seq: bigint): Promise<string | null> {
  const { rows } = await tx.query<{ coalesce_key: string | null; parked: boolean }>(sql`
    select coalesce_key, parked_at is not null as parked from tidemark.message
     where resource_id = ${resource_id}::bigint and seq = ${seq}::bigint for update`);
  const [found] = rows;
  if (!found) throw new TidemarkError("NotFollowed", `There is no message ${seq} of resource ${resource_id}.`);
  if (!found.parked)
    throw new TidemarkError(
      "InputInvalid",
      `Message ${seq} of resource ${resource_id} is not parked; it waits its turn.`,
    );
  return found.coalesce_key;
}

async function isReplaced(tx: Tx, resource_id: bigint, coalesce_key: string): Promise<boolean> {
  const { rows } = await tx.query(sql`
    select seq from tidemark.message
     where resource_id = ${resource_id}::bigint and coalesce_key = ${coalesce_key} and parked_at is null`);
  return rows.length > 0;
}

async function dropSkip(tx: Tx, resource_id: bigint, seq: bigint): Promise<void> {
  await tx.query(sql`delete from tidemark.skip where resource_id = ${resource_id}::bigint and seq = ${seq}::bigint`);
}

async function dropMessage(tx: Tx, resource_id: bigint, seq: bigint): Promise<void> {
  await tx.query(sql`delete from tidemark.message where resource_id = ${resource_id}::bigint and seq = ${seq}::bigint`);
}

/** The next number of a mailbox, whose resource is due at once unless a lease lives or a floor says later. */
async function appendMail(tx: Tx, resource_id: bigint): Promise<bigint> {
  const { rows } = await tx.query<{ mail_seq: bigint }>(sql`
    update tidemark.due
       set mail_seq = mail_seq + 1,
           due_at = case when lease_until is null then greatest(least(due_at, tidemark.now()), not_before) else due_at end
     where resource_id = ${resource_id}::bigint
    returning mail_seq`);
  return rows[0]!.mail_seq;
}

async function unpark(tx: Tx, resource_id: bigint, seq: bigint, again: bigint): Promise<void> {
  await tx.query(sql`
    update tidemark.message set seq = ${again}::bigint, parked_at = null, tries = 0, error = null
     where resource_id = ${resource_id}::bigint and seq = ${seq}::bigint`);
}
