/** pg-boss as a contestant, in its fastest configuration: a queue with a table of its own, fetched and completed by the thousand. */
import { type Contestant, keyOf, type Messages, serve, Tally, type Work } from "../contestant.ts";

interface Job {
  id: string;
  data: { key: string; n: number };
}

/** The few of its words that are used here; its own types are only there once the peers are installed. */
interface Boss {
  on(event: "error" | "warning", heard: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: object[]): Promise<unknown>;
  fetch(name: string, options: object): Promise<Job[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
}

const { PgBoss } = (await import("pg-boss" as string)) as { PgBoss: new (options: object) => Boss };
const [url, batch = "1000", at_once = "2"] = process.argv.slice(2) as [string, string?, string?];
const tally = new Tally();
const calls_at_once = Number(at_once);
const boss = new PgBoss({ connectionString: url, max: 10, schedule: false, supervise: false });
boss.on("error", (error) => process.stderr.write(`pg-boss: ${String(error)}\n`));
await boss.start();
let stopped = false;
let loops: Promise<unknown> = Promise.resolve();

async function work(queue: Work): Promise<void> {
  while (!stopped) {
    const jobs = await boss.fetch(queue, { batchSize: Number(batch) });
    if (jobs.length === 0) continue;
    if (queue === "ordered") for (const { data } of jobs) tally.handled(data.key, data.n);
    await boss.complete(
      queue,
      jobs.map(({ id }) => id),
    );
    if (queue === "refresh") tally.done += jobs.length;
  }
}

const contestant: Contestant = {
  async prepare() {
    await boss.createQueue("refresh", { policy: "standard", partition: true });
    await boss.createQueue("ordered", { policy: "key_strict_fifo", partition: true });
  },
  async enqueue(count) {
    let left = count;
    const loop = async () => {
      while (left > 0) {
        const size = Math.min(left, Number(batch));
        left -= size;
        await boss.insert(
          "refresh",
          Array.from({ length: size }, (_, i) => ({ data: { key: left + i } })),
        );
      }
    };
    await Promise.all(Array.from({ length: calls_at_once }, loop));
  },
  async post(messages: Messages) {
    for (let at = messages.from; at < messages.to; at += Number(batch)) {
      const size = Math.min(Number(batch), messages.to - at);
      await boss.insert(
        "ordered",
        Array.from({ length: size }, (_, i) => {
          const key = keyOf(messages, at + i);
          return { data: { key, n: at + i }, singletonKey: key };
        }),
      );
    }
  },
  async start(queue) {
    loops = Promise.all(Array.from({ length: calls_at_once }, () => work(queue)));
  },
  async stop() {
    stopped = true;
    await loops;
    await boss.stop({ graceful: false });
  },
};

serve(contestant, tally);
