/** What flows of go-modules stand on: the pretend GitHub, a database on a virtual clock, and workers in between. */
import sql from "sql-template-tag";
import { type Call, GitHub, type HubOptions } from "../../../src/demo/github/hub.ts";
import { Housekeeping } from "../../../src/engine/housekeeping.ts";
import { Lanes } from "../../../src/engine/lanes.ts";
import { unfollow } from "../../../src/engine/verbs.ts";
import { type EventFields, Events } from "../../../src/events.ts";
import { follow, type Source, Worker, type WorkerSettings } from "../../../src/index.ts";
import type { HostTokens } from "../../../src/secrets.ts";
import { type GoModulesOptions, goModules } from "../../../src/sources/go-modules/source.ts";
import { owned } from "../../../src/sources/go-modules/tables.ts";
import type { Db } from "../../../src/store/db.ts";
import { type Life, mortal } from "../../../src/testing/mortal.ts";
import { type Asked, type PretendUpstream, pretendUpstream } from "../../../src/testing/upstream.ts";
import { EPOCH, setDatabaseClock, VirtualClock } from "../../../src/testing/virtual-clock.ts";
import { wipe } from "../../../src/testing/wipe.ts";
import { settings } from "../../sql/rig.ts";

/** Every table of the source, for what empties them. */
export const all_tables = [...owned, { name: "go_modules.version" }];

/** A call as it arrives at a pretend upstream, as the pretend GitHub wants it. */
export const asCall = ({ at_ms, method, path, headers, body }: Asked): Call => ({
  at_ms: Date.parse(EPOCH) + at_ms,
  method,
  path,
  headers,
  body,
});

export interface Version {
  path: string;
  version: string;
  tag: string;
  commit_oid: string;
  published_at: string;
  deleted: boolean;
  moved_oid: string | null;
}

export interface Given extends GoModulesOptions {
  hub?: HubOptions;
  tokens?: HostTokens;
  /** The source's own settings. */
  settings?: Record<string, string>;
}

export class GoRig {
  readonly #store: Db;
  #living: { worker: Worker; life: Life }[] = [];
  #tokens: HostTokens = {};
  #broken: unknown = null;
  clock = new VirtualClock();
  db: Db;
  hub!: GitHub;
  source!: Source;
  upstream!: PretendUpstream;
  lanes!: Lanes;
  events = new Events();
  ended: EventFields["pull_ended"][] = [];
  /** Why GitHub was not called for a while. */
  closed: string[] = [];

  constructor(store: Db) {
    this.#store = store;
    this.db = store;
  }

  /** An empty database, a new GitHub, and one account with a token unless others are given. */
  async reset({ hub = {}, tokens, settings: own = {}, ...options }: Given = {}): Promise<GitHub> {
    await wipe(this.#store, all_tables);
    this.clock = new VirtualClock();
    this.db = await setDatabaseClock(this.#store, this.clock);
    this.events = new Events();
    this.ended = [];
    this.closed = [];
    this.events.on("upstream_closed", ({ reason }) => this.closed.push(reason));
    this.events.on("pull_ended", (e) => this.ended.push(e));
    const { clock } = this;
    const wait = (ms: number) => {
      const sleep = clock.sleep(ms);
      return Promise.all([clock.waiting(sleep), clock.waiting(sleep, "call")]).then(() => undefined);
    };
    this.hub = new GitHub({ ...(hub.latency_ms ? { wait } : {}), ...hub });
    this.hub.now_ms = Date.parse(EPOCH);
    this.#tokens = tokens ?? { "github.com": [this.hub.account("bot")] };
    this.#broken = null;
    this.upstream = await pretendUpstream(clock, async (asked) => {
      // A defect of the pretend GitHub is not one of the source: it fails the test, and nobody waits for an answer.
      return this.hub.answer(asCall(asked)).catch((thrown: unknown) => {
        this.#broken = thrown;
        return { status: 500 };
      });
    });
    this.source = goModules({
      github_url: this.upstream.url,
      enterprise_url: () => `${this.upstream.url}/api`,
      ...options,
    });
    this.source.configure?.(this.source.settings!.parse(own), { github_url: null });
    this.lanes = new Lanes([this.source]);
    return this.hub;
  }

  /** A worker; `kills` decides after each of its commits whether it dies there. */
  start(given: Partial<WorkerSettings> = {}, kills?: Parameters<typeof mortal>[2]): Life {
    const life = mortal(this.db, this.clock, kills);
    const parts = { ...life.parts, events: this.events, sources: [this.source], settings: { ...settings, ...given } };
    const name = `w${this.#living.length}`;
    const tokens = this.#tokens;
    const worker = new Worker({ ...parts, name, user_agent: "test", tokens, allow_private: ["127.0.0.1"] });
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

  async followEvery(text: string, every: string): Promise<void> {
    await follow(this.db, this.lanes, "go-modules", text, { every });
  }

  async follow(...texts: string[]): Promise<void> {
    for (const text of texts) await follow(this.db, this.lanes, "go-modules", text);
  }

  async unfollow(kind: string, key: string): Promise<void> {
    await unfollow(this.db, { source: "go-modules", kind, key });
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

  /** A sweep's time and a little more, to its end. */
  async sweep(ms = 360_000): Promise<void> {
    await this.clock.advance(ms);
    await this.calm();
  }

  async keepHouse(): Promise<void> {
    const { db, clock, events, source } = this;
    await new Housekeeping({ db, clock, events, sources: [source] }).turn();
  }

  /** All versions by their names; what is deleted is among them unless it is not wanted. */
  async feed(available = false): Promise<Version[]> {
    const { rows } = await this.db.query<Version>(sql`
      select path, version, tag, commit_oid, published_at, deleted_at is not null as deleted, moved_oid
        from go_modules.version where not ${available} or deleted_at is null order by path, version`);
    return rows;
  }

  /** The same in short: "path@version". */
  async names(available = true): Promise<string[]> {
    return (await this.feed(available)).map(({ path, version }) => `${path}@${version}`);
  }

  /** What was published last. */
  async newest(): Promise<string | undefined> {
    const all = (await this.feed()).sort((a, b) => (a.published_at < b.published_at ? -1 : 1));
    return all.map(({ path, version }) => `${path}@${version}`).at(-1);
  }

  async count(table: "repository" | "tag" | "gomod" | "module" | "seen" | "conflict"): Promise<number> {
    const statements = {
      repository: sql`select count(*)::int as n from go_modules.repository`,
      tag: sql`select count(*)::int as n from go_modules.tag`,
      gomod: sql`select count(*)::int as n from go_modules.gomod`,
      module: sql`select count(*)::int as n from go_modules.module`,
      seen: sql`select count(*)::int as n from go_modules.seen`,
      conflict: sql`select count(*)::int as n from go_modules.conflict`,
    };
    return (await this.db.query<{ n: number }>(statements[table])).rows[0]!.n;
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

  /** Every go.mod that GitHub was asked for, as "id commit:path". */
  filesAsked(): string[] {
    return this.hub.calls.flatMap(({ variables }) =>
      Object.entries(variables)
        .filter(([name]) => /^e\d+$/.test(name))
        .map(([name, expression]) => `${variables[`i${name.slice(1)}`]} ${expression}`),
    );
  }
}

/** A module's go.mod, as files of a commit. */
export const gomod = (path: string, at = "go.mod") => ({ [at]: `module ${path}\n\ngo 1.24\n` });
