/** What every interleaving begins with: resources on a real PostgreSQL, their leases, and commits by hand. */
import sql, { type Sql } from "sql-template-tag";
import { type CommitPoint, commit } from "../../src/engine/commit.ts";
import { Lanes } from "../../src/engine/lanes.ts";
import { claim, type Lease } from "../../src/engine/lease.ts";
import { readMail } from "../../src/engine/mailbox.ts";
import { endOf } from "../../src/engine/outcome.ts";
import type { Committed, Unit } from "../../src/engine/unit.ts";
import { type Batch, follow, fresh, type Outcome, type Source } from "../../src/index.ts";
import type { Db, Queryable } from "../../src/store/db.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";
import { testDatabase } from "../postgres.ts";
import { cursor, entries, migrations, words } from "../sql/toy.ts";

export const TTL = 30_000;

export class Workbench {
  readonly db: Db;
  readonly #url: string;
  clock = new VirtualClock();
  lanes = new Lanes([]);
  source = "";

  private constructor(db: Db, url: string) {
    this.db = db;
    this.#url = url;
  }

  static async open(): Promise<Workbench> {
    const { db, url } = await testDatabase({ migrations: [migrations], max: 20 });
    return new Workbench(db, url);
  }

  get url(): string {
    return this.#url;
  }

  async reset(source: Source, ...texts: string[]): Promise<void> {
    await wipe(this.db, [words, entries, { name: "toy.log" }]);
    this.clock = new VirtualClock();
    await setDatabaseClock(this.db, this.clock);
    this.lanes = new Lanes([source]);
    this.source = source.name;
    for (const text of texts) await this.follow(text);
  }

  async follow(text: string): Promise<void> {
    await follow(this.db, this.lanes, this.source, text);
  }

  /** Lets the lease time pass. */
  later(ms = TTL + 1): Promise<void> {
    return this.clock.advance(ms);
  }

  /** Claims everything that is due, as one worker. */
  async claimAll(worker_id = 1, db: Queryable = this.db): Promise<Record<string, Lease>> {
    const wants = this.lanes.rows().map(({ lane_id }) => ({ lane_id, mark: "-infinity", most: 100, ahead_ms: 0 }));
    const leases = await claim(db, wants, { worker_id, ttl_ms: TTL });
    return Object.fromEntries(leases.map((l) => [l.key, l]));
  }

  /** What a pull hands over: a batch, and with an outcome its end. */
  unit(lease: Lease, batch: Batch | null, outcome: Outcome | null = fresh()): Unit {
    const kind = this.lanes.kind(lease.source, lease.kind);
    const before = cursor.parse(lease.cursor ?? undefined);
    const end = outcome ? () => endOf(outcome, lease, kind, false, lease.now_ms) : null;
    const { mail_done } = lease;
    return { lease, kind, batch, cursor: before, generation: lease.generation + 1n, handled: [], mail_done, end };
  }

  /** … and one that handled all of its mail. */
  async mail(lease: Lease, batch: Batch | null = null): Promise<Unit> {
    const mail = await readMail(this.db, [{ resource_id: lease.resource_id, most: 100 }]);
    const handled = mail.get(lease.resource_id) ?? [];
    return { ...this.unit(lease, batch), handled, mail_done: handled.at(-1)?.seq ?? lease.mail_done };
  }

  async commit(unit: Unit, at?: (p: CommitPoint) => void | Promise<void>, idle_ms = 60_000): Promise<Committed> {
    const [result] = await commit(this.db, this.lanes, [unit], idle_ms, at);
    return result!;
  }

  async rows<R>(statement: Sql): Promise<R[]> {
    return (await this.db.query<R>(statement)).rows;
  }

  async due(
    key: string,
  ): Promise<{ lease_no: bigint; mail_seq: bigint; mail_done: bigint; is_due: boolean; leased: boolean }> {
    const rows = await this.rows<{
      lease_no: bigint;
      mail_seq: bigint;
      mail_done: bigint;
      is_due: boolean;
      leased: boolean;
    }>(sql`
      select d.lease_no, d.mail_seq, d.mail_done, d.due_at <= tidemark.now() as is_due, d.lease_until is not null as leased
        from tidemark.due d join tidemark.resource r using (resource_id) where r.key = ${key}`);
    return rows[0]!;
  }
}
