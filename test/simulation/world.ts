/** One seeded life of a fleet: logical workers that die, pause and stop on one embedded database under a virtual clock. */
import sql from "sql-template-tag";
import { type Db, Events, follow, Worker } from "tidemark";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { Mortal } from "./mortal.ts";
import { breaches, unfinished } from "./promises.ts";
import { type Random, seeded } from "./random.ts";
import { simulatedSource } from "./source.ts";

const TTL_MS = 4_000;
const WORKERS = 3;
const PACE = { pause_ms: 1_500, every: "20s", virtual: true };
const CHAOS_MS = 24_000;

export interface Life {
  seed: number;
  breaches: string[];
  deaths: number;
  steps: number;
}

export interface WorldOptions {
  /** Workers only stop in good order; then nothing may ever be charged. */
  calm?: boolean;
}

export class World {
  readonly #seed: number;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #db: Db;
  readonly #calm: boolean;
  /** How many events each stream has by now. */
  readonly #lengths = new Map<string, number>();
  readonly #found = new Set<string>();
  #fleet: { worker: Worker; mortal: Mortal; ended: Promise<void> }[] = [];
  #chaos = true;
  #deaths = 0;
  #steps = 0;
  #silent_until_ms = 0;

  /** `db` must be the database as setDatabaseClock gave it for this clock. */
  constructor(db: Db, clock: VirtualClock, seed: number, options: WorldOptions = {}) {
    this.#db = db;
    this.#clock = clock;
    this.#seed = seed;
    this.#random = seeded(seed);
    this.#calm = options.calm ?? false;
  }

  async live(): Promise<Life> {
    const begun_ms = this.#clock.elapsed_ms();
    this.#silent_until_ms = begun_ms;
    for (const stream of ["a", "b", "c1"]) this.#lengths.set(stream, this.#random.between(3, 14));
    for (let i = 0; i < WORKERS; i += 1) this.#hire();
    const { lanes } = this.#fleet[0]!.worker;
    for (const stream of this.#lengths.keys()) await follow(this.#db, lanes, "sim", stream);
    while (this.#clock.elapsed_ms() - begun_ms < CHAOS_MS && this.#found.size === 0) await this.#turn();
    this.#chaos = false;
    await this.#refill();
    await this.#finish();
    await this.#dismiss();
    return { seed: this.#seed, breaches: [...this.#found], deaths: this.#deaths, steps: this.#steps };
  }

  #hire(): void {
    const random = this.#random;
    const fate = () => {
      if (!this.#chaos || this.#calm) return { dies: false, pause_ms: 0 };
      const dies = random.chance(0.004);
      if (dies) this.#noteDeath();
      const pause_ms = random.chance(0.006) ? random.between(TTL_MS / 2, TTL_MS * 1.5) : 0;
      if (pause_ms > 0) this.#quiet(pause_ms);
      return { dies, pause_ms };
    };
    const mortal = new Mortal(this.#db, this.#clock, fate);
    const events = new Events();
    events.on("pull_ended", (e) => {
      if (e.outcome === "lost" && !mortal.disturbed && !worker.stopping)
        this.#found.add(`P1: a healthy worker lost ${e.key}`);
      if (e.outcome === "failed") this.#found.add(`a pull of ${e.key} failed: ${e.reason}`);
    });
    events.on("surprise", (e) => this.#found.add(`surprise: ${e.sentence} ${e.stack}`));
    const worker: Worker = new Worker({
      db: mortal.db,
      clock: mortal.clock,
      events,
      sources: [simulatedSource((stream) => this.#lengths.get(stream) ?? 0, this.#clock, random, PACE)],
      name: `worker ${this.#fleet.length}`,
      user_agent: "simulation",
      settings: {
        slots: 4,
        lease_ttl_ms: TTL_MS,
        grace_ms: 2_000,
        slice_ms: 3_000,
        pull_timeout_ms: 60_000,
        park_after: 1_000,
        cool_off_ms: 60_000,
        messages_max: 10_000,
      },
    });
    this.#fleet.push({ worker, mortal, ended: worker.run() });
  }

  #noteDeath(): void {
    this.#deaths += 1;
    this.#quiet(TTL_MS);
  }

  /** For this long nobody promises to notice an ended lease: the one who would is paused or dead. */
  #quiet(ms: number): void {
    this.#silent_until_ms = Math.max(this.#silent_until_ms, this.#clock.elapsed_ms() + ms + 2_000);
  }

  async #turn(): Promise<void> {
    const random = this.#random;
    for (let i = random.between(1, 24); i > 0; i -= 1) {
      await this.#clock.step();
      this.#steps += 1;
    }
    if (random.chance(0.05)) await this.#refill();
    if (random.chance(this.#calm ? 0.3 : 0.03))
      void this.#fleet[random.between(0, this.#fleet.length - 1)]!.worker.stop(random.chance(0.5));
    const gone = this.#fleet.filter((f) => f.mortal.dead || f.worker.stopping);
    if (gone.length > 0 && random.chance(this.#calm ? 0.9 : 0.3)) {
      this.#fleet = this.#fleet.filter((f) => f !== gone[0]);
      this.#hire();
    }
    await this.#check();
  }

  /** The upstream grows, and somebody asks for what is new. */
  async #refill(): Promise<void> {
    for (const [stream, length] of this.#lengths) this.#lengths.set(stream, length + this.#random.between(0, 3));
    await this.#clock.during(() =>
      this.#db.query(sql`
        update tidemark.due set due_at = greatest(tidemark.now(), not_before)
         where lease_until is null and resource_id in (select resource_id from tidemark.resource where kind = 'stream')`),
    );
  }

  async #check(): Promise<void> {
    await this.#clock.settle();
    const silent =
      this.#clock.elapsed_ms() < this.#silent_until_ms || this.#fleet.every((f) => f.mortal.dead || f.worker.stopping);
    for (const what of await breaches(this.#db, silent)) this.#found.add(what);
    if (!this.#calm) return;
    const { rows } = await this.#db.query<{ n: number }>(sql`select count(resource_id)::int as n from sim.charge`);
    if (rows[0]!.n > 0) this.#found.add(`P6: ${rows[0]!.n} were charged though every worker stopped in good order`);
  }

  /** Without further trouble everything comes to rest. */
  async #finish(): Promise<void> {
    while (this.#fleet.filter((f) => !f.mortal.dead && !f.worker.stopping).length < 2) this.#hire();
    const deadline_ms = this.#clock.elapsed_ms() + 120_000;
    let open: string[] = ["nothing was looked at"];
    while (open.length > 0 && this.#found.size === 0) {
      if (this.#clock.elapsed_ms() > deadline_ms) {
        for (const what of open) this.#found.add(`unfinished: ${what}`);
        return;
      }
      for (let i = 0; i < 25; i += 1) await this.#clock.step();
      await this.#check();
      open = await unfinished(this.#db, this.#lengths);
    }
  }

  async #dismiss(): Promise<void> {
    const living = this.#fleet.filter((f) => !f.mortal.dead);
    for (const f of living) void f.worker.stop(true);
    let done = false;
    void Promise.all(living.map((f) => f.ended)).then(() => {
      done = true;
    });
    for (let i = 0; i < 2_000 && !done; i += 1) if (!(await this.#clock.step())) await this.#clock.settle();
    for (const f of this.#fleet) f.mortal.die();
    if (!done && this.#found.size === 0) this.#found.add("a worker did not stop");
    const { rows } = await this.#db.query<{ n: number }>(sql`
      select count(resource_id)::int as n from tidemark.due where lease_until > tidemark.now() and ${this.#deaths === 0}`);
    if (rows[0]!.n > 0) this.#found.add(`P6: ${rows[0]!.n} leases were left behind by workers that stopped`);
  }
}
