/** Keeps tables from growing for ever: old counters, old pulls, lost workers, and all that belongs to what is gone. */
import sql, { raw } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Source } from "../contract.ts";
import { asTidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import { dropOwned } from "../mirror/table.ts";
import type { Db, Queryable, Tx } from "../store/db.ts";
import { maintainEmbedded } from "../store/embedded.ts";
import { dropIdleBudgets, dropLostFlights } from "./budget.ts";
import { dropOldFreshness, noteFreshness } from "./history.ts";
import { lockDue } from "./resources.ts";
import { moveTidemarks } from "./tidemark.ts";
import { forgetValidators } from "./validators.ts";

const EVERY_MS = 60_000;
const MAINTAIN_EVERY_MS = 600_000;
const ROWS_MOST = 1_000;
/** At most so many batches of one sort in one turn: the rest waits for the next. */
const BATCHES_MOST = 100;
const GONE_MOST = 500;
/** Any number that nothing else of ours takes: "keep" in ASCII. */
const LOCK_KEY = 0x6b656570;

export interface HousekeepingParts {
  db: Db;
  clock: Clock;
  events: Events;
  sources: readonly Source[];
}

/** Any number run side by side: a turn takes a lock that ends with its transaction, and who does not get it leaves the work to the other. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  #maintained_ms: number;

  constructor(parts: HousekeepingParts) {
    this.#parts = parts;
    this.#maintained_ms = parts.clock.elapsed_ms();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(EVERY_MS, signal);
      if (signal.aborted) return;
      await this.turn(signal).catch((thrown) => {
        const { message, code, stack } = asTidemarkError(thrown);
        if (code === "StoreDown") return;
        this.#parts.events.emit("surprise", { sentence: message, error_code: code, stack: stack ?? "" });
      });
    }
  }

  /** Everything once. */
  async turn(signal?: AbortSignal): Promise<void> {
    const { db, clock } = this.#parts;
    await this.#alone((tx) => noteFreshness(tx));
    await this.#alone((tx) => emptyTomorrow(tx));
    const drops = [dropOldCounts, dropOldProgress, dropOldFreshness, dropLostWorkers, dropIdleBudgets, dropLostFlights];
    for (const drop of drops) await this.#often(signal, (tx) => drop(tx, ROWS_MOST), ROWS_MOST);
    await this.#alone((tx) => wakeMailed(tx, ROWS_MOST));
    await this.#dropRecords(signal);
    await this.#often(signal, (tx) => this.#purge(tx), GONE_MOST);
    if (db.kind !== "embedded" || clock.elapsed_ms() - this.#maintained_ms < MAINTAIN_EVERY_MS) return;
    this.#maintained_ms = clock.elapsed_ms();
    await maintainEmbedded(db);
  }

  /** Does it in one transaction if nobody else is at it; null otherwise. */
  #alone<T>(work: (tx: Tx) => Promise<T>): Promise<T | null> {
    return this.#parts.db.transaction(async (tx) => ((await tryLock(tx)) ? work(tx) : null));
  }

  /** Again and again while whole batches are found. */
  async #often(signal: AbortSignal | undefined, work: (tx: Tx) => Promise<number>, whole: number): Promise<void> {
    for (let n = 0; n < BATCHES_MOST && !signal?.aborted; n += 1) if (((await this.#alone(work)) ?? 0) < whole) return;
  }

  /** The records and messages of what is gone for good go, a bounded batch a transaction. */
  async #dropRecords(signal: AbortSignal | undefined): Promise<void> {
    for (let n = 0; n < BATCHES_MOST; n += 1) {
      const gone = await listToEmpty(this.#parts.db, this.#names(), GONE_MOST);
      for (const one of gone) {
        let dropped: number | null = 1;
        while (dropped !== 0) {
          if (signal?.aborted) return;
          dropped = await this.#alone((tx) => this.#empty(tx, one));
          if (dropped === null) return;
        }
      }
      if (gone.length < GONE_MOST) return;
    }
  }

  /** One batch of what a gone resource owns; 0 when nothing is left. It may have come back in the meantime: then it keeps all. */
  async #empty(tx: Tx, gone: Gone): Promise<number> {
    const { resource_id, source, kind } = gone;
    await lockDue(tx, [resource_id]);
    if (!(await isStillToEmpty(tx, resource_id))) return 0;
    // Whoever finds it again has to begin at the beginning, because the records are no longer there.
    await forgetCursor(tx, resource_id);
    const messages = await this.#dropMessages(tx, resource_id);
    if (messages > 0) return messages;
    for (const { name, owner } of this.#owns(source, kind)) {
      const dropped = await dropOwned(tx, name, owner, resource_id, ROWS_MOST);
      if (dropped > 0) return dropped;
    }
    await markEmptied(tx, resource_id);
    return 0;
  }

  async #dropMessages(tx: Tx, resource_id: bigint): Promise<number> {
    const origins = await dropMessages(tx, resource_id, ROWS_MOST);
    await moveTidemarks(
      tx,
      origins.filter((origin) => origin !== null),
    );
    return origins.length;
  }

  async #purge(tx: Tx): Promise<number> {
    const ids = await lockPurgeable(tx, this.#names(), GONE_MOST);
    if (ids.length === 0) return 0;
    await dropSkips(tx, ids);
    return purge(tx, ids);
  }

  /** Only sources that are known here: what another process has to delete first is its business. */
  #names(): string[] {
    return this.#parts.sources.map((source) => source.name);
  }

  #owns(source: string, kind: string): { name: string; owner: string }[] {
    const owned = this.#parts.sources.find((one) => one.name === source)?.kinds[kind]?.owns ?? [];
    return owned.flatMap(({ name, owner }) => (owner === undefined ? [] : [{ name, owner }]));
  }
}

async function tryLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>(
    sql`select pg_try_advisory_xact_lock(${LOCK_KEY}::bigint) as mine`,
  );
  return rows[0]?.mine ?? false;
}

/** Tomorrow's partition holds what happened seven days ago; nobody writes to it today. Who reads it is not waited for. */
export async function emptyTomorrow(tx: Tx): Promise<number> {
  const { rows: days } = await tx.query<{ day: number }>(
    sql`select ((extract(epoch from tidemark.now())::bigint / 86400 + 1) % 8)::int as day`,
  );
  const partition = raw(`tidemark.pull_${days[0]!.day}`);
  const { rows } = await tx.query(sql`select 1 as one from ${partition} limit 1`);
  if (rows.length === 0) return 0;
  await tx.query(sql`set local lock_timeout = '2s'`);
  await tx.query(sql`truncate ${partition}`);
  return 1;
}

export async function dropOldCounts(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    delete from tidemark.pull_count where ctid = any(array(
      select ctid from tidemark.pull_count where minute < tidemark.now() - interval '7 days' limit ${most}))`);
  return count;
}

export async function dropOldProgress(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    delete from tidemark.progress where ctid = any(array(
      select ctid from tidemark.progress where minute < tidemark.now() - interval '7 days' limit ${most}))`);
  return count;
}

/** Workers that were killed leave their row; a living one says that it is there every few seconds. */
export async function dropLostWorkers(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    delete from tidemark.worker where worker_id = any(array(
      select worker_id from tidemark.worker where seen_at < tidemark.now() - interval '1 day' limit ${most}))`);
  return count;
}

/** Neither followed nor anyone's child. */
const isNobodys = sql`(r.followed_at is null and not exists (select 1 from tidemark.edge e where e.child_id = r.resource_id))`;

/** Its records have not been deleted since it is gone: the condition of a partial index. */
const isFull = sql`(r.gone_at is not null and (r.emptied_at is null or r.emptied_at < r.gone_at))`;

/**
 * Mail that came while a pull found its resource gone: handling it may well bring the resource back, so it is not left until
 * somebody looks again.
 */
export async function wakeMailed(tx: Tx, most: number): Promise<number> {
  const { count } = await tx.query(sql`
    update tidemark.due d set due_at = greatest(tidemark.now(), d.not_before)
     where d.resource_id = any(array(
             select e.resource_id
               from tidemark.due e join tidemark.resource r on r.resource_id = e.resource_id
              where e.mail_seq > e.mail_done and e.lease_until is null and e.due_at > tidemark.now() and e.due_at < 'infinity'
                and ${isFull} and not ${isNobodys}
              order by e.resource_id limit ${most} for update of e skip locked))`);
  return count;
}

interface Gone {
  resource_id: bigint;
  source: string;
  kind: string;
}

/**
 * What nobody wants goes at once. What somebody does may be gone by mistake (a private repository, a bad deployment): it keeps its
 * records until it is looked at again, a week later, and found to be gone still.
 */
const isToEmpty = sql`
  ${isFull} and d.lease_until is null and (${isNobodys} or d.fresh_at >= r.gone_at + interval '7 days')`;

/** What has records to lose, the earliest first: the partial index holds only those not emptied yet. */
async function listToEmpty(db: Queryable, sources: string[], most: number): Promise<Gone[]> {
  const { rows } = await db.query<Gone>(sql`
    select r.resource_id, r.source, r.kind
      from tidemark.resource r join tidemark.due d on d.resource_id = r.resource_id
     where ${isToEmpty} and r.source = any(${sources}::text[])
     order by r.gone_at, r.resource_id limit ${most}`);
  return rows;
}

async function isStillToEmpty(tx: Tx, resource_id: bigint): Promise<boolean> {
  const { rows } = await tx.query(sql`
    select 1 as one from tidemark.resource r join tidemark.due d on d.resource_id = r.resource_id
     where r.resource_id = ${resource_id}::bigint and ${isToEmpty}`);
  return rows.length > 0;
}

async function markEmptied(tx: Tx, resource_id: bigint): Promise<void> {
  await tx.query(sql`
    update tidemark.resource set emptied_at = tidemark.now() where resource_id = ${resource_id}::bigint`);
}

async function forgetCursor(tx: Tx, resource_id: bigint): Promise<void> {
  await tx.query(sql`
    update tidemark.resource set cursor = null, progress_done = null, progress_total = null
     where resource_id = ${resource_id}::bigint and (cursor is not null or progress_done is not null)`);
  await forgetValidators(tx, [resource_id]);
}

/** Takes messages of a gone resource off unhandled, in one step with the mailbox's end; says who posted them. */
async function dropMessages(tx: Tx, resource_id: bigint, most: number): Promise<(bigint | null)[]> {
  const { rows } = await tx.query<{ origin_id: bigint | null }>(sql`
    delete from tidemark.message where ctid = any(array(
      select ctid from tidemark.message where resource_id = ${resource_id}::bigint order by seq limit ${most}))
    returning origin_id`);
  if (rows.length > 0)
    await tx.query(sql`update tidemark.due set mail_done = mail_seq where resource_id = ${resource_id}::bigint`);
  return rows.map((row) => row.origin_id);
}

/**
 * What has been gone for a week and is nobody's any more; its due rows are locked, in order. Only what has no records left: a purged
 * resource could no longer say which were its own.
 */
async function lockPurgeable(tx: Tx, sources: string[], most: number): Promise<bigint[]> {
  const { rows } = await tx.query<{ resource_id: bigint }>(sql`
    select d.resource_id
      from tidemark.due d
     where d.resource_id = any(array(
             select r.resource_id from tidemark.resource r
              where r.gone_at < tidemark.now() - interval '7 days' and r.emptied_at >= r.gone_at and ${isNobodys}
                and r.source = any(${sources}::text[])
              order by r.gone_at limit ${most}))
     order by d.resource_id for update skip locked`);
  return rows.map((row) => row.resource_id);
}

async function dropSkips(tx: Tx, ids: bigint[]): Promise<void> {
  await tx.query(sql`delete from tidemark.skip where origin_id = any(${ids}::bigint[])`);
}

/** Deletes the resource with its due row, its edges and its tidemark, if it is still gone and unfollowed. */
async function purge(tx: Tx, ids: bigint[]): Promise<number> {
  const { count } = await tx.query(sql`
    with over as (
      delete from tidemark.resource where resource_id = any(${ids}::bigint[]) and gone_at is not null and followed_at is null
      returning resource_id
    )
    delete from tidemark.due where resource_id in (select resource_id from over)`);
  return count;
}
