/** The plans of the hot statements at 300,000 resources: index scans only, whether or not statistics were ever gathered. */
import sql, { raw, Sql } from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { finish } from "../../src/engine/finish.ts";
import { Lanes } from "../../src/engine/lanes.ts";
import { claim, claimFirstCome, countLive, expire, handBack, nextWake, renew } from "../../src/engine/lease.ts";
import { post, readMail, takeOff } from "../../src/engine/mailbox.ts";
import { endOf } from "../../src/engine/outcome.ts";
import { lockDue, makeDue } from "../../src/engine/resources.ts";
import { fresh, realClock } from "../../src/index.ts";
import type { Db, Queryable, Result } from "../../src/store/db.ts";
import { testDatabase } from "../postgres.ts";
import { toyKind, toySource } from "../sql/toy.ts";

interface Node {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  Plans?: Node[];
}

const ROWS = 300_000;
const LANES = 20;
const large = new Set(["due", "resource", "message"]);

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const below of node.Plans ?? []) yield* nodesOf(below);
}

/** Explains each statement before it runs, and collects how it reads the large tables. */
class Explainer implements Queryable {
  readonly #db: Queryable;
  readonly scans = new Set<string>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  async query<R>(statement: Sql): Promise<Result<R>> {
    const [first, ...rest] = statement.strings;
    const explained = new Sql([`explain (format json) ${first}`, ...rest], statement.values);
    const { rows } = await this.#db.query<{ "QUERY PLAN": { Plan: Node }[] }>(explained);
    for (const node of nodesOf(rows[0]!["QUERY PLAN"][0]!.Plan)) {
      const relation = node["Relation Name"];
      if (node["Index Name"]) this.scans.add(node["Index Name"]);
      else if (node["Node Type"] === "Seq Scan" && large.has(relation!)) this.scans.add(`all of ${relation}`);
    }
    return this.#db.query<R>(statement);
  }
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
  const held = ids.map((resource_id) => ({ resource_id, lease_no: 1n }));

  /** How a statement reads the large tables; what it does is undone. */
  const scansOf = async (work: (tx: Queryable) => Promise<unknown>): Promise<string[]> => {
    let scans: string[] = [];
    await db
      .transaction(async (tx) => {
        const explainer = new Explainer(tx);
        await work(explainer);
        // Small tables are read as the planner likes.
        scans = [...explainer.scans].filter((name) => !/^(lane|upstream)_/.test(name)).sort();
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
        expect(await scansOf((tx) => claim(tx, wants, 30_000, 1))).toEqual(["due_claim", "resource_pkey"]);
      }
  });

  it("… and so it does where resources are pulled forward", async () => {
    const wants = marked.map((m) => ({ ...m, most: 50, ahead_ms: 60_000 }));
    expect(await scansOf((tx) => claim(tx, wants, 30_000, 1))).toEqual(["due_claim", "resource_pkey"]);
  });

  it("a claim in a first-come lane reads nothing but that lane", async () => {
    const scans = await scansOf((tx) => claimFirstCome(tx, 1, 1, 30_000, 1));
    expect(["due_claim", "due_first_come"]).toContain(scans.shift());
    expect(scans).toEqual(["resource_pkey"]);
  });

  it("a finish, a renewal and a handing back go by key, and never through all that was leased lately", async () => {
    const lease = {
      source: "toy",
      kind: "page",
      key: "1",
      options: null,
      failures: 0,
      changed_at: null,
      viewed_at: null,
    };
    const end = endOf(fresh(), lease as never, kind, false, 1_800_000_000_000);
    const finishes = held.map((h) => ({ ...h, lane_id: 1, first_come: false, mail_done: 0n, end }));
    const key = ["due_pkey"];
    for (const n of [1, 50, 500]) {
      expect(await scansOf((tx) => finish(tx, finishes.slice(0, n)))).toEqual(key);
      expect(await scansOf((tx) => renew(tx, held.slice(0, n), 30_000))).toEqual(key);
      expect(await scansOf((tx) => handBack(tx, held.slice(0, n)))).toEqual(key);
    }
  });

  it("due rows are locked and touched by key", async () => {
    expect(await scansOf((tx) => lockDue(tx, ids))).toEqual(["due_pkey"]);
    expect(["due_claim", "due_pkey"]).toEqual(expect.arrayContaining(await scansOf((tx) => makeDue(tx, ids))));
  });

  it("ended leases are found by due_lease, and live ones counted by it", async () => {
    expect(await scansOf((tx) => expire(tx, all, "-infinity", 1_000))).toEqual(["due_lease", "due_pkey"]);
    expect(await scansOf((tx) => countLive(tx, "toy", "page1", "toy.example"))).toEqual(["due_lease"]);
  });

  it("the sleeper looks at one row a lane", async () => {
    expect(await scansOf((tx) => nextWake(tx, marked, all, "-infinity"))).toEqual(["due_claim", "due_lease"]);
    const parts = { lanes, clock: realClock, slots: 0, ttl_ms: 30_000 };
    const peek = (tx: Queryable) => new Claims({ ...parts, db: tx as Db }).next(0, () => 0, 0, 1);
    // The leases that live are counted in bounded lanes alone.
    expect(await scansOf(peek)).toEqual(["due_claim", "due_lease"]);
  });

  it("mail is numbered, read and taken off by key", async () => {
    const one = { origin_id: 1n, position: 1n, coalesce_key: null, payload: "{}" };
    const posted = ids.map((resource_id) => ({ resource_id, ...one }));
    const wanted = ids.map((resource_id) => ({ resource_id, most: 100 }));
    const handled = ids.map((resource_id) => ({ resource_id, seq: 1n }));
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
