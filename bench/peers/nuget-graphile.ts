/** graphile-worker as a contestant that mirrors a NuGet feed: one job for each leaf, in a serial queue for each package. */
import { Pool } from "undici";
import { openStore } from "../../src/index.ts";
import { putRows } from "../../src/mirror/table.ts";
import { CatalogIndex, CatalogPage, type Item, inOrder, readItem } from "../../src/sources/nuget/catalog-documents.ts";
import { keyOf, Leaf } from "../../src/sources/nuget/leaf.ts";
import { packageRow } from "../../src/sources/nuget/package-row.ts";
import { nuget } from "../../src/sources/nuget/source.ts";
import { ticksOf } from "../../src/sources/nuget/stamp.ts";
import { versions } from "../../src/sources/nuget/tables.ts";
import { rowOf } from "../../src/sources/nuget/version-state.ts";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { type Contestant, serve, Tally } from "../contestant.ts";

/** What is to be mirrored of one version: as much as a message of ours says. */
interface Payload {
  leaf: string;
  stamp: string;
  id: string;
  version: string;
  lower_id: string;
  deletes: boolean;
}

/** The few of its words that are used here; its own types are only there once the peers are installed. */
interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJobs(specs: { identifier: string; payload: Payload; queueName: string }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  Logger: new (factory: () => () => void) => unknown;
}

const { run, makeWorkerUtils, Logger } = (await import("graphile-worker" as string)) as GraphileWorker;
const [url, feed_url, prepass = ""] = process.argv.slice(2) as [string, string, string?];
const JOBS_PER_CALL = 1_000;
const PAGES_AT_ONCE = 4;
const AT_ONCE = 64;
const FEED = { feed_id: 1n, resource_id: 1n };
const tally = new Tally();
const db = await openStore({ database_url: url, data: "" });
const pool = new Pool(feed_url, { connections: AT_ONCE });
const preset = {
  worker: {
    connectionString: url,
    concurrentJobs: AT_ONCE,
    maxPoolSize: 10,
    pollInterval: 100,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    preparedStatements: true,
    logger: new Logger(() => () => {}),
  },
};
const words = await makeWorkerUtils({ preset });
let runner: Awaited<ReturnType<GraphileWorker["run"]>> | null = null;
let reads = false;

async function read(at: string): Promise<unknown> {
  const { pathname } = new URL(at, feed_url);
  const { statusCode, body } = await pool.request({ path: pathname, method: "GET" });
  if (statusCode !== 200) throw new Error(`${at} answered ${statusCode}`);
  return body.json();
}

/** The catalog from its beginning; with a pre-pass all of it first, and only the latest event of each version. */
async function readCatalog(): Promise<void> {
  const index = CatalogIndex.parse(await read("/v3/catalog0/index.json"));
  const pages = index.items.toSorted((a, b) => (a.commitTimeStamp < b.commitTimeStamp ? -1 : 1));
  const latest = new Map<string, Item>();
  for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
    const part = await Promise.all(pages.slice(at, at + PAGES_AT_ONCE).map((page) => read(page["@id"])));
    const items = inOrder(
      part.flatMap((page) => CatalogPage.parse(page).items.map((item) => readItem(item, feed_url) as Item)),
    );
    if (prepass === "") await add(items);
    else for (const item of items) latest.set(`${item.lower_id}/${keyOf(item.version)}`, item);
  }
  await add([...latest.values()]);
}

async function add(items: Item[]): Promise<void> {
  for (let at = 0; at < items.length; at += JOBS_PER_CALL)
    await words.addJobs(
      items.slice(at, at + JOBS_PER_CALL).map(({ leaf, stamp, id, version, lower_id, deletes }) => ({
        identifier: "leaf",
        payload: { leaf, stamp, id, version, lower_id, deletes },
        queueName: lower_id,
      })),
    );
}

const taskList = {
  /** The same rows as ours, made by the same code; a commit for each. */
  async leaf({ lower_id, ...event }: Payload) {
    const ticks = ticksOf(event.stamp)!;
    const leaf = event.deletes ? null : Leaf.parse(await read(event.leaf));
    const of = { ...FEED, lower_id };
    const row = rowOf(of, { ...event, ticks, version_key: keyOf(event.version) }, leaf);
    const { write, value } = packageRow({ ...of, id: event.id, id_ticks: event.deletes ? 0n : ticks, ticks });
    await db.transaction(async (tx) => {
      await putRows(tx, versions, [row]);
      await write(tx, [value]);
    });
    tally.done += 1;
  },
};

const contestant: Contestant = {
  async prepare() {
    await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "nuget", ...nuget().migrations! }]);
    await words.migrate();
    reads = true;
  },
  async enqueue() {},
  async post() {},
  async start() {
    runner = await run({ preset, taskList, noHandleSignals: true, parsedCronItems: [] });
    if (reads) void readCatalog();
  },
  async stop() {
    await runner?.stop();
    await words.release();
    await pool.close();
    await db.close();
  },
};

serve(contestant, tally);
