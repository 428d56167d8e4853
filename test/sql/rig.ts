/** What tests of the engine stand on: a database on a virtual clock, workers that can be started, stopped and killed. */
import sql, { type Sql } from "sql-template-tag";
import { Lanes } from "../../src/engine/lanes.ts";
import type { EventFields } from "../../src/events.ts";
import {
  type Events,
  Events as EventsClass,
  follow,
  type Source,
  Worker,
  type WorkerSettings,
} from "../../src/index.ts";
import type { Db, Queryable } from "../../src/store/db.ts";
import { mortal } from "../../src/testing/mortal.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";
import type { TestOptions, TestStore } from "../postgres.ts";
import { entries, migrations, words } from "./toy.ts";

export const settings: WorkerSettings = {
  slots: 20,
  lease_ttl_ms: 30_000,
  grace_ms: 20_000,
  slice_ms: 60_000,
  pull_timeout_ms: 300_000,
  park_after: 8,
  cool_off_ms: 86_400_000,
  messages_max: 1_000_000,
};

export interface StatusRow {
  resource_id: bigint;
  kind: string;
  key: string;
  status: string;
  due_at: string;
  not_before: string;
  fresh_at: string | null;
  changed_at: string | null;
  asked_at: string | null;
  failures: number;
  lease_no: bigint;
  lease_until: string | null;
  lane_id: number;
  mail: bigint;
  reason: string | null;
  error: { code: string; sentence: string } | null;
  cursor: unknown;
  due_in_ms: number;
}

type Ended = EventFields["pull_ended"];

/** Opens a store once and empties it for each test. */
export class Rig {
  readonly #store: TestStore;
  readonly #workers = new Map<Worker, { running: Promise<void>; kill(): Promise<void> }>();
  clock = new VirtualClock();
  db: Db;
  events: Events = new EventsClass();
  ended: Ended[] = [];
  surprises: string[] = [];
  lanes = new Lanes([]);
  sources: Source[] = [];

  private constructor(store: TestStore) {
    this.#store = store;
    this.db = store.db;
  }

  static async open(open: (options?: TestOptions) => Promise<TestStore>): Promise<Rig> {
    return new Rig(await open({ migrations: [migrations] }));
  }

  /** An empty database, a clock at its beginning, and these sources. */
  async reset(...sources: Source[]): Promise<void> {
    await wipe(this.#store.db, [words, entries, { name: "toy.log" }]);
    this.clock = new VirtualClock();
    this.db = await setDatabaseClock(this.#store.db, this.clock);
    this.events = new EventsClass();
    this.ended = [];
    this.surprises = [];
    this.events.on("pull_ended", (e) => this.ended.push(e));
    this.events.on("surprise", (e) => this.surprises.push(e.sentence));
    this.use(...sources);
  }

  /** Other code for the same names, as after a deployment. */
  use(...sources: Source[]): void {
    this.sources = sources;
    this.lanes = new Lanes(sources);
  }

  /** The end of a test: every worker stops, and no lease or worker is left. */
  async end(): Promise<void> {
    for (const worker of [...this.#workers.keys()]) await this.stop(worker);
    const left = await this.rows<{ leases: number; workers: number }>(sql`
      select (select count(*)::int from tidemark.due where lease_until > tidemark.now()) as leases,
             (select count(*)::int from tidemark.worker) as workers`);
    if (left[0]!.leases + left[0]!.workers > 0) throw new Error(`left over: ${JSON.stringify(left[0])}`);
    if (this.surprises.length > 0) throw new Error(`surprises: ${this.surprises.join("; ")}`);
  }

  start(given: Partial<WorkerSettings> = {}, name = `w${this.#workers.size}`, db: Db = this.db): Worker {
    const life = mortal(db, this.clock);
    const { events, sources } = this;
    const all = { ...settings, ...given };
    const parts = { ...life.parts, events, sources, settings: all, name, user_agent: "test" };
    const worker = new Worker({ ...parts, allow_private: ["127.0.0.1"] });
    this.#workers.set(worker, { running: worker.run(), kill: () => life.kill() });
    return worker;
  }

  /** Stops with ceremony, letting as much time pass as that takes. */
  async stop(worker: Worker, now = false): Promise<void> {
    let stopped = false;
    const stopping = worker.stop(now).then(() => {
      stopped = true;
    });
    await this.clock.until(() => stopped);
    await stopping;
    this.#workers.delete(worker);
  }

  /** Stops without ceremony: not one more word of it reaches the database. */
  async kill(worker: Worker): Promise<void> {
    await this.#workers.get(worker)!.kill();
    this.#workers.delete(worker);
    await this.db.query(sql`delete from tidemark.worker where name = any(${["killed"]}::text[])`);
  }

  async follow(...texts: string[]): Promise<void> {
    for (const text of texts) await follow(this.db, this.lanes, this.sources[0]!.name, text);
  }

  /** Lets time pass until nothing is due, leased or in a mailbox. */
  async calm(most_ms = 600_000): Promise<void> {
    await this.clock.until(async () => {
      const [row] = await this.rows<{ n: number }>(sql`
        select count(*)::int as n from tidemark.due where lease_until is not null or due_at <= tidemark.now()`);
      return row!.n === 0;
    }, most_ms);
  }

  async rows<R>(statement: Sql, db: Queryable = this.db): Promise<R[]> {
    return (await db.query<R>(statement)).rows;
  }

  async resource(key: string, kind?: string): Promise<StatusRow> {
    const [row] = await this.rows<StatusRow>(sql`
      select resource_id, kind, key, status, due_at, not_before, fresh_at, changed_at, asked_at, failures::int as failures, lease_no,
             lease_until, lane_id, mail, reason, error, cursor,
             case when due_at < 'infinity' then extract(epoch from due_at - tidemark.now())::float8 * 1000 end as due_in_ms
        from tidemark.status where key = ${key} and (${kind ?? null}::text is null or kind = ${kind ?? null})`);
    if (!row) throw new Error(`there is no ${key}`);
    return row;
  }

  async statuses(): Promise<Record<string, string>> {
    const rows = await this.rows<{ key: string; status: string }>(
      sql`select key, status from tidemark.status order by key`,
    );
    return Object.fromEntries(rows.map((r) => [r.key, r.status]));
  }
}
