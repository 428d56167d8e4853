/** What every contestant can do, ours and the peers alike, and how its process answers the one that measures. */

/** `refresh` is a no-op on each of many resources; `ordered` is messages that have to be handled in order, key by key. */
export type Work = "refresh" | "ordered";

/** Resources that are due now, and resources that get messages. */
export interface Followed {
  items: number;
  boxes: number;
}

/** Messages numbered `from` up to `to`: on `keys` keys in turn, and with `hot` every second one on a single key besides. */
export interface Messages {
  from: number;
  to: number;
  keys: number;
  hot: boolean;
}

export const keyOf = ({ keys, hot }: Pick<Messages, "keys" | "hot">, n: number): string =>
  hot && n % 2 === 0 ? "hot" : `key-${n % keys}`;

export interface Contestant {
  /** Makes the schema, once for all processes; what is followed is there from the beginning, for those who have it. */
  prepare(followed: Followed): Promise<void>;
  /** Puts `count` refreshes into a queue, in bulk. Where recurrence is built in there is nothing to do. */
  enqueue(count: number): Promise<void>;
  /** Posts messages, in bulk and in their order. */
  post(messages: Messages): Promise<void>;
  /** Works until told to stop. */
  start(work: Work): Promise<void>;
  stop(): Promise<void>;
}

export interface Progress {
  done: number;
  out_of_order: number;
  rss_most_bytes: number;
  cpu_ms: number;
  /** How long claims took, where the contestant says so. */
  claims_ms: number[];
}

/** Counts what a contestant handles and sees whether it keeps each key's order. */
export class Tally {
  done = 0;
  out_of_order = 0;
  readonly claims_ms: number[] = [];
  readonly #last = new Map<string, number>();

  handled(key: string, n: number): void {
    this.done += 1;
    if ((this.#last.get(key) ?? -1) >= n) this.out_of_order += 1;
    this.#last.set(key, n);
  }

  progress(): Progress {
    const { user, system } = process.cpuUsage();
    return {
      done: this.done,
      out_of_order: this.out_of_order,
      rss_most_bytes: process.resourceUsage().maxRSS * 1024,
      cpu_ms: (user + system) / 1000,
      claims_ms: this.claims_ms.splice(0),
    };
  }
}

export interface Call {
  id: number;
  verb: keyof Contestant | "progress";
  argument: unknown;
}

export interface Reply {
  id: number;
  result?: unknown;
  error?: string;
}

/** Answers calls until the process that measures goes away. */
export function serve(contestant: Contestant, tally: Tally): void {
  const verbs: Record<Call["verb"], (argument: never) => unknown> = {
    prepare: (followed: Followed) => contestant.prepare(followed),
    enqueue: (count: number) => contestant.enqueue(count),
    post: (messages: Messages) => contestant.post(messages),
    start: (work: Work) => contestant.start(work),
    stop: () => contestant.stop(),
    progress: () => tally.progress(),
  };
  process.on("message", async ({ id, verb, argument }: Call) => {
    try {
      process.send?.({ id, result: await verbs[verb](argument as never) } satisfies Reply);
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
  // Ctrl-C reaches every process of the terminal; the one that measures ends this one when it is done cleaning up.
  process.on("SIGINT", () => {});
}
