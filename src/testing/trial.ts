/** One run of a source against its pretend upstream, on a virtual clock, from following to rest. */
import sql, { raw } from "sql-template-tag";
import type { Budget, Source } from "../contract.ts";
import { Lanes } from "../engine/lanes.ts";
import { budgetName } from "../engine/share.ts";
import { follow } from "../engine/verbs.ts";
import { Worker } from "../engine/worker.ts";
import type { WorkerSettings } from "../engine/worker-parts.ts";
import type { EventFields } from "../events.ts";
import { Events } from "../events.ts";
import type { Row, Table } from "../mirror/table.ts";
import type { Db } from "../store/db.ts";
import { type Life, mortal } from "./mortal.ts";
import type { Call } from "./replay.ts";
import { type PretendUpstream, pretendUpstream, type Route } from "./upstream.ts";
import { setDatabaseClock, VirtualClock } from "./virtual-clock.ts";
import { wipe } from "./wipe.ts";

export interface MirroredTable {
  table: Table;
  /** Columns that may differ between two runs, such as the moment of the last look. */
  volatile?: string[];
}

export interface TrialGiven {
  source(url: string, clock: VirtualClock): Source;
  follow: string[];
  upstream(): Route;
  tables: MirroredTable[];
  cursor?(cursor: unknown): unknown;
}

/** Everything that two runs are compared by. */
export interface Mirror {
  tables: Record<string, Row[]>;
  resources: Row[];
  children: Row[];
}

const settings: WorkerSettings = {
  slots: 10,
  lease_ttl_ms: 30_000,
  grace_ms: 20_000,
  slice_ms: 60_000,
  pull_timeout_ms: 300_000,
  park_after: 8,
  cool_off_ms: 86_400_000,
  messages_max: 1_000_000,
};

/** A run that has not come to rest after this much virtual time never will. */
const REST_MS_MOST = 6 * 3600_000;

export class Trial {
  readonly #given: TrialGiven;
  readonly #workers: { worker: Worker; life: Life }[] = [];
  readonly clock = new VirtualClock();
  readonly events = new Events();
  readonly calls: (Call & { upstream: string; took: string[] })[] = [];
  /** What calls took of budgets, one entry for each budget of a call. */
  readonly took: (Call & { budget: string })[] = [];
  readonly ended: EventFields["pull_ended"][] = [];
  rows_written = 0;
  db!: Db;
  upstream!: PretendUpstream;
  source!: Source;

  private constructor(given: TrialGiven) {
    this.#given = given;
    this.events.on("upstream_call", ({ upstream, cost, ms, took }) => {
      const at_ms = this.clock.elapsed_ms() - ms;
      this.calls.push({ upstream, cost, ms, at_ms, took: took.map((t) => t.budget) });
      this.took.push(...took.map((one) => ({ ...one, ms, at_ms })));
    });
    this.events.on("pull_ended", (e) => this.ended.push(e));
    this.events.on("commit", ({ rows }) => {
      this.rows_written += rows;
    });
  }

  /** An empty database, an upstream at its beginning, and everything followed that is to be followed. */
  static async begin(store: Db, given: TrialGiven): Promise<Trial> {
    const trial = new Trial(given);
    await wipe(
      store,
      given.tables.map((t) => t.table),
    );
    trial.db = await setDatabaseClock(store, trial.clock);
    trial.upstream = await pretendUpstream(trial.clock, given.upstream());
    trial.source = given.source(trial.upstream.url, trial.clock);
    const lanes = new Lanes([trial.source]);
    for (const text of given.follow) await follow(trial.db, lanes, trial.source.name, text);
    return trial;
  }

  /** Begins one, does the work, ends it; after a failure nothing of it goes on. */
  static async run<T>(store: Db, given: TrialGiven, work: (trial: Trial) => Promise<T>): Promise<T> {
    const trial = await Trial.begin(store, given);
    try {
      const result = await work(trial);
      await trial.end();
      return result;
    } catch (error) {
      await trial.abandon();
      throw error;
    }
  }

  /** Starts a worker; `kills` decides after each of its commits whether it dies there. */
  start(given: Partial<WorkerSettings> = {}, kills?: Parameters<typeof mortal>[2]): Life {
    const { clock, db, events, source } = this;
    const life = mortal(db, clock, kills);
    const name = `trial ${this.#workers.length + 1}`;
    const all = { ...settings, ...given };
    const parts = { ...life.parts, events, sources: [source], settings: all, name, user_agent: "trial" };
    // The pretend upstream is on loopback.
    const worker = new Worker({ ...parts, allow_private: ["127.0.0.1"] });
    this.#workers.push({ worker, life });
    void worker.run();
    return life;
  }

  /** Lets time pass until everything is fresh and nothing is due, or the condition holds. */
  async toRest(orElse: () => boolean = () => false): Promise<void> {
    await this.clock.until(async () => orElse() || (await this.#atRest()), REST_MS_MOST);
  }

  async #atRest(): Promise<boolean> {
    const { rows } = await this.db.query<{ n: number }>(sql`
      select count(d.resource_id)::int as n
        from tidemark.due d join tidemark.resource r on r.resource_id = d.resource_id
       where r.gone_at is null
         and (d.lease_until is not null or d.due_at <= tidemark.now() or d.fresh_at is null or d.failures > 0 or d.mail_seq > d.mail_done
              -- It was told to wait.
              or (d.not_before > tidemark.now() and d.not_before < 'infinity'))`);
    return rows[0]!.n === 0;
  }

  /** Every budget that calls took from, by the name of its row: an account, a host or a group has one of its own. */
  budgets(): { budget: string; upstream: string; declared: Budget }[] {
    const known = this.#workers.flatMap((w) => [...w.worker.lanes.upstreams.values()]);
    const rows = [...new Set(this.took.map((one) => one.budget))];
    return [...new Map(known.map((u) => [u.name, u])).values()].flatMap((upstream) => {
      const all = { ...upstream.budgets, ...(upstream.budget ? { "": upstream.budget } : {}) };
      return Object.entries(all).flatMap(([name, declared]) => {
        const own = budgetName(upstream, name, null);
        const mine = rows.filter((row) => (declared.by ? row.startsWith(`${own}:`) : row === own));
        return mine.map((budget) => ({ budget, upstream: upstream.name, declared }));
      });
    });
  }

  /** Makes everything due now, whatever its schedule says. */
  async pullAgain(): Promise<void> {
    await this.db.query(sql`
      update tidemark.due set due_at = greatest(tidemark.now(), not_before) where due_at < 'infinity' and lease_until is null`);
    await this.toRest();
  }

  /** The mirror as it is: declared columns of the tables, cursors, children; who owns a row is told by name. */
  async mirror(): Promise<Mirror> {
    const tables: Record<string, Row[]> = {};
    for (const { table, volatile = [] } of this.#given.tables) {
      const columns = Object.keys(table.columns).filter((c) => !volatile.includes(c));
      const told = columns.map((c) =>
        c === table.owner
          ? `(select r.kind || ' ' || r.key from tidemark.resource r where r.resource_id = t.${c}) as ${c}`
          : `t.${c}`,
      );
      const { rows } = await this.db.query<Row>(
        raw(`select ${told.join(", ")} from ${table.name} t order by ${table.key.map((c) => `t.${c}`).join(", ")}`),
      );
      tables[table.name] = rows;
    }
    const { rows } = await this.db.query<Row>(sql`
      select kind, key, cursor, followed_at is not null as followed, gone_at is not null as gone
        from tidemark.resource order by kind, key`);
    const resources = rows.map((r) => ({ ...r, cursor: this.#given.cursor?.(r.cursor) ?? r.cursor }));
    const { rows: children } = await this.db.query<Row>(sql`
      select p.kind || ' ' || p.key as parent, c.kind || ' ' || c.key as child
        from tidemark.edge e join tidemark.resource p on p.resource_id = e.parent_id join tidemark.resource c on c.resource_id = e.child_id
       order by 1, 2`);
    // Each run has its upstream on another port: keys and cursors with an address in them say the same all the same.
    const { host } = new URL(this.upstream.url);
    return unaddressed({ tables, resources, children }, host) as Mirror;
  }

  /** Kills what still lives, and closes what is still open. */
  async abandon(): Promise<void> {
    for (const { life } of this.#workers) await life.kill();
    await this.upstream.close();
    await this.clock.settle();
  }

  /** Stops every worker that lives, and fails when one of them leaves a lease behind. */
  async end(): Promise<void> {
    const living = this.#workers.filter((w) => !w.life.dead);
    let stopped = false;
    const stopping = Promise.all(living.map((w) => w.worker.stop())).then(() => {
      stopped = true;
    });
    await this.clock.until(() => stopped);
    await stopping;
    await this.abandon();
    const { rows } = await this.db.query<{ n: number }>(
      sql`select count(resource_id)::int as n from tidemark.due where lease_until > tidemark.now()`,
    );
    if (rows[0]!.n > 0) throw new Error(`${rows[0]!.n} leases were left behind`);
  }
}

function unaddressed(value: unknown, host: string): unknown {
  if (typeof value === "string") return value.replaceAll(host, "upstream.example");
  if (Array.isArray(value)) return value.map((one) => unaddressed(one, host));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unaddressed(one, host)]));
}
