/** One resource in full: what it is, its three clocks, what happens next and why, its place in line, its mailbox and history. */
import sql from "sql-template-tag";
import type { Kind } from "../contract.ts";
import type { Queryable } from "../store/db.ts";
import { type Line, pacesOf, readLine } from "./eta.ts";
import { nextDue } from "./outcome.ts";
import type { Named } from "./verbs.ts";
import { type Next, type WhyFacts, whyNext } from "./why.ts";

const MESSAGES_SHOWN = 100;
const PULLS_SHOWN = 100;
/** Letters of a message that are shown. */
const PAYLOAD_SHOWN = 1_000;
const PARENTS_SHOWN = 20;

export interface StatusRow extends WhyFacts, Named {
  resource_id: bigint;
  options: Record<string, unknown> | null;
  cursor: unknown;
  created_at: string;
  fresh_at: string | null;
  changed_at: string | null;
  viewed_at: string | null;
  asked_at: string | null;
  lease_no: bigint;
  lease_until: string | null;
  lane_id: number;
  lane: string;
  first_come: boolean;
  progress_done: bigint | null;
  progress_total: bigint | null;
}

/** A resource by its name, with its lane and the state of its upstream. */
export async function readStatus(db: Queryable, named: Named): Promise<StatusRow | null> {
  const { rows } = await db.query<StatusRow>(sql`
    select s.resource_id, s.source, s.kind, s.key, s.status, tidemark.now() as now,
           nullif(s.due_at, 'infinity') as due_at, s.not_before, s.fresh_at, s.tried_at, s.changed_at, s.asked_at,
           s.failures::int as failures, s.lease_no, s.lease_until, s.worker_id, s.lane_id, s.mail,
           s.followed_at, s.viewed_at, s.paused_at, s.parked_at, s.gone_at, s.reason, s.error, s.options, s.cursor,
           s.progress_done, s.progress_total, r.created_at,
           l.name as lane, l.urgency, l.first_come, l.upstream,
           case when u.closed_until > tidemark.now() then u.closed_until end as closed_until,
           case when u.closed_until > tidemark.now() then u.closed_reason end as closed_reason
      from tidemark.status s
      join tidemark.resource r on r.resource_id = s.resource_id
      join tidemark.lane l on l.lane_id = s.lane_id
      join tidemark.upstream u on u.upstream = l.upstream
     where (r.source, r.kind, r.key) = (${named.source}, ${named.kind}, ${named.key})`);
  return rows[0] ?? null;
}

export interface MessageStatus {
  seq: bigint;
  posted_at: string;
  parked_at: string | null;
  position: bigint | null;
  tries: number;
  error: unknown;
  /** What it says, as JSON; the beginning of it where it is long. */
  payload: string;
}

/** The first waiting messages of a mailbox, or the first parked ones. */
export async function readMailbox(db: Queryable, resource_id: bigint, parked: boolean): Promise<MessageStatus[]> {
  const { rows } = await db.query<MessageStatus>(sql`
    select seq, posted_at, parked_at, position, tries::int as tries, error, left(payload::text, ${PAYLOAD_SHOWN}) as payload
      from tidemark.message
     where resource_id = ${resource_id}::bigint and (parked_at is not null) = ${parked}
     order by seq limit ${MESSAGES_SHOWN}`);
  return rows;
}

export interface PullStatus {
  started_at: string;
  ms: number;
  outcome: string;
  changed: number;
  reason: string | null;
  error: unknown;
  worker_id: number | null;
}

/** The newest changed, failed and slow pulls of a resource. */
export async function readPulls(db: Queryable, resource_id: bigint): Promise<PullStatus[]> {
  const { rows } = await db.query<PullStatus>(sql`
    select started_at, ms, outcome, changed, reason, error, worker_id
      from tidemark.pull where resource_id = ${resource_id}::bigint
     order by started_at desc limit ${PULLS_SHOWN}`);
  return rows;
}

/** How many others it brought forth, counted up to a bound. */
export async function countChildren(db: Queryable, resource_id: bigint): Promise<number> {
  const { rows } = await db.query<{ children: number }>(sql`
    select count(*)::int as children
      from (select 1 from tidemark.edge where parent_id = ${resource_id}::bigint limit 100000) e`);
  return rows[0]?.children ?? 0;
}

/** Those that brought it forth. */
export async function readParents(db: Queryable, resource_id: bigint): Promise<Named[]> {
  const { rows } = await db.query<Named>(sql`
    select r.source, r.kind, r.key
      from tidemark.edge e join tidemark.resource r on r.resource_id = e.parent_id
     where e.child_id = ${resource_id}::bigint
     order by e.parent_id limit ${PARENTS_SHOWN}`);
  return rows;
}

export interface TidemarkStatus extends Named {
  resource_id: bigint;
  internal: bigint;
  position: bigint;
  anomalies: bigint;
  moved_at: string;
  skips: number;
}

/** The tidemarks of a source, or of one resource, with how many parked messages each has passed. */
export async function readTidemarks(
  db: Queryable,
  source: string,
  resource_id: bigint | null = null,
): Promise<TidemarkStatus[]> {
  const { rows } = await db.query<TidemarkStatus>(sql`
    select t.resource_id, r.source, r.kind, r.key, t.internal, t.position, t.anomalies, t.moved_at,
           (select count(*)::int from (select 1 from tidemark.skip k where k.origin_id = t.resource_id limit 10000) k) as skips
      from tidemark.tidemark t join tidemark.resource r on r.resource_id = t.resource_id
     where r.source = ${source} and (${resource_id}::bigint is null or t.resource_id = ${resource_id}::bigint)
     order by t.resource_id limit 500`);
  return rows;
}

export interface Skip {
  resource_id: bigint;
  seq: bigint;
  position: bigint;
  reason: string;
  skipped_at: string;
}

/** What a tidemark passed without its being handled, newest position first. */
export async function readSkips(db: Queryable, origin_id: bigint): Promise<Skip[]> {
  const { rows } = await db.query<Skip>(sql`
    select resource_id, seq, position, reason, skipped_at
      from tidemark.skip where origin_id = ${origin_id}::bigint
     order by position desc limit 100`);
  return rows;
}

export interface ResourceStatus extends StatusRow {
  next: Next;
  line: Line;
  mailbox: { waiting: MessageStatus[]; parked: MessageStatus[] };
  tidemark: (TidemarkStatus & { skipped: Skip[] }) | null;
  pulls: PullStatus[];
  children: number;
  parents: Named[];
}

/** All of it; null when there is no such resource. `kind` is null where this process does not know the source. */
export async function readResource(db: Queryable, named: Named, kind: Kind | null): Promise<ResourceStatus | null> {
  const row = await readStatus(db, named);
  if (!row) return null;
  const id = row.resource_id;
  const [tidemark] = await readTidemarks(db, row.source, id);
  return {
    ...row,
    next: whyNext(row, kind && scheduleWhy(kind, row)),
    line: await readLine(db, row, kind ? pacesOf(kind, row.key, row.options ?? {}) : []),
    mailbox: { waiting: await readMailbox(db, id, false), parked: await readMailbox(db, id, true) },
    tidemark: tidemark ? { ...tidemark, skipped: await readSkips(db, id) } : null,
    pulls: await readPulls(db, id),
    children: await countChildren(db, id),
    parents: await readParents(db, id),
  };
}

/** The schedule's own words; a schedule that throws is its source's defect and must not hide the rest. */
function scheduleWhy(kind: Kind, row: StatusRow): string | null {
  try {
    return nextDue(kind, row, false, Date.parse(row.now)).why;
  } catch {
    return null;
  }
}
