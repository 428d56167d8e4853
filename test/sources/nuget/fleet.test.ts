/** Three processes mirror one feed on a real PostgreSQL and are killed again and again: no event is lost, overtaken or promised too early. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { serveNuGet } from "../../../src/demo/nuget/server.ts";
import { Lanes } from "../../../src/engine/lanes.ts";
import { CHANNEL } from "../../../src/engine/waker.ts";
import { follow, realClock, refresh } from "../../../src/index.ts";
import { nuget } from "../../../src/sources/nuget/source.ts";
import { Fleet } from "../../chaos/fleet.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { seeded } from "../../simulation/random.ts";
import type { Order } from "./fleet-worker.ts";
import { History } from "./history.ts";
import { migrations } from "./rig.ts";

/** Far longer than it takes, on a machine that does other things besides. */
const PATIENCE_MS = 240_000;
const KILLS_LEAST = 4;

let store: TestPostgres;
let served: Awaited<ReturnType<typeof serveNuGet>>;
let fleet: Fleet;
const random = seeded(20_150_201);
const feed = new NuGetFeed();
const history = new History(feed, random, 40);

beforeAll(async () => {
  feed.page_most = 25;
  feed.order = "mixed";
  for (let n = 0; n < 250; n += 1) history.commit();
  store = await testDatabase({ migrations: migrations() });
  served = await serveNuGet(feed);
  fleet = new Fleet({
    size: 3,
    ttl_ms: 1_500,
    random,
    command(name) {
      const order: Order = {
        database_url: store.url,
        name,
        seed: random.between(1, 1_000_000),
        ttl_ms: 1_500,
        suicide: 0.002,
        late_ms: 8,
      };
      return ["../sources/nuget/fleet-worker.ts", JSON.stringify(order)];
    },
  });
});
afterAll(async () => {
  await fleet.end("SIGKILL");
  await served.close();
});

interface Look {
  position: bigint;
  internal: bigint;
  mirrored: Map<string, bigint>;
}

/** The cursors and the mirror at one moment. */
async function look(): Promise<Look> {
  const { rows } = await store.db.query<{ position: bigint | null; internal: bigint | null; versions: string[] }>(sql`
    select (select position from tidemark.tidemark) as position, (select internal from tidemark.tidemark) as internal,
           coalesce((select array_agg(lower_id || '/' || version_key || ' ' || ticks) from nuget.version), '{}') as versions`);
  const { position, internal, versions } = rows[0]!;
  const mirrored = new Map(
    versions.map((text) => text.split(" ")).map(([key, ticks]) => [key!, BigInt(ticks!)] as const),
  );
  return { position: position ?? 0n, internal: internal ?? 0n, mirrored };
}

it("D4, D16: each version ends in the state of its last event, and the public cursor never promises what is not there", {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const key = `${served.url}/v3/index.json`;
  await follow(store.db, new Lanes([nuget()]), "nuget", key);
  let before: Look = { position: 0n, internal: 0n, mirrored: new Map() };
  let looks = 0;
  const begun_ms = realClock.elapsed_ms();
  while (before.position < history.last || fleet.kills < KILLS_LEAST) {
    await fleet.fill();
    // Catalogs grow all the time; some of it is there before its commit is whole.
    if (history.all.length < 1_500) for (let n = 0; n < 20; n += 1) history.commit();
    if (looks % 6 === 5) fleet.kill();
    // Now, and not when the minute is over.
    await refresh(store.db, { source: "nuget", kind: "catalog", key });
    await store.db.query(sql`select pg_notify(${CHANNEL}, '')`);
    const now = await look();
    expect(now.position).toBeLessThanOrEqual(now.internal);
    expect(now.position).toBeGreaterThanOrEqual(before.position);
    expect(history.missing(now.position, now.mirrored)).toEqual([]);
    before = now;
    looks += 1;
    if (realClock.elapsed_ms() - begun_ms > PATIENCE_MS) break;
    await realClock.sleep(150);
  }
  const { rows } = await store.db.query<{ key: string; ticks: bigint; deleted: boolean; listed: boolean }>(sql`
    select lower_id || '/' || version_key as key, ticks, deleted, listed from nuget.version`);
  expect(Object.fromEntries(rows.map(({ key: name, ...state }) => [name, state]))).toEqual(history.end);
  expect(before.position).toBe(history.last);
  expect(fleet.kills).toBeGreaterThanOrEqual(KILLS_LEAST);
  expect(fleet.said).toEqual([]);
});
