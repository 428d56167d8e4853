/** graphile-worker as a contestant, in its fastest configuration: a local queue, batched completion, bulk insertion. */
import { type Contestant, keyOf, type Messages, serve, Tally } from "../contestant.ts";

interface JobSpec {
  identifier: string;
  payload: unknown;
  queueName?: string;
}

/** The few of its words that are used here; its own types are only there once the peers are installed. */
interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJobs(specs: JobSpec[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  Logger: new (factory: () => () => void) => unknown;
}

const { run, makeWorkerUtils, Logger } = (await import("graphile-worker" as string)) as GraphileWorker;
const [url, concurrency = "24"] = process.argv.slice(2) as [string, string?];
const tally = new Tally();
const jobs_per_call = 1_000;
const calls_at_once = 2;

const preset = {
  worker: {
    connectionString: url,
    concurrentJobs: Number(concurrency),
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

const taskList = {
  refresh() {
    tally.done += 1;
  },
  message({ key, n }: { key: string; n: number }) {
    tally.handled(key, n);
  },
};

const contestant: Contestant = {
  async prepare() {
    await words.migrate();
  },
  async enqueue(count) {
    let left = count;
    const loop = async () => {
      while (left > 0) {
        const size = Math.min(left, jobs_per_call);
        left -= size;
        await words.addJobs(
          Array.from({ length: size }, (_, i) => ({ identifier: "refresh", payload: { key: left + i } })),
        );
      }
    };
    await Promise.all(Array.from({ length: calls_at_once }, loop));
  },
  async post(messages: Messages) {
    for (let at = messages.from; at < messages.to; at += jobs_per_call) {
      const size = Math.min(jobs_per_call, messages.to - at);
      await words.addJobs(
        Array.from({ length: size }, (_, i) => {
          const key = keyOf(messages, at + i);
          return { identifier: "message", payload: { key, n: at + i }, queueName: key };
        }),
      );
    }
  },
  async start() {
    runner = await run({ preset, taskList, noHandleSignals: true, parsedCronItems: [] });
  },
  async stop() {
    await runner?.stop();
    await words.release();
  },
};

serve(contestant, tally);
