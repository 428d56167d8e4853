/** The plans of the hot statements at 300,000 resources: index scans only, whether or not statistics were ever gathered. */
import sql, { raw } from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { finish } from "../../src/engine/finish.ts";
import { countLive, expire, nextWake } from "../../src/engine/holds.ts";
import { Lanes } from "../../src/engine/lanes.ts";
import { claim, claimFirstCome, handBack, type Lease, renew } from "../../src/engine/lease.ts";
import { post, readMail, takeOff } from "../../src/engine/mailbox.ts";
import { endOf } from "../../src/engine/outcome.ts";
import { lockDue, makeDue } from "../../src/engine/resources.ts";
import { fresh, realClock } from "../../src/index.ts";
import type { Db, Queryable } from "../../src/store/db.ts";
import { testDatabase } from "../postgres.ts";
import { toyKind, toySource } from "../sql/toy.ts";

const ROWS = 300_000;
const LANES = 20;

/** How often each index, and each table as a whole, was read by this session so far. */
async function readScans(tx: Queryable): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ name: string; scans: number }>(sql`
    select case c.relkind when 'i' then c.relname else 'all of ' || c.relname end as name, pg_stat_get_xact_numscans(c.oid)::int as scans
      from pg_class c left join pg_index i on i.indexrelid = c.oid
     where coalesce(i.indrelid, c.oid) in ('tidemark.due'::regclass, 'tidemark.resource'::regclass, 'tidemark.message'::regclass,
                                           'tidemark.hold'::regclass)`);
  return new Map(rows.map((r) => [r.name, r.scans]));
}

class RolledBack extends Error {}

/** Filled once: first nothing is known about it, then statistics are gathered. */
let filled: Promise<Db> | undefined;

describe.each([{ gathered: false }, { gathered: true }])("with statistics gathered: $gathered", ({ gathered }) => {
  let db: Db;
  const kind = toyKind();
  const lanes = new Lanes([toySource({ page: kind })]);
  const ids = Array.from({ length: 500 }, (_, i) => BigInt(i * 500 + 1));
  const all = Array.from({ length: LANES }, (_, i) => i + 1);
  const marked = all.map((lane_id) => ({ lane_id, mark: "2020-01-01T00:00:00Z" }));
  const by = { worker_id: 1, ttl_ms: 30_000 };
  const cold = { source: "toy", kind: "page", key: "1", options: null, failures: 0, changed_at: null, viewed_at: null };
  const freshly = (lease: Lease) => {
    const { resource_id, lease_no, place } = lease;
    const end = endOf(fresh(), lease, kind, false, 1_800_000_000_000);
    return { resource_id, lease_no, place, lane_id: 1, first_come: false, mail_done: 0n, end };
  };
  const held = ids.map((resource_id) => ({ resource_id, lease_no: 1n }));

  /** How a statement reads the large tables; what it does is undone. */
  const scansOf = async (work: (tx: Queryable) => Promise<unknown>): Promise<string[]> => {
    let scans: string[] = [];
    await db
      .transaction(async (tx) => {
        const before = await readScans(tx);
        await work(tx);
        const after = await readScans(tx);
        scans = [...after].flatMap(([name, n]) => (n > (before.get(name) ?? 0) ? [name] : [])).sort();
        throw new RolledBack();
      })
      .catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
    return scans;
  };

  beforeAll(async () => {
    filled ??= testDatabase().then(async (store) => {
      await fill(store.db);
      return store.db;
    });
    db = await filled;
    if (gathered) await db.query(sql`analyze tidemark.due, tidemark.resource, tidemark.message, tidemark.lane`);
    await lanes.load(db);
  });

  it("a claim finds due rows by due_claim and takes them where it found them", async () => {
    for (const most of [1, 500])
      for (const wanted of [1, LANES]) {
        const wants = marked.slice(0, wanted).map((m) => ({ ...m, most, ahead_ms: 0 }));
        expect(await scansOf((tx) => claim(tx, wants, by))).toEqual(["due_claim", "resource_pkey"]);
      }
  });

  it("… and so it does where resources are pulled forward", async () => {
    const wants = marked.map((m) => ({ ...m, most: 50, ahead_ms: 60_000 }));
    expect(await scansOf((tx) => claim(tx, wants, by))).toEqual(["due_claim", "resource_pkey"]);
  });

  it("a claim in a first-come lane reads nothing but that lane", async () => {
    const scans = await scansOf((tx) => claimFirstCome(tx, 1, 1, by));
    expect(["due_claim", "due_first_come"]).toContain(scans.shift());
    expect(scans).toEqual(["resource_pkey"]);
  });

  it("a finish, a renewal and a handing back go by key, and never through all that was leased lately", async () => {
    const finishes = (place: string) => held.map((h) => freshly({ ...cold, ...h, place } as Lease));
    const key = ["due_pkey"];
    for (const n of [1, 50, 500]) {
      expect(await scansOf((tx) => finish(tx, finishes("(1,1)").slice(0, n)))).toEqual(key);
      expect(await scansOf((tx) => renew(tx, held.slice(0, n), 30_000))).toEqual(key);
      expect(await scansOf((tx) => handBack(tx, held.slice(0, n)))).toEqual(key);
    }
  });

  it("a finish takes rows where the claim put them, without any index", async () => {
    await db
      .transaction(async (tx) => {
        const leases = await claim(tx, [{ lane_id: 2, mark: "-infinity", most: 500, ahead_ms: 0 }], by);
        const before = await readScans(tx);
        const done = await finish(tx, leases.map(freshly));
        const after = await readScans(tx);
        expect(done.size).toBe(500);
        expect(after).toEqual(before);
        throw new RolledBack();
      })
      .catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
  });

  it("due rows are locked and touched by key", async () => {
    expect(await scansOf((tx) => lockDue(tx, ids))).toEqual(["due_pkey"]);
    expect(["due_claim", "due_pkey"]).toEqual(expect.arrayContaining(await scansOf((tx) => makeDue(tx, ids))));
  });

  it("ended leases are found through their holds, and live ones counted through them", async () => {
    const all_of_holds = ["all of hold", "hold_by_lane", "hold_by_until", "hold_pkey", "due_pkey"];
    expect(all_of_holds).toEqual(expect.arrayContaining(await scansOf((tx) => expire(tx, "-infinity", 1_000))));
    const counted = await scansOf((tx) => countLive(tx, "toy", "page1", "toy.example"));
    expect(all_of_holds).toEqual(expect.arrayContaining(counted));
  });

  it("the sleeper looks at one row a lane", async () => {
    expect(await scansOf((tx) => nextWake(tx, marked, "-infinity"))).toEqual(["due_claim", "hold_by_until"]);
    const parts = { lanes, clock: realClock, slots: 100 };
    const idle = { busy: () => 0, asked: 0 };
    const peek = (tx: Queryable) => new Claims({ ...parts, db: tx as Db }).next(LANES, idle, by);
    expect(await scansOf(peek)).toEqual(["due_claim", "resource_pkey"]);
  });

  it("mail is numbered, read and taken off by key", async () => {
    const one = { origin_id: 1n, position: 1n, coalesce_key: null, payload: "{}" };
    const posted = ids.map((resource_id) => ({ resource_id, ...one }));
    const wanted = ids.map((resource_id) => ({ resource_id, most: 100 }));
    const handled = ids.map((resource_id) => ({ resource_id, seq: 1n, place: "(999999,1)" }));
    expect(await scansOf((tx) => post(tx, posted))).toEqual(["due_pkey"]);
    expect(await scansOf((tx) => readMail(tx, wanted))).toEqual(["message_pkey"]);
    expect(await scansOf((tx) => takeOff(tx, handled))).toEqual(["message_pkey"]);
  });
});

/** Most rows wait, one in thirty is due, one in a hundred leased. */
async function fill(db: Db): Promise<void> {
  await db.query(sql`insert into tidemark.upstream (upstream) values ('toy.example')`);
  await db.query(sql`
    insert into tidemark.lane (source, name, upstream, urgency) select 'toy', 'page' || i, 'toy.example', 'routine' from generate_series(1, ${LANES}) i`);
  await db.transaction(async (tx) => {
    // Without checking 300,000 foreign keys.
    await tx.query(sql`set local session_replication_role = replica`);
    for (const name of ["due", "resource", "message"])
      await tx.query(raw(`alter table tidemark.${name} set (autovacuum_enabled = false)`));
    await tx.query(sql`
      insert into tidemark.resource (source, kind, key) select 'toy', 'page', i::text from generate_series(1, ${ROWS}) i`);
    await tx.query(sql`
      insert into tidemark.due (resource_id, lane_id, due_at, lease_no, mail_seq, lease_until, asked_at)
      select i, 1 + i % ${LANES}, now() + (i % 30 - 1) * interval '1 minute', 1, 1,
             case when i % 100 = 1 then now() + interval '10 seconds' end, case when i % 1000 = 0 then now() end
        from generate_series(1, ${ROWS}) i`);
    await tx.query(sql`
      insert into tidemark.message (resource_id, seq, payload) select i, 1, '{}' from generate_series(1, ${ROWS}) i`);
  });
}
