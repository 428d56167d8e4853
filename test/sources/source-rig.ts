/** What flows of a source stand on: a database on a virtual clock, a pretend upstream, and workers in between. */
import sql from "sql-template-tag";
import { Housekeeping } from "../../src/engine/housekeeping.ts";
import { Lanes } from "../../src/engine/lanes.ts";
import { type EventFields, Events } from "../../src/events.ts";
import { follow, type Source, Worker, type WorkerSettings } from "../../src/index.ts";
import type { HostTokens } from "../../src/secrets.ts";
import type { Db } from "../../src/store/db.ts";
import { type Life, mortal } from "../../src/testing/mortal.ts";
import { type PretendUpstream, pretendUpstream, type Route } from "../../src/testing/upstream.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";
import { settings } from "../sql/rig.ts";

export class SourceRig {
  readonly #store: Db;
  #living: { worker: Worker; life: Life }[] = [];
  #tokens: HostTokens = {};
  #broken: unknown = null;
  clock = new VirtualClock();
  db: Db;
  source!: Source;
  upstream!: PretendUpstream;
  lanes!: Lanes;
  events = new Events();
  ended: EventFields["pull_ended"][] = [];
  /** Why the upstream was not called for a while. */
  closed: string[] = [];

  constructor(store: Db) {
    this.#store = store;
    this.db = store;
  }

  /** An empty database and a clock at its beginning. */
  protected async begin(tables: { name: string }[]): Promise<void> {
    await wipe(this.#store, tables);
    this.clock = new VirtualClock();
    this.db = await setDatabaseClock(this.#store, this.clock);
    this.events = new Events();
    this.ended = [];
    this.closed = [];
    this.events.on("upstream_closed", ({ reason }) => this.closed.push(reason));
    this.events.on("pull_ended", (e) => this.ended.push(e));
  }

  /** What the upstream answers, and the source that asks it, which is made once its address is known. */
  protected async open(
    route: Route,
    make: (url: string) => Source,
    own: Record<string, string> = {},
    tokens: HostTokens = {},
  ): Promise<void> {
    this.#tokens = tokens;
    this.#broken = null;
    // A defect of the pretend upstream is not one of the source: it fails the test, and nobody waits for an answer.
    this.upstream = await pretendUpstream(this.clock, async (asked) => {
      try {
        return await route(asked);
      } catch (thrown) {
        this.#broken = thrown;
        return { status: 500 };
      }
    });
    this.source = make(this.upstream.url);
    this.source.configure?.(this.source.settings!.parse(own), { github_url: null });
    this.lanes = new Lanes([this.source]);
  }

  /** A worker; `kills` decides after each of its commits whether it dies there. */
  start(given: Partial<WorkerSettings> = {}, kills?: Parameters<typeof mortal>[2]): Life {
    const life = mortal(this.db, this.clock, kills);
    const parts = { ...life.parts, events: this.events, sources: [this.source], settings: { ...settings, ...given } };
    const name = `w${this.#living.length}`;
    const worker = new Worker({
      ...parts,
      name,
      user_agent: "test",
      tokens: this.#tokens,
      allow_private: ["127.0.0.1"],
    });
    this.#living.push({ worker, life });
    void worker.run();
    return life;
  }

  /** Stops every worker, as before a restart. */
  async stop(): Promise<void> {
    let stopped = false;
    const living = this.#living.filter(({ life }) => !life.dead);
    const stopping = Promise.all(living.map(({ worker }) => worker.stop())).finally(() => {
      stopped = true;
    });
    await this.clock.until(() => stopped);
    await stopping;
    this.#living = [];
  }

  async end(): Promise<void> {
    await this.stop();
    await this.upstream.close();
    await this.clock.settle();
    if (this.#broken) throw this.#broken;
  }

  async followed(text: string, options: Record<string, unknown> = {}): Promise<void> {
    await follow(this.db, this.lanes, this.source.name, text, options);
  }

  /** Nothing is due or leased. */
  async isCalm(): Promise<boolean> {
    const { rows } = await this.db.query<{ n: number }>(sql`
      select count(*)::int as n from tidemark.due where lease_until is not null or due_at <= (select tidemark.now())`);
    return rows[0]!.n === 0;
  }

  /** Lets time pass until that is so. */
  async calm(most_ms = 6 * 3600_000): Promise<void> {
    await this.clock.until(() => this.isCalm(), most_ms);
  }

  /** A worker, until nothing is due. */
  async work(given: Partial<WorkerSettings> = {}): Promise<void> {
    this.start(given);
    await this.calm(24 * 3600_000);
    await this.stop();
  }

  /** Lets time pass with a worker only when something is due: its looks at an empty list, every few seconds, take the clock hours. */
  async live(ms: number, given: Partial<WorkerSettings> = {}): Promise<void> {
    const { clock } = this;
    const end_ms = clock.elapsed_ms() + ms;
    for (;;) {
      const { rows } = await this.db.query<{ wait_ms: number | null }>(sql`
        select (extract(epoch from min(due_at) - (select tidemark.now())) * 1000)::float8 as wait_ms from tidemark.due where due_at < 'infinity'`);
      const next_ms = clock.elapsed_ms() + Math.max(0, Math.ceil(rows[0]!.wait_ms ?? Number.POSITIVE_INFINITY));
      if (next_ms > end_ms) break;
      await clock.advance(next_ms - clock.elapsed_ms());
      await this.work(given);
    }
    await clock.advance(Math.max(0, end_ms - clock.elapsed_ms()));
  }

  /** So much time and a little more, to the end of what falls due in it. */
  async sweep(ms = 360_000): Promise<void> {
    await this.clock.advance(ms);
    await this.calm();
  }

  async keepHouse(): Promise<void> {
    const { db, clock, events, source } = this;
    await new Housekeeping({ db, clock, events, sources: [source] }).turn();
  }

  async status(): Promise<Record<string, { status: string; failures: number; reason: string | null }>> {
    const { rows } = await this.db.query<{
      kind: string;
      key: string;
      status: string;
      failures: number;
      reason: string | null;
    }>(sql`select kind, key, status, failures::int as failures, reason from tidemark.status order by kind, key`);
    return Object.fromEntries(rows.map(({ kind, key, ...rest }) => [`${kind} ${key}`, rest]));
  }
}
