/** A real worker process whose pulls do nothing but hold their leases, for as long as the test lasts. */
import { Events, every, kind, more, openStore, realClock, type Source, Worker } from "tidemark";
import { z } from "zod";

const HOLD_MS = 600_000;

/** Due at once, and then leased for ever. */
export const holding: Source = {
  name: "held",
  follow: (key) => ({ kind: "thing", key }),
  kinds: {
    thing: kind({
      upstream: { name: "held.example" },
      schedule: every("1h"),
      cursor: z.null().default(null),
      // biome-ignore lint/correctness/useYield: it has nothing to commit
      async *pull(pull) {
        await realClock.sleep(HOLD_MS, pull.signal);
        return more();
      },
    }),
  },
};

export const holderSettings = (lease_ttl_ms: number) => ({
  slots: 50,
  lease_ttl_ms,
  grace_ms: 0,
  slice_ms: 600_000,
  pull_timeout_ms: 600_000,
  park_after: 1_000,
  cool_off_ms: 60_000,
  messages_max: 1,
});

const [database_url, name, ttl_ms] = process.argv.slice(2);
if (process.argv[1]?.endsWith("holder-process.ts")) {
  const db = await openStore({ database_url: database_url!, data: "", application_name: name!, max: 5 });
  const events = new Events();
  events.on("surprise", (e) => process.stderr.write(`${name}: ${e.sentence}\n${e.stack}\n`));
  const settings = holderSettings(Number(ttl_ms));
  const parts = { db, clock: realClock, events, sources: [holding], name: name!, user_agent: "chaos", settings };
  const worker = new Worker(parts);
  process.on("SIGTERM", () => void worker.stop());
  process.stdout.write("running\n");
  await worker.run();
  await db.close();
}
