/** A real worker process that mirrors a NuGet feed, takes its time before commits, and sometimes kills itself in the middle of one. */
import { Events, openStore, realClock, Worker } from "tidemark";
import { nuget } from "../../../src/sources/nuget/source.ts";
import { seeded } from "../../simulation/random.ts";

export interface Order {
  database_url: string;
  name: string;
  seed: number;
  ttl_ms: number;
  /** How likely it dies at each of the three places of a commit, and how long it waits there at most. */
  suicide: number;
  late_ms: number;
}

const { database_url, name, seed, ttl_ms, suicide, late_ms } = JSON.parse(process.argv[2] ?? "{}") as Order;
const random = seeded(seed);
const db = await openStore({ database_url, data: "", application_name: name, max: 5 });
const events = new Events();
events.on("surprise", ({ sentence, stack }) => process.stderr.write(`${name}: ${sentence}\n${stack}\n`));
const source = nuget();
source.configure!(source.settings!.parse({ every: "10s" }), { github_url: null });
const worker = new Worker({
  db,
  clock: realClock,
  events,
  sources: [source],
  name,
  user_agent: "test",
  allow_private: ["127.0.0.1"],
  settings: {
    slots: 16,
    lease_ttl_ms: ttl_ms,
    grace_ms: 2_000,
    slice_ms: 2_000,
    pull_timeout_ms: 60_000,
    park_after: 1_000,
    cool_off_ms: 60_000,
    messages_max: 100_000,
  },
  at: async () => {
    if (random.chance(suicide)) process.kill(process.pid, "SIGKILL");
    await realClock.sleep(random.between(0, late_ms));
  },
});
process.on("SIGTERM", () => void worker.stop());
process.stdout.write("running\n");
await worker.run();
await db.close();
