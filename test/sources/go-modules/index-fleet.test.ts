/** Four processes index one owner and are killed and started again, while a client reads as pkgsite does: it sees every version exactly once. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { type ServedGitHub, serveGitHub } from "../../../src/demo/github/server.ts";
import { Lanes } from "../../../src/engine/lanes.ts";
import { CHANNEL } from "../../../src/engine/waker.ts";
import { follow, refresh } from "../../../src/index.ts";
import { goModules } from "../../../src/sources/go-modules/source.ts";
import { type Child, startChild } from "../../child.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { Poller } from "./index-poller.ts";
import { IndexRig } from "./index-rig.ts";
import type { Order } from "./index-worker.ts";
import { gomod } from "./rig.ts";

const REPOSITORIES = 30;
/** Far longer than it takes, on a machine that does other things besides. */
const PATIENCE_MS = 150_000;
const owner = { source: "go-modules", kind: "owner", key: "github.com/acme" };

let rig: IndexRig<TestPostgres>;
let served: ServedGitHub;
const hub = new GitHub();
const expected = new Set<string>();
const children: Child[] = [];

beforeAll(async () => {
  rig = await IndexRig.open(testDatabase);
  hub.account("bot");
  served = await serveGitHub(hub, () => performance.timeOrigin + performance.now());
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await served.close();
});

/** A tag of a module at the root, or of one in a directory where the number is odd. */
function push(n: number, minor: number, date_ms?: number): void {
  const root = `github.com/acme/r${n}`;
  const files = { ...gomod(root), ...gomod(`${root}/sub`, "sub/go.mod") };
  const tag = minor % 2 === 0 ? `v1.${minor}.0` : `sub/v1.${minor}.0`;
  hub.push(`acme/r${n}`, tag, { files, ...(date_ms === undefined ? {} : { date_ms }) });
  expected.add(`${minor % 2 === 0 ? root : `${root}/sub`}@v1.${minor}.0`);
}

async function startWorker(): Promise<void> {
  const name = `w${children.length}`;
  const account = { host: "github.com", api: served.url, token: "token-of-bot" };
  const order: Order = { database_url: rig.store.url, name, ...account, late_ms: 25 };
  const child = startChild("sources/go-modules/index-worker.ts", JSON.stringify(order));
  children.push(child);
  expect(await child.line()).toBe("running");
}

const published = async (): Promise<string[]> => {
  const { rows } = await rig.db.query<{ name: string }>(sql`
    select path || '@' || version as name from go_modules.version order by published_at`);
  return rows.map(({ name }) => name);
};

/** Sweeps come now and not minutes later, until so many versions are there. */
async function until(versions: () => number): Promise<void> {
  const enough = async () => {
    await refresh(rig.db, owner);
    await rig.db.query(sql`select pg_notify(${CHANNEL}, '')`);
    return (await published()).length >= versions();
  };
  await expect.poll(enough, { timeout: PATIENCE_MS, interval: 100 }).toBe(true);
}

it("every version once, whoever dies and however late commits are", { timeout: 4 * PATIENCE_MS }, async () => {
  for (let n = 0; n < REPOSITORIES; n += 1) {
    hub.repository(`acme/r${n}`);
    for (let minor = 0; minor < 6; minor += 1) push(n, minor);
  }
  await follow(rig.db, new Lanes([goModules()]), "go-modules", "github.com/acme");
  const first = await new Poller(rig.db, (path) => rig.get(path)).open();
  // Its table is all that it remembers: this one goes on where the first was.
  const second = new Poller(rig.db, (path) => rig.get(path));
  let poller = first;
  let reading = true;
  const looking = (async () => {
    while (reading) await poller.poll();
  })();
  try {
    await Promise.all([1, 2, 3, 4].map(startWorker));
    await until(() => 1);
    // In the middle of it, two of four.
    await Promise.all([children[0]!.kill(), children[1]!.kill()]);
    await Promise.all([startWorker(), startWorker()]);
    await until(() => expected.size / 2);
    for (let n = 0; n < REPOSITORIES; n += 3) push(n, 10 + n, Date.UTC(2015, 0));
    poller = second;
    await Promise.all([children[2]!.kill(), children[3]!.kill()]);
    await until(() => expected.size);
  } finally {
    reading = false;
    await looking;
  }
  await second.toEnd();
  expect([...(await published())].sort()).toEqual([...expected].sort());
  expect(await second.seen()).toEqual(await published());
  const news = [...first.news, ...second.news];
  expect(news.map(([name]) => name).sort()).toEqual([...expected].sort());
  expect(new Set(news.map(([, times]) => times))).toEqual(new Set([1]));
});
