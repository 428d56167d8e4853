/** Commits, listings and people's verbs that meet on the same rows, on a real PostgreSQL: nobody waits in a circle. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { handBack, type Lease, renew } from "../../src/engine/lease.ts";
import { makeResources } from "../../src/engine/resources.ts";
import { type Db, follow, pause, refresh, resume, unfollow } from "../../src/index.ts";
import { toyKind, toySource, words } from "../sql/toy.ts";
import { blocks, letGo, Session, stopAt } from "./session.ts";
import { Workbench } from "./workbench.ts";

describe("what meets on the same rows", () => {
  let bench: Workbench;
  const named = (key: string) => ({ source: "toy", kind: "page", key });
  const found = (...keys: string[]) => keys.map((key) => ({ kind: "page", key }));
  const word = (text: string) => words.rows([{ word: text, version: 1 }]);
  const alive = async (key: string) => {
    const rows = await bench.rows<{ status: string }>(sql`select status from tidemark.status where key = ${key}`);
    return rows[0]!.status !== "gone";
  };

  /** The owner finds the child c in a complete listing, and is leased again. */
  const listing = async (owner: Lease): Promise<Lease> => {
    const children = { found: found("c"), complete: true };
    await bench.commit(bench.unit(owner, { children, cursor: { at: 1, done: true } }, { outcome: "more" }));
    return (await bench.claimAll())[owner.key]!;
  };
  const findingNothing = (owner: Lease) =>
    bench.unit(owner, { children: { found: [], complete: true }, cursor: { at: 2, done: true } });
  /** The owner drops the child c, and stops right before it commits. */
  const dropping = async (owner: Lease) => {
    const again = await listing(owner);
    const stop = stopAt("finished");
    const drops = bench.commit(findingNothing(again), stop.at);
    await stop.reached;
    return { stop, drops };
  };

  beforeAll(async () => {
    bench = await Workbench.open();
  });
  afterEach(letGo);
  beforeEach(() => bench.reset(toySource({ page: toyKind() }), "a", "b"));

  it("two commits whose targets cross both succeed, one after the other", async () => {
    const { a, b } = await bench.claimAll();
    const stop = stopAt("locked");
    const first = bench.commit(bench.unit(a!, { cursor: { at: 1, done: true }, touch: found("b") }), stop.at);
    await stop.reached;
    const second = bench.commit(bench.unit(b!, { cursor: { at: 1, done: true }, touch: found("a") }));
    await blocks(bench.db, second);
    stop.open();
    expect((await Promise.all([first, second])).map((r) => r.committed)).toEqual([true, true]);
  });

  it.each([
    ["renewed", (db: Db, all: Lease[]) => renew(db, all, 30_000)],
    ["handed back", (db: Db, all: Lease[]) => handBack(db, all)],
  ])("leases that are %s are locked in the order that everybody keeps, wherever their rows lie", async (_, verb) => {
    const { a, b } = await bench.claimAll();
    // From now on the first row lies behind the second one.
    await bench.db.query(
      sql`update tidemark.due set failures = failures where resource_id = ${a!.resource_id}::bigint`,
    );
    await bench.db.query(sql`analyze tidemark.due`);
    const other = await Session.begin(bench.db);
    const lock = (lease: Lease) =>
      other.tx.query(sql`select lane_id from tidemark.due where resource_id = ${lease.resource_id}::bigint for update`);
    await lock(a!);
    const changing = verb(bench.db, [b!, a!]);
    await blocks(bench.db, changing);
    await lock(b!);
    await other.commit();
    await changing;
  });

  it("forty commits that all speak of each other succeed without a deadlock", async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
    await bench.reset(toySource({ page: toyKind() }), ...keys);
    const leases = await bench.claimAll();
    const all = keys.map((key, i) => {
      const others = found(...keys.toSpliced(i, 1).toSorted((x, y) => ((i % 2 ? x < y : x > y) ? -1 : 1)));
      const rows = words.rows(others.map((o) => ({ word: o.key, version: i })));
      return bench.commit(bench.unit(leases[key]!, { cursor: { at: 1, done: true }, touch: others, put: [rows] }));
    });
    expect((await Promise.all(all)).every((r) => r.committed)).toBe(true);
  });

  it.each([
    ["refreshed", (n: ReturnType<typeof named>) => refresh(bench.db, n)],
    ["paused", (n: ReturnType<typeof named>) => pause(bench.db, n)],
    ["followed again", () => follow(bench.db, bench.lanes, "toy", "a")],
    ["unfollowed", (n: ReturnType<typeof named>) => unfollow(bench.db, n)],
    ["resumed", (n: ReturnType<typeof named>) => resume(bench.db, n)],
  ])("a resource %s in the middle of its commit: both succeed", async (_, verb) => {
    const { a } = await bench.claimAll();
    const stop = stopAt("recorded");
    const committing = bench.commit(bench.unit(a!, { put: [word("a")], cursor: { at: 1, done: true } }), stop.at);
    await stop.reached;
    const changing = verb(named("a"));
    await blocks(bench.db, changing);
    stop.open();
    const [result] = await Promise.all([committing, changing]);
    expect(result.committed).toBe(true);
  });

  it("a child that one owner drops while another finds it lives on", async () => {
    const { a, b } = await bench.claimAll();
    const again = await listing(a!);
    const stop = stopAt("finished");
    const finds = bench.commit(
      bench.unit(b!, { children: { found: found("c") }, cursor: { at: 1, done: true } }),
      stop.at,
    );
    await stop.reached;
    const drops = bench.commit(findingNothing(again));
    await blocks(bench.db, drops);
    stop.open();
    await Promise.all([finds, drops]);
    expect(await bench.rows(sql`select parent_id from tidemark.edge`)).toHaveLength(1);
    expect(await alive("c")).toBe(true);
  });

  it("a child that is found while its owner drops it comes back", async () => {
    const { a, b } = await bench.claimAll();
    const { stop, drops } = await dropping(a!);
    const finds = bench.commit(bench.unit(b!, { children: { found: found("c") }, cursor: { at: 1, done: true } }));
    await blocks(bench.db, finds);
    stop.open();
    await Promise.all([finds, drops]);
    expect(await alive("c")).toBe(true);
  });

  it("a child that is followed by name while its owner drops it lives on", async () => {
    const { a } = await bench.claimAll();
    const { stop, drops } = await dropping(a!);
    const follows = follow(bench.db, bench.lanes, "toy", "c");
    await blocks(bench.db, follows);
    stop.open();
    await Promise.all([drops, follows]);
    expect(await alive("c")).toBe(true);
  });

  it("two that make the same resources in different orders make each once, and neither waits in a circle", async () => {
    const made = (keys: string[]) =>
      keys.map((key) => ({ ...named(key), options: null, lane_id: bench.lanes.rows()[0]!.lane_id, first_come: false }));
    const one = await Session.begin(bench.db);
    const two = await Session.begin(bench.db);
    expect(await makeResources(one.tx, made(["z", "y", "x"]))).toBe(3);
    const second = makeResources(two.tx, made(["x", "w", "y", "z"]));
    await blocks(bench.db, second);
    await one.commit();
    expect(await second).toBe(1);
    await two.commit();
    const keys = Array.from({ length: 60 }, (_, i) => `n${i}`);
    const racing = Array.from({ length: 8 }, (_, w) =>
      bench.db.transaction((tx) => makeResources(tx, made(w % 2 ? keys : keys.toReversed()))),
    );
    const counts = await Promise.all(racing);
    expect(counts.reduce((n, c) => n + c, 0)).toBe(60);
  });
});
