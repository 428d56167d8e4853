/** Views: cheap to note, written once a minute, and the way back for what is parked. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { touch, Views } from "../../src/engine/views.ts";
import { decay, pause } from "../../src/index.ts";
import { testDatabase } from "../postgres.ts";
import { Rig, settings } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

let rig: Rig;
let views: Views;
let woken: number;
let broken: boolean;
const page = toyKind({
  schedule: decay([{ idle: "1h", every: "10m" }], "30d"),
  // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
  async *pull() {
    if (broken) throw new Error("it does not work");
    return undefined;
  },
});
const ref = (key: string) => ({ kind: "page", key });
const viewedAt = async (key: string) =>
  (await rig.rows<{ viewed_at: string | null }>(sql`select viewed_at from tidemark.resource where key = ${key}`))[0]!
    .viewed_at;

beforeAll(async () => {
  rig = await Rig.open(testDatabase);
});
beforeEach(async () => {
  broken = false;
  woken = 0;
  await rig.reset(toySource({ page }));
  const { db, clock, sources } = rig;
  const kind = (source: string, name: string) => sources.find((one) => one.name === source)?.kinds[name] ?? null;
  const surprise = (thrown: unknown) => rig.surprises.push(String(thrown));
  const wake = () => {
    woken += 1;
  };
  views = new Views({
    db,
    clock,
    kind,
    wake,
    surprise,
    park_after: settings.park_after,
    cool_off_ms: settings.cool_off_ms,
  });
});
afterEach(() => rig.end());

/** Followed long ago, and not looked at since. */
async function followed(...keys: string[]): Promise<void> {
  await rig.follow(...keys);
  await rig.rows(sql`update tidemark.resource set viewed_at = null`);
}

async function pulled(...keys: string[]): Promise<void> {
  await followed(...keys);
  const worker = rig.start();
  await rig.calm();
  await rig.stop(worker);
}

async function view(key: string): Promise<void> {
  views.viewed("toy", ref(key));
  await views.flush();
}

/** Parked after its eighth failure. */
async function park(key: string): Promise<void> {
  broken = true;
  await followed(key);
  const worker = rig.start();
  await rig.clock.until(async () => (await rig.resource(key)).status === "parked");
  await rig.stop(worker);
}

it("to follow is to look", async () => {
  await rig.follow("a");
  const looked_at = await viewedAt("a");
  expect(looked_at).not.toBeNull();
  await view("a");
  expect((await viewedAt("a"))! > looked_at!).toBe(true);
});

describe("a view", () => {
  it("is written within ten seconds, and again only after a minute", async () => {
    await pulled("a");
    const stop = new AbortController();
    const running = views.run(stop.signal);
    views.viewed("toy", ref("a"));
    await rig.clock.advance(9_000);
    expect(await viewedAt("a")).toBeNull();
    await rig.clock.advance(2_000);
    const first = await viewedAt("a");
    expect(first).not.toBeNull();
    await rig.clock.advance(40_000);
    views.viewed("toy", ref("a"));
    await rig.clock.advance(10_000);
    expect(await viewedAt("a")).toBe(first);
    await rig.clock.advance(20_000);
    views.viewed("toy", ref("a"));
    stop.abort();
    await running;
    expect(await viewedAt("a")).not.toBe(first);
  });

  it("brings the next pull forward where the schedule weighs it", async () => {
    await pulled("a");
    expect((await rig.resource("a")).due_in_ms).toBeGreaterThan(29 * 86_400_000);
    await view("a");
    expect((await rig.resource("a")).due_in_ms).toBeLessThanOrEqual(600_000);
    expect(woken).toBe(1);
  });

  it("does not go below the floor, nor wake what is paused or not there", async () => {
    await pulled("a", "b");
    await rig.db.query(sql`
      update tidemark.due set not_before = tidemark.now() + interval '2 hours' where due_at > tidemark.now() + interval '3 hours'`);
    await pause(rig.db, { source: "toy", kind: "page", key: "b" });
    await view("a");
    await view("b");
    await view("nothing");
    expect((await rig.resource("a")).due_in_ms).toBe(7_200_000);
    expect((await rig.resource("b")).status).toBe("paused");
  });
});

describe("a view of what is parked", () => {
  it("brings it back for one try, and not a second time when that fails", async () => {
    await park("a");
    await view("a");
    expect(await rig.resource("a")).toMatchObject({ status: "due", failures: 8 });
    const worker = rig.start();
    await rig.clock.until(async () => (await rig.resource("a")).failures === 9);
    await rig.stop(worker);
    expect((await rig.resource("a")).status).toBe("parked");
    await rig.clock.advance(120_000);
    await view("a");
    expect((await rig.resource("a")).status).toBe("parked");
  });

  it("leaves a success with a clean slate", async () => {
    await park("a");
    broken = false;
    await view("a");
    await pulled();
    expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0, reason: null });
  });

  it("does not lift a wait that reaches beyond the cool-off", async () => {
    await park("a");
    await rig.db.query(sql`
      update tidemark.due set due_at = tidemark.now() + interval '3 days', not_before = tidemark.now() + interval '3 days'`);
    await view("a");
    expect((await rig.resource("a")).due_in_ms).toBe(3 * 86_400_000);
  });
});

describe("a touch", () => {
  it("makes due now, and leaves what is gone alone", async () => {
    await pulled("a", "b");
    await rig.db.query(sql`update tidemark.resource set gone_at = tidemark.now() where key = 'b'`);
    await touch(rig.db, "toy", ref("a"));
    await touch(rig.db, "toy", ref("b"));
    expect(await rig.statuses()).toEqual({ a: "due", b: "gone" });
    expect((await rig.resource("b")).due_in_ms).toBeGreaterThan(0);
  });
});
