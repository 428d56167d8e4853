/** Status as the database tells it: counts, lists, place in line, one resource in full. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findByKey, listResources } from "../../src/engine/listing.ts";
import { readOverview } from "../../src/engine/overview.ts";
import { readResource } from "../../src/engine/status.ts";
import { gone, type Kind, later, pause, refresh } from "../../src/index.ts";
import { testDatabase } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

let rig: Rig;
const named = (key: string) => ({ source: "toy", kind: "page", key });
const page = toyKind({
  async *pull({ resource: { key }, cursor }) {
    if (key === "bad") throw new Error("it does not work");
    if (key === "later") return later(600_000, "it asked us to wait");
    if (key === "gone") return gone("nobody has it");
    yield { cursor: { at: cursor.at + 1, done: true }, progress: { done: 40, total: 100 } };
    return undefined;
  },
});
const read = (key: string) => readResource(rig.db, named(key), page);

beforeAll(async () => {
  rig = await Rig.open(testDatabase);
});
beforeEach(() => rig.reset(toySource({ page })));
afterEach(() => rig.end());

async function pulled(...keys: string[]): Promise<void> {
  await rig.follow(...keys);
  const worker = rig.start();
  await rig.calm();
  await rig.clock.advance(10_000);
  await rig.stop(worker);
}

describe("the overview", () => {
  it("counts each status of each source", async () => {
    await pulled("a", "b", "later", "gone", "bad");
    await pause(rig.db, named("b"));
    await rig.follow("c");
    const all = await readOverview(rig.db, ["toy", "unused"]);
    expect(all.estimated).toBe(false);
    const [toy, unused] = all.sources;
    expect(toy).toMatchObject({ followed: 6, resources: 5, due: 1, leased: 0, paused: 1, gone: 1, parked: 0 });
    expect(toy!.pulls_per_minute).toBeGreaterThan(0);
    // Fresh are a and gone, which is known to be so; later, bad and c are not; b is paused and does not count.
    expect(toy).toMatchObject({ fresh: 2, fresh_percent: 40 });
    await rig.db.query(sql`update tidemark.due set failures = 1 where fresh_at is not null`);
    expect((await readOverview(rig.db)).sources[0]).toMatchObject({ fresh: 0, fresh_percent: 0 });
    expect(unused).toMatchObject({ source: "unused", resources: 0, fresh_percent: null });
  });

  it("says since when the most overdue is due, and when the backlog will be done", async () => {
    await pulled("a", "b");
    await rig.clock.advance(3 * 3600_000);
    await rig.follow("c");
    const [toy] = (await readOverview(rig.db)).sources;
    expect(toy!.due).toBe(3);
    expect(Date.parse(toy!.oldest_due_at!)).toBeLessThan(Date.parse("2030-01-01T01:10:00Z"));
    expect(toy!.eta_ms).toBeNull();
  });
});

describe("a list", () => {
  const keys = async (filter: Parameters<typeof listResources>[2], after = 0n, limit = 100) => {
    const { resources, next } = await listResources(rig.db, rig.clock, filter, after, limit);
    return { keys: resources.map((r) => r.key), next };
  };

  it("goes on where the page before ended, and ends", async () => {
    await rig.follow("a", "b", "c");
    const first = await keys({}, 0n, 2);
    expect(first.keys).toEqual(["a", "b"]);
    expect(await keys({}, first.next!, 2)).toEqual({ keys: ["c"], next: null });
    expect((await keys({}, 0n, 3)).next).toBeNull();
  });

  it("filters by source, kind, status and a part of the key in any case", async () => {
    await pulled("a", "Alpha", "gone", "bad");
    await pause(rig.db, named("a"));
    expect((await keys({ q: "ALP" })).keys).toEqual(["Alpha"]);
    expect((await keys({ status: "paused" })).keys).toEqual(["a"]);
    expect((await keys({ status: "gone" })).keys).toEqual(["gone"]);
    expect((await keys({ status: "waiting", kind: "page" })).keys).toEqual(["Alpha", "bad"]);
    expect((await keys({ kind: "none" })).keys).toEqual([]);
    expect((await keys({ source: "other" })).keys).toEqual([]);
  });

  it("finds the very key, wildcards being letters like others", async () => {
    await rig.follow("a%b_c", "axbyc");
    expect((await keys({ q: "a%b_" })).keys).toEqual(["a%b_c"]);
    expect(await findByKey(rig.db, "toy", ["page"], "axbyc")).toHaveLength(1);
    expect(await findByKey(rig.db, "toy", ["page"], "xby")).toEqual([]);
  });
});

describe("one resource", () => {
  it("has its clocks, its cursor, its history and the schedule's reason", async () => {
    await pulled("a");
    const a = await read("a");
    expect(a).toMatchObject({
      status: "waiting",
      cursor: { at: 1, done: true },
      progress_done: 40n,
      progress_total: 100n,
      next: { because: "schedule", why: "every 1h" },
      line: { place: null, eta_ms: null },
    });
    expect(a!.fresh_at).not.toBeNull();
    expect(a!.next.due_at).toBe(a!.due_at);
  });

  it("says what went wrong and when it is tried again", async () => {
    await pulled("bad", "later");
    expect((await read("bad"))!.next).toMatchObject({ because: "retry" });
    expect((await read("bad"))!.pulls[0]).toMatchObject({ outcome: "failed", reason: "it does not work" });
    expect((await read("later"))!.next.why).toContain("it asked us to wait");
  });

  it("has its place in line behind what people asked for and what is more overdue", async () => {
    await pulled("a", "b", "c");
    await rig.clock.advance(3 * 3600_000);
    const places = async () => Promise.all(["a", "b", "c"].map(async (key) => (await read(key))!.line.place));
    expect((await places()).toSorted()).toEqual([1, 2, 3]);
    const last = ["a", "b", "c"][(await places()).indexOf(3)]!;
    await refresh(rig.db, named(last));
    expect((await read(last))!.line.place).toBe(1);
    expect((await places()).toSorted()).toEqual([1, 2, 3]);
  });

  it("has an ETA that no budget forbids, and that begins when its upstream opens", async () => {
    const upstream = { name: "toy.example", budget: { shape: "pace", per_second: 1, burst: 1 } } as const;
    const silent = toyKind({ upstream });
    await rig.reset(toySource({ page: silent }));
    const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
    await rig.follow(...keys);
    // Ten a second of late, on what had been saved up.
    await rig.db.query(sql`
      insert into tidemark.pull_count (source, kind, minute, outcome, pulls, changed) values ('toy', 'page', tidemark.now(), 'fresh', 600, 0)`);
    const etas = async (kind: Kind) =>
      Promise.all(keys.map(async (key) => (await readResource(rig.db, named(key), kind))!.line.eta_ms!));
    expect(Math.max(...(await etas(toyKind())))).toBe(5_000);
    expect(Math.max(...(await etas(silent)))).toBe(49_000);
    expect(Math.min(...(await etas(silent)))).toBe(100);
    await rig.db.query(sql`update tidemark.upstream set closed_until = tidemark.now() + interval '1 hour'`);
    expect(Math.max(...(await etas(silent)))).toBe(3_649_000);
  });

  it("says until when its upstream is closed, and why", async () => {
    await rig.follow("a");
    await rig.db.query(sql`
      update tidemark.upstream set closed_until = tidemark.now() + interval '1 hour', closed_reason = 'HTTP 429'`);
    expect((await read("a"))!.next).toMatchObject({ because: "closed", due_at: "2030-01-01T01:00:00.000000Z" });
    await rig.clock.advance(3600_001);
    expect((await read("a"))!.next.because).toBe("asked");
  });

  it("is not there when nobody ever named it", async () => {
    expect(await read("nothing")).toBeNull();
  });
});

it("a message is told with what it says, the beginning of it where it is long", async () => {
  await rig.follow("a");
  await rig.db.query(sql`
    insert into tidemark.message (resource_id, seq, payload)
    select r.resource_id, 1, ${JSON.stringify({ text: "x".repeat(5_000) })}::jsonb from tidemark.resource r`);
  const [message] = (await read("a"))!.mailbox.waiting;
  expect(message!.payload).toMatch(/^\{"text": "x+$/);
  expect(message!.payload).toHaveLength(1_000);
});
