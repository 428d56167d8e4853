/** One pull from its lease to its end: every yield of the source is a commit, and every way to end has an outcome. */
import { setMaxListeners } from "node:events";
import type { Clock } from "../clock.ts";
import type { Batch, FetchRequest, Kind, Outcome, Pull, Resource } from "../contract.ts";
import { fresh, more } from "../contract.ts";
import { asTidemarkError, hasCode, TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";
import type { Queryable } from "../store/db.ts";
import { checkCursor, checkMove, checkSize } from "./batch.ts";
import type { Committer } from "./committer.ts";
import type { Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import { type End, endOf, endOfFailure, type Rules } from "./outcome.ts";
import type { Room } from "./room.ts";
import type { Committed, Unit } from "./unit.ts";
import type { Upstreams } from "./upstream.ts";
import { fetchIfChanged, type SeenValidators } from "./validators.ts";

/** Calls that one pull may have out before Node warns of a leak. */
const LISTENERS_MOST = 1_000;

export interface PullParts {
  lanes: Lanes;
  committer: Committer;
  upstreams: Upstreams;
  db: Queryable;
  read: Queryable;
  clock: Clock;
  rules: Rules;
  slice_ms: number;
  room: Room;
  /** True once the worker is shutting down: a pull stops at its next commit. */
  stopping(): boolean;
  /** Tells workers that something fell due. */
  wake(): void;
}

/** A pull under way, as its source sees it and as the worker watches it. */
export class ActivePull implements Pull {
  readonly lease: Lease;
  readonly kind: Kind;
  readonly resource: Resource;
  readonly generation: bigint;
  readonly fresh_at: string | null;
  readonly begun_ms: number;
  /** A person asked for it, rather than the schedule. */
  readonly asked: boolean;
  cursor: unknown;
  /** When it last committed something, or began. */
  alive_ms: number;
  changed = 0;
  commits = 0;
  /** What its source last said is done. */
  done: number | null;
  /** How much further it got, in the source's own measure. */
  progressed = 0;
  /** It made others due: workers elsewhere should know. */
  woke = false;
  /** The mailbox number that is dealt with once this pull ends. */
  mail_done: bigint;
  /** What its upstream's answers can be recognised by, where that is new. */
  seen: SeenValidators | null = null;
  /** The last word on this pull was said: nothing more of it is committed. */
  over = false;
  readonly #parts: PullParts;
  #abort: AbortController | null = null;

  constructor(lease: Lease, parts: PullParts) {
    this.#parts = parts;
    this.lease = lease;
    this.kind = parts.lanes.kind(lease.source, lease.kind);
    this.generation = lease.generation + 1n;
    this.fresh_at = lease.fresh_at;
    this.asked = parts.lanes.row(lease.lane_id)?.urgency === "asked";
    this.mail_done = lease.mail_done;
    this.done = lease.progress_done === null ? null : Number(lease.progress_done);
    this.begun_ms = parts.clock.elapsed_ms();
    this.alive_ms = this.begun_ms;
    const { resource_id, source, kind, key, options } = lease;
    this.resource = { resource_id, source, kind, key, options: options ?? {} };
  }

  get name(): string {
    return `${this.lease.source} ${this.lease.kind} ${this.lease.key}`;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      // Each of its calls that is out listens to it, and some make many at once.
      setMaxListeners(LISTENERS_MOST, this.#abort.signal);
    }
    return this.#abort.signal;
  }

  get read(): Queryable {
    return this.#parts.read;
  }

  /** Asks the source to come to an end; what it throws then is how the pull ends. */
  hurry(error: TidemarkError): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(error);
  }

  /** Ends it from outside: nothing more of it is committed. */
  abort(error: TidemarkError): void {
    this.over = true;
    this.#abort ??= new AbortController();
    this.#abort.abort(error);
  }

  /** The database's time, as far as this process can tell. */
  time_ms(): number {
    return this.lease.now_ms + (this.#parts.clock.elapsed_ms() - this.begun_ms);
  }

  /** Bound, so that a source may take it out of the pull; made when asked for, as most pulls never do. */
  get now_ms(): () => number {
    return () => this.time_ms();
  }

  get fetch(): Pull["fetch"] {
    return (url, given = {}) => {
      const { upstream } = this.kind;
      const at = typeof upstream === "function" ? upstream(this.lease.key, this.resource.options) : upstream;
      const { resource_id } = this.lease;
      const send = (request: FetchRequest) => this.#parts.upstreams.fetch(at, url, request, this.signal, resource_id);
      if (!given.if_changed) return send(given);
      this.seen ??= new Map();
      const { kind, seen } = this;
      return fetchIfChanged(url, given, { db: this.#parts.db, resource_id, kind, seen, now_ms: this.time_ms(), send });
    };
  }
}

/** How a pull ended, for those who watch. */
export interface Ended {
  end: End | null;
  changed: number;
  error: TidemarkError | null;
  message_parked: boolean;
}

export const lost = (error: TidemarkError | null = null): Ended => ({
  end: null,
  changed: 0,
  error,
  message_parked: false,
});

/** Reads the cursor as its kind declares it; absent means where history begins. */
export function openCursor(pull: ActivePull): void {
  pull.cursor = checkCursor(pull.kind, pull.lease.cursor ?? undefined, pull);
}

/** Drives a source's generator: commit after every yield, until it ends, is stopped, or its slice of time is over. */
export async function drive(pull: ActivePull, parts: PullParts): Promise<Ended> {
  let generator: ReturnType<NonNullable<Kind["pull"]>> | null = null;
  try {
    openCursor(pull);
    if (!pull.kind.pull) return await endWith(pull, parts, fresh());
    generator = pull.kind.pull(pull);
    let moved = false;
    for (;;) {
      const step = await generator.next();
      if (step.done) {
        generator = null;
        return await endWith(pull, parts, step.value || fresh());
      }
      const batch = step.value;
      moved = checkBatch(pull, batch) || moved;
      if (batch.post?.length) await parts.room.check(pull.lease.source);
      const result = await parts.committer.submit(
        unitOf(pull, batch, batch.final ? finalEnd(pull, batch.final) : null),
      );
      if (!result.committed) return lost();
      advance(pull, batch, result, parts);
      if (result.end) return { end: result.end, changed: pull.changed, error: null, message_parked: false };
      if (moved && (parts.stopping() || parts.clock.elapsed_ms() - pull.begun_ms > parts.slice_ms))
        return await endWith(pull, parts, more());
    }
  } catch (thrown) {
    return await endWithError(pull, parts, asTidemarkError(thrown));
  } finally {
    // A generator that waits at a yield is told to clean up.
    if (generator) await generator.return(undefined).catch(() => undefined);
  }
}

/** Checks a batch against its kind; says whether the cursor moved. What answers a message may post without moving it. */
export function checkBatch(pull: ActivePull, batch: Batch, mail = false): boolean {
  if (pull.over) throw new TidemarkError("LeaseLost", `The pull of ${pull.name} had ended already.`);
  checkSize(batch, pull.name);
  if (batch.cursor === undefined) {
    if (batch.post?.length && !batch.final && !mail)
      throw new TidemarkError(
        "BatchInvalid",
        `${pull.name} posts without moving its cursor: cut here, it would post again.`,
      );
    return false;
  }
  batch.cursor = checkCursor(pull.kind, batch.cursor, pull);
  checkMove(pull.kind, pull.cursor, batch.cursor, pull.name);
  const moved = toJson(batch.cursor) !== toJson(pull.cursor);
  if (!moved && !batch.final && pull.commits > 0)
    throw new TidemarkError("CursorStuck", `The pull of ${pull.name} yielded again without moving its cursor.`);
  return moved;
}

export function advance(pull: ActivePull, batch: Batch, result: Committed, parts: PullParts): void {
  if (batch.cursor !== undefined) pull.cursor = batch.cursor;
  pull.changed += result.changed;
  pull.commits += 1;
  pull.progressed += progressOf(pull, batch);
  if (wakes(batch)) {
    pull.woke = true;
    // A long pull goes on: what it posted does not wait for its end.
    if (!batch.final) parts.wake();
  }
  pull.alive_ms = parts.clock.elapsed_ms();
}

/** Whether a batch may have made others due. */
export function wakes(batch: Batch): boolean {
  return Boolean(batch.post?.length || batch.touch?.length || batch.children?.found.length);
}

/** How far the batch brought the pull, from what the source says is done. */
function progressOf(pull: ActivePull, batch: Batch): number {
  if (!batch.progress) return 0;
  const before = pull.done ?? batch.progress.done;
  pull.done = batch.progress.done;
  return Math.max(0, pull.done - before);
}

export function unitOf(pull: ActivePull, batch: Batch | null, end: Unit["end"]): Unit {
  const { lease, kind, cursor, generation, mail_done, seen } = pull;
  return { lease, kind, batch, cursor, generation, handled: [], mail_done, end, seen };
}

export function finalEnd(pull: ActivePull, outcome: Outcome): (result: Committed) => End {
  return (result) => endOf(outcome, pull.lease, pull.kind, pull.changed + result.changed > 0, pull.time_ms());
}

export async function endWith(pull: ActivePull, parts: PullParts, outcome: Outcome): Promise<Ended> {
  if (pull.over) return lost();
  const result = await parts.committer.submit(unitOf(pull, null, finalEnd(pull, outcome)));
  return result.committed ? { end: result.end, changed: pull.changed, error: null, message_parked: false } : lost();
}

/** Being told to wait is an outcome, and so is what is not the resource's fault; losing the lease or the database is nobody's; the rest is a failure that counts. */
export async function endWithError(pull: ActivePull, parts: PullParts, error: TidemarkError): Promise<Ended> {
  if (pull.over || error.code === "LeaseLost" || error.code === "StoreDown") return lost(error);
  const end = (): End => {
    if (error.code === "UpstreamBusy" || error.code === "MailboxFull" || !error.charged)
      return endOf(
        { outcome: "later", wait_ms: error.wait_ms ?? 60_000, reason: error.message },
        pull.lease,
        pull.kind,
        false,
        pull.time_ms(),
      );
    if (error.code === "UpstreamGone")
      return endOf({ outcome: "gone", reason: error.message }, pull.lease, pull.kind, false, pull.time_ms());
    return endOfFailure(error, pull.lease, parts.rules);
  };
  try {
    return await submitEnd(pull, parts, end, error);
  } catch (thrown) {
    if (hasCode(thrown, "StoreDown")) return lost(thrown);
    // What is said of the failure was itself refused: without a charge the resource would be claimed again at once, for ever.
    const plain = new TidemarkError("Unexpected", "It failed, and what was to be said of that could not be written.");
    return await submitEnd(pull, parts, () => endOfFailure(plain, pull.lease, parts.rules), error);
  }
}

async function submitEnd(pull: ActivePull, parts: PullParts, end: () => End, error: TidemarkError): Promise<Ended> {
  const result = await parts.committer.submit(unitOf(pull, null, end));
  return result.committed ? { end: result.end, changed: pull.changed, error, message_parked: false } : lost(error);
}
