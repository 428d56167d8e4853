/** A worker claims due resources, runs their pulls and sleeps until the next one is due; any number run side by side. */
import sql from "sql-template-tag";
import { TidemarkError } from "../errors.ts";
import type { EventFields } from "../events.ts";
import { Alarm } from "./alarm.ts";
import { Claims } from "./claims.ts";
import { Committer } from "./committer.ts";
import { HeldLeases } from "./held.ts";
import { expire, nextWake } from "./holds.ts";
import { Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import { rideOut, surprise } from "./outage.ts";
import { ActivePull, type Ended, endWithError, lost, type PullParts } from "./pull.ts";
import { Room } from "./room.ts";
import { run } from "./run.ts";
import { Statistics } from "./statistics.ts";
import { Upstreams } from "./upstream.ts";
import { parkExpired } from "./verbs.ts";
import { Waker } from "./waker.ts";
import type { WorkerParts } from "./worker-parts.ts";

const SLICE_MS = 60_000;
const IDLE_MS_MAX = 10_000;
const EXPIRE_EVERY_MS = 500;
const RELOAD_EVERY_MS = 10_000;
const FLUSH_EVERY_MS = 5_000;
/** Holds looked at in one go. */
const EXPIRE_MOST = 20;
const GATHER_MS = 20;
const WAVE_LEAST = 200;
const LOCKED_WAIT_MS = 1_000;

export class Worker {
  readonly lanes: Lanes;
  readonly #parts: WorkerParts;
  readonly #held: HeldLeases;
  readonly #claims: Claims;
  readonly #pulls: PullParts;
  readonly #statistics = new Statistics();
  readonly #waker: Waker;
  readonly #stop = new AbortController();
  /** Every lease is finished or handed back: nothing is left to renew. */
  readonly #shut = new AbortController();
  readonly #alarm: Alarm;
  #worker_id = 0;
  #expired_ms = Number.NEGATIVE_INFINITY;
  #claimed_ms = Number.NEGATIVE_INFINITY;
  #reloaded_ms = Number.NEGATIVE_INFINITY;
  #since = "-infinity";
  #running: Promise<void> | null = null;
  #gathering = false;
  #now = false;

  constructor(parts: WorkerParts) {
    const { db, clock, events, settings } = parts;
    this.#parts = parts;
    this.#alarm = new Alarm(clock);
    this.lanes = new Lanes(parts.sources);
    this.#waker = parts.waker ?? new Waker(db, clock);
    const { lanes } = this;
    const ttl_ms = settings.lease_ttl_ms;
    this.#held = new HeldLeases({ db, clock, events, lanes, ttl_ms, pull_timeout_ms: settings.pull_timeout_ms });
    const upstreams = new Upstreams(parts);
    const barred = (upstream: string) => upstreams.barred(upstream);
    this.#claims = new Claims({ db, lanes, clock, slots: settings.slots, barred });
    this.#pulls = {
      lanes,
      committer: new Committer({ db, lanes, clock, events, ttl_ms, ...(parts.at ? { at: parts.at } : {}) }),
      upstreams,
      db,
      read: parts.read ?? db,
      clock,
      rules: settings,
      slice_ms: settings.slice_ms ?? SLICE_MS,
      room: new Room(db, clock, settings.messages_max),
      stopping: () => this.#stop.signal.aborted,
      wake: () => this.#waker.wake(),
    };
  }

  get stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Runs until stopped; resolves when every lease is finished or handed back. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Asks it to finish within the grace period; asked again, it gives everything back now. */
  async stop(now = false): Promise<void> {
    if (this.stopping || now) this.#now = true;
    this.#stop.abort();
    this.#alarm.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { events, settings, name, clock } = this.#parts;
    const off = this.#waker.on((elsewhere) => this.#wake(elsewhere));
    const beats = this.#beat();
    const flushes = this.#flush();
    let unlisten: (() => Promise<void>) | null = null;
    const begun = clock.elapsed_ms();
    events.emit("worker_started", { worker: name, slots: settings.slots });
    while (!this.stopping) {
      try {
        unlisten ??= await this.#waker.listen();
        await this.#step();
      } catch (thrown) {
        await rideOut(this.#parts, thrown, this.#stop.signal);
      }
    }
    await this.#shutDown();
    this.#shut.abort();
    await Promise.all([beats, flushes]);
    off();
    await unlisten?.().catch(() => undefined);
    await this.#pulls.upstreams.close();
    events.emit("worker_stopped", { worker: name, ms: clock.elapsed_ms() - begun });
  }

  /** One turn: claim and start what there is, or sleep until there may be something. */
  async #step(): Promise<void> {
    const { clock, settings, db, events } = this.#parts;
    this.#alarm.clear();
    await this.#held.sayUnsaid();
    await this.#register();
    if (clock.elapsed_ms() - this.#expired_ms >= EXPIRE_EVERY_MS) await this.#expire();
    const free = settings.slots - this.#held.size;
    if (free === 0) return this.#alarm.sleep(IDLE_MS_MAX);
    const begun = clock.elapsed_ms();
    // Where pulls are short, a few free slots soon become many: one claim for all of them is cheaper. And where slots are many, one
    // half of them is claimed while the other half ends.
    const soon_ms = this.#claimed_ms + GATHER_MS - begun;
    if (free < this.#enough && soon_ms > 0) return this.#gather(soon_ms);
    const wave = Math.max(WAVE_LEAST, Math.ceil(settings.slots / 2));
    this.#claimed_ms = begun;
    const leases = await this.#claims.next(Math.min(free, wave), this.#held, this.#held.claimer(this.#worker_id));
    if (leases.length > 0) {
      events.emit("claim", { count: leases.length, ms: clock.elapsed_ms() - begun });
      return this.#start(leases);
    }
    const wake = await nextWake(db, this.#claims.marked(free, this.#held), this.#since);
    // A hold whose time has come is not looked at more often than that, however long it stands there.
    const expiry_ms = Math.max(wake.expiry_ms ?? IDLE_MS_MAX, this.#expired_ms + EXPIRE_EVERY_MS - clock.elapsed_ms());
    const waits = [wake.due_ms, expiry_ms, IDLE_MS_MAX, settings.lease_ttl_ms / 2].filter((w) => w !== null);
    // What is due but could not be claimed (another has its row locked) is looked at again in a moment, not at once.
    await this.#alarm.sleep(
      Math.max(Math.min(...waits) + 1, wake.due_ms !== null && wake.due_ms <= 0 ? LOCKED_WAIT_MS : 1),
    );
  }

  /** Sleeps until enough slots are free; single ends do not disturb it. */
  async #gather(ms: number): Promise<void> {
    this.#gathering = true;
    await this.#alarm.sleep(ms);
    this.#gathering = false;
  }

  get #enough(): number {
    return this.#parts.settings.slots / 4;
  }

  /** What another process says may be about a lane that is new here. */
  #wake(elsewhere: boolean): void {
    if (elsewhere)
      this.#reloaded_ms = Math.min(this.#reloaded_ms, this.#parts.clock.elapsed_ms() - RELOAD_EVERY_MS + 1_000);
    this.#alarm.ring();
  }

  /** A row for this worker, and the lanes that others made, now and then. */
  async #register(): Promise<void> {
    const { db, clock, name, settings } = this.#parts;
    if (this.#worker_id === 0) {
      const { rows } = await db.query<{ worker_id: number }>(sql`
        insert into tidemark.worker (name, role, slots) values (${name}, 'worker', ${settings.slots}) returning worker_id`);
      this.#worker_id = rows[0]!.worker_id;
      await this.lanes.declare(db);
    }
    if (clock.elapsed_ms() - this.#reloaded_ms < RELOAD_EVERY_MS) return;
    await this.lanes.load(db);
    this.#reloaded_ms = clock.elapsed_ms();
  }

  async #expire(): Promise<void> {
    const { db, clock, events, settings } = this.#parts;
    const settled = this.#claims.settled_at;
    const { all, ended } = await expire(db, this.#since, EXPIRE_MOST);
    this.#expired_ms = clock.elapsed_ms();
    // What was skipped is looked at again: whoever has it locked may die, and leave it as it was.
    if (all) this.#since = settled;
    if (ended.length === 0) return;
    events.emit("lease_expired", { count: ended.length });
    const worn = ended.filter((e) => e.failures >= settings.park_after).map((e) => e.resource_id);
    await parkExpired(db, worn, settings.cool_off_ms);
  }

  async #start(leases: Lease[]): Promise<void> {
    const known = leases.filter((lease) => this.lanes.knows(lease.source, lease.kind));
    const pulls = known.map((lease) => new ActivePull(lease, this.#pulls));
    for (const pull of pulls) this.#held.add(pull);
    void run(pulls, this.#pulls, (pull, ended) => this.#ended(pull, ended));
    await this.#held.leave(leases.filter((lease) => !known.includes(lease)));
  }

  #ended(pull: ActivePull, { end, changed, error, message_parked }: Ended): void {
    if (!this.#held.remove(pull, end !== null)) return;
    const { events, clock, settings } = this.#parts;
    const { source, kind, key, resource_id } = pull.lease;
    const ms = clock.elapsed_ms() - pull.begun_ms;
    const outcome = end?.outcome ?? "lost";
    pull.over = true;
    const reason = end?.reason ?? error?.message ?? null;
    this.#statistics.note({ resource_id, source, kind, outcome, changed, ms, reason, error });
    this.#statistics.progress(pull.lease.lane_id, pull.progressed);
    const rows = changed;
    const told: EventFields["pull_ended"] = { source, kind, key, resource_id, outcome, changed: rows > 0, ms, rows };
    if (reason) told.reason = reason;
    if (error) Object.assign(told, { error_code: error.code, error });
    events.emit("pull_ended", told);
    if (end?.parked) events.emit("parked", { source, kind, key, reason: reason ?? "", failures: end.failures });
    if (message_parked)
      events.emit("message_parked", {
        source,
        kind,
        key,
        message_id: pull.mail_done + 1n,
        reason: reason ?? "",
        tries: 5,
      });
    // Others may wait for the room that this pull leaves in a bounded lane.
    if (pull.woke || this.lanes.row(pull.lease.lane_id)?.fleet) this.#waker.wake();
    else if (!this.#gathering || settings.slots - this.#held.size >= this.#enough) this.#alarm.ring();
  }

  /** Renews leases, and ends pulls that hang: first asked to, then without asking. */
  async #beat(): Promise<void> {
    const { clock, settings, db } = this.#parts;
    while (!this.stopping || this.#held.size > 0) {
      await clock.sleep(settings.lease_ttl_ms / 3, (this.stopping ? this.#shut : this.#stop).signal);
      try {
        await this.#held.renew();
        await db.query(sql`
          update tidemark.worker set seen_at = tidemark.now(), busy = ${this.#held.size}, stopping = ${this.stopping}
           where worker_id = ${this.#worker_id}`);
      } catch (thrown) {
        surprise(this.#parts.events, thrown);
      }
      for (const pull of this.#held.hanging()) void this.#endHanging(pull);
    }
  }

  async #endHanging(pull: ActivePull): Promise<void> {
    const error = new TidemarkError("PullTooLong", `The pull of ${pull.name} committed nothing for too long.`);
    if (!pull.signal.aborted) return pull.hurry(error);
    // It lost its lease before, and does not listen: its slot is another's.
    if (pull.over) return this.#ended(pull, lost(error));
    const ended = await endWithError(pull, this.#pulls, error).catch(() => lost(error));
    this.#ended(pull, ended);
  }

  async #flush(): Promise<void> {
    const { clock, db, events } = this.#parts;
    while (!this.stopping) {
      await clock.sleep(FLUSH_EVERY_MS, this.#stop.signal);
      if (this.#worker_id > 0) await this.#statistics.flush(db, this.#worker_id).catch((e) => surprise(events, e));
    }
  }

  async #shutDown(): Promise<void> {
    const { clock, events, settings, name, db } = this.#parts;
    const { grace_ms } = settings;
    events.emit("worker_stopping", { worker: name, leases: this.#held.size, grace_ms });
    const begun = clock.elapsed_ms();
    while (this.#held.size > 0 && !this.#now && clock.elapsed_ms() - begun < grace_ms) {
      await this.#alarm.sleep(grace_ms - (clock.elapsed_ms() - begun));
    }
    try {
      await this.#held.giveUp();
      if (this.#worker_id > 0) {
        await this.#statistics.flush(db, this.#worker_id);
        await db.query(sql`delete from tidemark.worker where worker_id = ${this.#worker_id}`);
      }
    } catch (thrown) {
      surprise(this.#parts.events, thrown);
    }
    this.#waker.wake();
  }
}
