/** A real worker process for chaos: it pulls the simulated source and sometimes kills itself in the middle of a commit. */
import sql from "sql-template-tag";
import { Events, openStore, type Pull, realClock, Worker } from "tidemark";
import { seeded } from "../simulation/random.ts";
import { simulatedSource } from "../simulation/source.ts";

const [database_url, name, seed, ttl_ms, suicide] = process.argv.slice(2) as [string, string, string, string, string];
const random = seeded(Number(seed));

/** The length of a stream is in the database, so that all processes and the test agree on it. */
async function lengthOf(stream: string, pull: Pull): Promise<number> {
  const { rows } = await pull.read.query<{ length: number }>(
    sql`select length from sim.length where stream = ${stream}`,
  );
  return rows[0]?.length ?? 0;
}

const db = await openStore({ database_url, data: "", application_name: name, max: 5 });
const events = new Events();
events.on("surprise", (e) => process.stderr.write(`${name}: ${e.sentence}\n${e.stack}\n`));
events.on("pull_ended", (e) => {
  if (e.outcome === "failed") process.stderr.write(`${name}: a pull of ${e.key} failed: ${e.reason}\n`);
});
const worker = new Worker({
  db,
  clock: realClock,
  events,
  sources: [simulatedSource(lengthOf, realClock, random, { pause_ms: 60, every: "5s", virtual: false })],
  name,
  user_agent: "chaos",
  settings: {
    slots: 8,
    lease_ttl_ms: Number(ttl_ms),
    grace_ms: 2_000,
    slice_ms: 2_000,
    pull_timeout_ms: 20_000,
    park_after: 1_000,
    cool_off_ms: 60_000,
    messages_max: 100_000,
  },
  at: () => {
    // Dead in the middle of a transaction: after the locks, after the records, or just before the commit.
    if (random.chance(Number(suicide))) process.kill(process.pid, "SIGKILL");
  },
});
process.on("SIGTERM", () => void worker.stop());
process.stdout.write("running\n");
await worker.run();
await db.close();
