/** The ordered inbox of a resource: messages are numbered under its due row's lock and taken off by the commit that handled them. */
import sql from "sql-template-tag";
import type { Queryable } from "../store/db.ts";

export interface Posted {
  resource_id: bigint;
  /** Null from outside of pulls. */
  origin_id: bigint | null;
  position: bigint | null;
  coalesce_key: string | null;
  payload: string;
}

export interface Message {
  resource_id: bigint;
  seq: bigint;
  origin_id: bigint | null;
  position: bigint | null;
  tries: number;
  payload: unknown;
  /** Where its row was read; it may have moved since. */
  place: string;
}

/**
 * Appends messages in the order given. The due rows must be locked: the numbers come from them. A message that coalesces
 * replaces the pending one under a new number, with the latest payload and the earliest position; a holder that is
 * handling the old one takes off the old number, and the new one stays to be handled.
 */
export async function post(tx: Queryable, posted: Posted[]): Promise<void> {
  if (posted.length === 0) return;
  const kept = await coalesced(tx, posted);
  await tx.query(sql`
    insert into tidemark.message (resource_id, seq, origin_id, position, coalesce_key, payload)
    select p.resource_id, d.mail_seq + row_number() over (partition by p.resource_id order by p.n),
           p.origin_id, p.position, p.coalesce_key, p.payload::jsonb
      from unnest(${kept.map((p) => p.resource_id)}::bigint[], ${kept.map((p) => p.origin_id)}::bigint[],
                  ${kept.map((p) => p.position)}::bigint[], ${kept.map((p) => p.coalesce_key)}::text[],
                  ${kept.map((p) => p.payload)}::text[]) with ordinality as p(resource_id, origin_id, position, coalesce_key, payload, n)
      join tidemark.due d on d.resource_id = p.resource_id`);
  const counts = new Map<bigint, number>();
  for (const p of kept) counts.set(p.resource_id, (counts.get(p.resource_id) ?? 0) + 1);
  // A leased row is not made due here: its holder compares the tail when it ends, under the same lock.
  await tx.query(sql`
    update tidemark.due d
       set mail_seq = d.mail_seq + c.n,
           due_at = case when d.lease_until is null then greatest(least(d.due_at, tidemark.now()), d.not_before) else d.due_at end
      from unnest(${[...counts.keys()]}::bigint[], ${[...counts.values()]}::int[]) as c(resource_id, n)
     where d.resource_id = c.resource_id`);
}

/** Within one batch and against what is pending: one message a poster and coalescing key, or a tidemark would pass another's. */
async function coalesced(tx: Queryable, posted: Posted[]): Promise<Posted[]> {
  const keyed = posted.filter((p) => p.coalesce_key !== null);
  if (keyed.length === 0) return posted;
  const { rows } = await tx.query<{
    resource_id: bigint;
    coalesce_key: string;
    position: bigint | null;
    origin_id: bigint;
  }>(sql`
    delete from tidemark.message m
     using (select distinct k.resource_id, k.origin_id, k.coalesce_key
              from unnest(${keyed.map((p) => p.resource_id)}::bigint[], ${keyed.map((p) => p.origin_id)}::bigint[],
                          ${keyed.map((p) => p.coalesce_key)}::text[]) as k(resource_id, origin_id, coalesce_key)) k
     where m.resource_id = k.resource_id and m.origin_id = k.origin_id and m.coalesce_key = k.coalesce_key
       and m.parked_at is null
    returning m.resource_id, m.coalesce_key, m.position, m.origin_id`);
  const name = (p: Pick<Posted, "resource_id" | "origin_id" | "coalesce_key">) =>
    `${p.resource_id}\u0000${p.origin_id}\u0000${p.coalesce_key}`;
  const earliest = new Map<string, bigint | null>();
  const lower = (key: string, position: bigint | null) => {
    const known = earliest.get(key) ?? null;
    earliest.set(key, known === null ? position : position === null || known < position ? known : position);
  };
  for (const row of rows) lower(name(row), row.position);
  const last = new Map<string, Posted>();
  for (const p of keyed) {
    lower(name(p), p.position);
    last.set(name(p), p);
  }
  return posted
    .filter((p) => p.coalesce_key === null || last.get(name(p)) === p)
    .map((p) => (p.coalesce_key === null ? p : { ...p, position: earliest.get(name(p)) ?? null }));
}

/** The next messages of each resource, in order, at most `most` of each. */
export async function readMail(
  db: Queryable,
  ids: { resource_id: bigint; most: number }[],
): Promise<Map<bigint, Message[]>> {
  const { rows } = await db.query<Message>(sql`
    select m.resource_id, m.seq, m.origin_id, m.position, m.tries::int as tries, m.payload, m.place
      from unnest(${ids.map((i) => i.resource_id)}::bigint[], ${ids.map((i) => i.most)}::int[]) as w(resource_id, most)
     cross join lateral (
       select n.resource_id, n.seq, n.origin_id, n.position, n.tries, n.payload, n.ctid as place
         from tidemark.message n
        where n.resource_id = w.resource_id and n.parked_at is null
        order by n.seq limit w.most) m
     order by m.resource_id, m.seq`);
  const byResource = new Map<bigint, Message[]>();
  for (const row of rows) {
    const list = byResource.get(row.resource_id);
    if (list) list.push(row);
    else byResource.set(row.resource_id, [row]);
  }
  return byResource;
}

/** Takes handled messages off, where they were read; one that was charged since, or replaced, is looked for by its number. */
export async function takeOff(tx: Queryable, handled: Pick<Message, "resource_id" | "seq" | "place">[]): Promise<void> {
  if (handled.length === 0) return;
  await tx.query(sql`
    select tidemark.take_off(${handled.map((h) => h.place)}::tid[], ${handled.map((h) => h.resource_id)}, ${handled.map((h) => h.seq)})`);
}

/** Those that failed together with the first message go alone from now on: one of them is to blame. */
export async function tryAlone(
  tx: Queryable,
  first: { resource_id: bigint; seq: bigint },
  last: bigint,
): Promise<void> {
  await tx.query(sql`
    update tidemark.message m set tries = 1
     where m.resource_id = ${first.resource_id}::bigint and m.seq > ${first.seq}::bigint and m.seq <= ${last}::bigint
       and m.parked_at is null and m.tries = 0`);
}

/** Counts a failed try against the first message of a mailbox; after `most` tries it is parked. Says whether it was. */
export async function chargeMessage(
  tx: Queryable,
  message: { resource_id: bigint; seq: bigint },
  error: string,
  reason: string,
  most: number,
): Promise<boolean> {
  const { rows } = await tx.query<{ parked: boolean }>(sql`
    update tidemark.message m
       set tries = m.tries + 1, error = ${error}::jsonb, parked_at = case when m.tries + 1 >= ${most}::int then tidemark.now() end
     where m.resource_id = ${message.resource_id}::bigint and m.seq = ${message.seq}::bigint
    returning m.parked_at is not null as parked`);
  const parked = rows[0]?.parked ?? false;
  if (parked)
    await tx.query(sql`
      insert into tidemark.skip (origin_id, resource_id, seq, position, reason)
      select m.origin_id, m.resource_id, m.seq, m.position, ${reason}
        from tidemark.message m
       where m.resource_id = ${message.resource_id}::bigint and m.seq = ${message.seq}::bigint
         and m.origin_id is not null and m.position is not null
      on conflict (resource_id, seq) do nothing`);
  return parked;
}
