/** Views by people: gathered in memory for a while, then written with at most one update a minute and resource. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Kind, Ref } from "../contract.ts";
import type { Db, Queryable, Tx } from "../store/db.ts";
import { nextDue } from "./outcome.ts";
import { findResources, lockDue, makeDue } from "./resources.ts";
import type { Named } from "./verbs.ts";

const GATHER_MS = 10_000;
/** More different resources than this between two writings are not noted: memory is bounded, and a view may be lost. */
const GATHERED_MOST = 10_000;
/** A due moment is brought forward only if the resource would be pulled so much earlier. */
const SOONER = 0.8;

export interface ViewParts {
  db: Db;
  clock: Clock;
  /** The kind of a resource, where this process knows it. */
  kind(source: string, kind: string): Kind | null;
  park_after: number;
  cool_off_ms: number;
  /** Something became due. */
  wake(): void;
  surprise(thrown: unknown): void;
}

export class Views {
  readonly #parts: ViewParts;
  #gathered = new Map<string, Named>();

  constructor(parts: ViewParts) {
    this.#parts = parts;
  }

  /** Notes that a person looked; costs nothing now. */
  viewed(source: string, ref: Ref): void {
    if (this.#gathered.size >= GATHERED_MOST) return;
    this.#gathered.set(`${source}\u0000${ref.kind}\u0000${ref.key}`, { source, kind: ref.kind, key: ref.key });
  }

  /** Writes what was gathered every ten seconds, and a last time when it is stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(GATHER_MS, signal);
      await this.flush().catch((thrown) => this.#parts.surprise(thrown));
    }
  }

  async flush(): Promise<void> {
    if (this.#gathered.size === 0) return;
    const named = [...this.#gathered.values()];
    this.#gathered = new Map();
    const { db, park_after, cool_off_ms } = this.#parts;
    const viewed = await writeViews(db, named);
    const parked = viewed.filter((row) => row.parked && row.failures <= park_after).map((row) => row.resource_id);
    const revived = await reviveParked(db, parked, cool_off_ms);
    const sooner = viewed.filter((row) => !row.parked).flatMap((row) => this.#sooner(row));
    await bringForward(db, sooner);
    if (revived + sooner.length > 0) this.#parts.wake();
  }

  /** Where the schedule weighs views, a view may bring the next pull forward. */
  #sooner(row: Viewed): Sooner[] {
    const kind = this.#parts.kind(row.source, row.kind);
    if (!kind || row.failures > 0 || row.due_ms === null || row.due_ms <= 0) return [];
    const { wait_ms } = nextDue(kind, row, false, row.now_ms);
    return wait_ms < row.due_ms * SOONER ? [{ resource_id: row.resource_id, wait_ms }] : [];
  }
}

interface Viewed extends Named {
  resource_id: bigint;
  options: Record<string, unknown> | null;
  fresh_at: string | null;
  changed_at: string | null;
  viewed_at: string | null;
  parked: boolean;
  failures: number;
  now_ms: number;
  /** Until it falls due; null while somebody has it, or it has no such moment. */
  due_ms: number | null;
}

/** Moves `viewed_at` of those not viewed within the last minute, whichever server heard of it; says which those are. */
export async function writeViews(db: Queryable, named: Named[]): Promise<Viewed[]> {
  const { rows } = await db.query<Viewed>(sql`
    update tidemark.resource r set viewed_at = tidemark.now()
      from unnest(${named.map((n) => n.source)}::text[], ${named.map((n) => n.kind)}::text[], ${named.map((n) => n.key)}::text[])
           as v(source, kind, key), tidemark.due d
     where r.source = v.source and r.kind = v.kind and r.key = v.key and d.resource_id = r.resource_id
       and r.gone_at is null and (r.viewed_at is null or r.viewed_at < tidemark.now() - interval '1 minute')
    returning r.resource_id, r.source, r.kind, r.key, r.options, d.fresh_at, r.changed_at, r.viewed_at,
              r.parked_at is not null as parked, d.failures::int as failures,
              extract(epoch from tidemark.now())::float8 * 1000 as now_ms,
              case when d.lease_until is null and d.due_at < 'infinity'
                   then extract(epoch from d.due_at - tidemark.now())::float8 * 1000 end as due_ms`);
  return rows;
}

/**
 * A view brings a parked resource back for one try. Its failures are kept, so that failing again parks it again, and then a view
 * does not bring it back a second time. A floor that reaches beyond the cool-off was set by politeness, and stands.
 */
export async function reviveParked(db: Db, ids: bigint[], cool_off_ms: number): Promise<number> {
  if (ids.length === 0) return 0;
  return db.transaction(async (tx) => {
    await lockDue(tx, ids);
    const back = await unpark(tx, ids, cool_off_ms);
    await makeDue(tx, back);
    return back.length;
  });
}

async function unpark(tx: Tx, ids: bigint[], cool_off_ms: number): Promise<bigint[]> {
  const { rows } = await tx.query<{ resource_id: bigint }>(sql`
    with was as (
      select resource_id, parked_at, case when floor_at > tidemark.now() then floor_at else '-infinity' end as floor_at
        from tidemark.resource
       where resource_id = any(${ids}::bigint[]) and parked_at is not null and paused_at is null and gone_at is null
    ), r as (
      update tidemark.resource set parked_at = null from was where resource.resource_id = was.resource_id
    )
    update tidemark.due d
       set not_before = case when d.not_before > was.parked_at + (${cool_off_ms}::float8 + 60000) * interval '1 millisecond'
                             then d.not_before else was.floor_at end
      from was where d.resource_id = was.resource_id and d.lease_until is null
    returning d.resource_id`);
  return rows.map((row) => row.resource_id);
}

interface Sooner {
  resource_id: bigint;
  wait_ms: number;
}

/** Due earlier than planned, never before the floor, never while somebody has it. */
export async function bringForward(db: Queryable, sooner: Sooner[]): Promise<void> {
  if (sooner.length === 0) return;
  const rows = sooner.toSorted((a, b) => (a.resource_id < b.resource_id ? -1 : 1));
  await db.query(sql`
    update tidemark.due d
       set due_at = greatest(least(d.due_at, tidemark.now() + s.wait_ms * interval '1 millisecond'), d.not_before)
      from unnest(${rows.map((s) => s.resource_id)}::bigint[], ${rows.map((s) => s.wait_ms)}::float8[]) as s(resource_id, wait_ms)
     where d.resource_id = s.resource_id and d.lease_until is null and d.due_at < 'infinity'`);
}

/** Makes a resource due at once, unless a floor says later; what is gone or was never there stays so. */
export async function touch(db: Db, source: string, ref: Ref): Promise<void> {
  const ids = [...(await findResources(db, source, [ref])).values()];
  await db.transaction(async (tx) => {
    await lockDue(tx, ids);
    await makeDue(tx, await notGone(tx, ids));
  });
}

async function notGone(tx: Tx, ids: bigint[]): Promise<bigint[]> {
  const { rows } = await tx.query<{ resource_id: bigint }>(sql`
    select resource_id from tidemark.resource where resource_id = any(${ids}::bigint[]) and gone_at is null`);
  return rows.map((row) => row.resource_id);
}
