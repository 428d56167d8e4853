/** Tidemark as a contestant that mirrors a NuGet feed: the source as it is, and a worker. */
import { Lanes } from "../../src/engine/lanes.ts";
import { Events, follow, openStore, realClock, Worker, type WorkerSettings } from "../../src/index.ts";
import { nuget } from "../../src/sources/nuget/source.ts";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { type Contestant, serve, Tally } from "../contestant.ts";

const [url, feed_url, every = "1m"] = process.argv.slice(2) as [string, string, string?];
const db = await openStore({ database_url: url, data: "" });
const tally = new Tally();
const events = new Events();
const source = nuget();
// The feed is on loopback and asks nobody to be polite; peers know no politeness either.
source.configure!(source.settings!.parse({ per_second: "10000", at_once: "256", every }), { github_url: null });

const settings: WorkerSettings = {
  slots: 256,
  lease_ttl_ms: 30_000,
  grace_ms: 10_000,
  slice_ms: 600_000,
  pull_timeout_ms: 600_000,
  park_after: 8,
  cool_off_ms: 86_400_000,
  messages_max: 1_000_000,
};
let worker: Worker | null = null;
events.on("surprise", ({ sentence }) => process.stderr.write(`tidemark: ${sentence}\n`));
events.on("upstream_call", () => {
  tally.done += 1;
});

const contestant: Contestant = {
  async prepare() {
    await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "nuget", ...source.migrations! }]);
    await follow(db, new Lanes([source]), "nuget", `${feed_url}/v3/index.json`);
  },
  async enqueue() {},
  async post() {},
  async start() {
    worker = new Worker({
      db,
      clock: realClock,
      events,
      sources: [source],
      settings,
      name: `bench-${process.pid}`,
      user_agent: "tidemark-bench",
      allow_private: ["127.0.0.1"],
    });
    void worker.run();
  },
  async stop() {
    await worker?.stop();
    await db.close();
  },
};

serve(contestant, tally);
