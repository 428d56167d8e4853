/** Everything observable, with its fields, its level and its sentence; logs, metrics and the dashboard subscribe. */
import type { OutcomeName } from "./contract.ts";
import { formatDuration } from "./duration.ts";

/** Error means that a person must act. */
export type Level = "debug" | "info" | "warn" | "error";

interface ResourceName {
  source: string;
  kind: string;
  key: string;
}

export interface EventFields {
  /** A pull ended, whichever way. */
  pull_ended: ResourceName & {
    resource_id: bigint;
    outcome: OutcomeName;
    /** Whether anything in the mirror changed. */
    changed: boolean;
    ms: number;
    /** Records put and dropped. */
    rows: number;
    reason?: string;
    error_code?: string;
    /** What was thrown, for the log's sake. */
    error?: unknown;
  };
  /** A commit or renewal was refused because the lease had ended; nothing was written. */
  lease_lost: ResourceName & { resource_id: bigint; lease_no: bigint };
  /** Leases of workers that went silent were found ended. */
  lease_expired: { count: number };
  /** A resource failed so often that it rests until somebody or its cool-off brings it back. */
  parked: ResourceName & { reason: string; failures: number };
  /** A message failed so often that the mailbox goes on without it. */
  message_parked: ResourceName & { message_id: bigint; reason: string; tries: number };
  /** The database stopped answering. */
  store_lost: { reason: string };
  /** The database answers again. */
  store_back: { lost_ms: number };
  worker_started: { worker: string; slots: number };
  worker_stopping: { worker: string; leases: number; grace_ms: number };
  worker_stopped: { worker: string; ms: number };
  /** Leases were given back unused, at no charge. */
  handed_back: { count: number };
  /** Due resources were leased. */
  claim: { count: number; ms: number };
  /** One transaction of pulls' batches and outcomes. */
  commit: { pulls: number; rows: number; ms: number };
  /** One call to an upstream; `status` is 0 when there was no answer. */
  upstream_call: {
    upstream: string;
    status: number;
    bytes: number;
    ms: number;
    cost: number;
    wait_ms: number;
    /** What it took of which budget, and in the how manieth window. */
    took: { budget: string; cost: number; window: number }[];
  };
  /** Nothing is sent to an upstream until it opens again; `error_code` says whether that is waiting or trouble. */
  upstream_closed: { upstream: string; reason: string; wait_ms: number; error_code?: string };
  /** An upstream is believed down, is tested by one call, or is believed well again. */
  breaker_changed: { upstream: string; from: string; to: string; reason: string; wait_ms: number; error_code: string };
  /** A token was refused: it is not used any more. */
  credential_revoked: { host: string; account: string };
  /** `owner` is the engine or a source: each numbers its own migrations. */
  migration_applied: { owner: string; number: number; name: string; ms: number };
  followed: ResourceName;
  unfollowed: ResourceName;
  /** A setting is allowed but probably not meant. */
  config_warning: { sentence: string };
  /** Something failed that nobody foresaw, outside any pull. */
  surprise: { sentence: string; error_code: string; stack: string };
}

export type EventName = keyof EventFields;

interface EventKind<F> {
  level: (fields: F) => Level;
  sentence: (fields: F) => string;
}

const always = (level: Level) => (): Level => level;
const named = ({ source, kind, key }: ResourceName): string => `${source} ${kind} ${key}`;
const took = (ms: number): string => formatDuration(ms, 2);
const because = (reason: string | undefined): string => (reason ? `: ${reason}` : "");

const outcome_levels: Record<OutcomeName, Level> = {
  fresh: "debug",
  more: "debug",
  later: "debug",
  gone: "info",
  failed: "warn",
  lost: "warn",
};

const outcome_words: Record<OutcomeName, string> = {
  fresh: "is fresh",
  more: "goes on",
  later: "waits",
  gone: "is gone",
  failed: "failed",
  lost: "lost its lease",
};

/** Where the upstream only asked us to wait there is nothing to do; where it refuses us somebody has to look. */
function closedLevel(error_code: string | undefined): Level {
  if (error_code === "UpstreamForbids") return "error";
  return error_code === "UpstreamBusy" ? "info" : "warn";
}

/** For each event how loud it is, and the sentence that says it to a person, with the identifiers in it. */
export const eventKinds: { readonly [N in EventName]: EventKind<EventFields[N]> } = {
  pull_ended: {
    level: (e) => (e.outcome === "fresh" && e.changed ? "info" : outcome_levels[e.outcome]),
    sentence: (e) => {
      const changes = e.changed ? `, ${e.rows} rows changed` : "";
      return `pull of ${named(e)} ${outcome_words[e.outcome]} after ${took(e.ms)}${changes}${because(e.reason)}`;
    },
  },
  lease_lost: {
    level: always("warn"),
    sentence: (e) => `lease ${e.lease_no} of ${named(e)} had ended; nothing was written`,
  },
  lease_expired: {
    level: always("warn"),
    sentence: (e) => `${e.count} leases of silent workers ended; their resources are due again`,
  },
  parked: {
    level: always("warn"),
    sentence: (e) => `${named(e)} is parked after ${e.failures} failures${because(e.reason)}`,
  },
  message_parked: {
    level: always("error"),
    sentence: (e) => `message ${e.message_id} to ${named(e)} is parked after ${e.tries} tries${because(e.reason)}`,
  },
  store_lost: { level: always("warn"), sentence: (e) => `the database does not answer${because(e.reason)}` },
  store_back: {
    level: always("info"),
    sentence: (e) => `the database answers again after ${took(e.lost_ms)}`,
  },
  worker_started: {
    level: always("info"),
    sentence: (e) => `worker ${e.worker} started with ${e.slots} slots`,
  },
  worker_stopping: {
    level: always("info"),
    sentence: (e) => `worker ${e.worker} is stopping; ${e.leases} leases have ${took(e.grace_ms)} to finish`,
  },
  worker_stopped: { level: always("info"), sentence: (e) => `worker ${e.worker} stopped after ${took(e.ms)}` },
  handed_back: { level: always("info"), sentence: (e) => `${e.count} leases were handed back` },
  claim: { level: always("debug"), sentence: (e) => `leased ${e.count} due resources in ${took(e.ms)}` },
  commit: {
    level: always("debug"),
    sentence: (e) => `committed ${e.pulls} pulls with ${e.rows} rows in ${took(e.ms)}`,
  },
  upstream_call: {
    level: always("debug"),
    sentence: (e) => `${e.upstream} answered ${e.status || "nothing"} with ${e.bytes} bytes in ${took(e.ms)}`,
  },
  upstream_closed: {
    level: (e) => closedLevel(e.error_code),
    sentence: (e) => `${e.upstream} is closed for ${took(e.wait_ms)}${because(e.reason)}`,
  },
  breaker_changed: {
    level: (e) => (e.to === "open" ? closedLevel(e.error_code) : e.to === "closed" ? "info" : "debug"),
    sentence: (e) => {
      if (e.to === "closed") return `${e.upstream} is well again`;
      if (e.to === "probing") return `one call tests whether ${e.upstream} is well again`;
      return `${e.upstream} is believed down for ${took(e.wait_ms)}${because(e.reason)}`;
    },
  },
  credential_revoked: {
    level: always("error"),
    sentence: (e) =>
      `${e.host} refuses the token of ${e.account}; it is not used any more. Give another one in its place`,
  },
  migration_applied: {
    level: always("info"),
    sentence: (e) => `migration ${e.number} (${e.name}) of ${e.owner} was applied in ${took(e.ms)}`,
  },
  followed: { level: always("info"), sentence: (e) => `${named(e)} is followed` },
  unfollowed: { level: always("info"), sentence: (e) => `${named(e)} is no longer followed` },
  surprise: { level: always("error"), sentence: (e) => `something failed that nobody foresaw: ${e.sentence}` },
  config_warning: { level: always("warn"), sentence: (e) => e.sentence },
};

export const eventNames = Object.keys(eventKinds) as EventName[];

/** The level of one event, by its fields. */
export function eventLevel<N extends EventName>(name: N, fields: EventFields[N]): Level {
  return eventKinds[name].level(fields);
}

/** The sentence of one event, with its identifiers. */
export function eventSentence<N extends EventName>(name: N, fields: EventFields[N]): string {
  return eventKinds[name].sentence(fields);
}

export type Listener<N extends EventName> = (fields: EventFields[N]) => void;
export type AnyListener = <N extends EventName>(name: N, fields: EventFields[N]) => void;
type Stored = (fields: never) => void;

/** Tells listeners at once and in the order they came; one that throws is reported and disturbs nobody. */
export class Events {
  readonly #named = new Map<EventName, Set<Stored>>();
  readonly #any = new Set<AnyListener>();
  readonly #report: (thrown: unknown, name: EventName) => void;

  constructor(report = warnOfListener) {
    this.#report = report;
  }

  emit<N extends EventName>(name: N, fields: EventFields[N]): void {
    const listeners = this.#named.get(name) as Set<Listener<N>> | undefined;
    if (listeners)
      for (const listener of listeners)
        try {
          this.#heed(name, listener(fields));
        } catch (thrown) {
          this.#report(thrown, name);
        }
    for (const listener of this.#any)
      try {
        this.#heed(name, listener(name, fields));
      } catch (thrown) {
        this.#report(thrown, name);
      }
  }

  /** Listens to one event until the returned function is called. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void {
    const listeners = this.#named.get(name) ?? new Set<Stored>();
    this.#named.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Listens to every event until the returned function is called. */
  onAny(listener: AnyListener): () => void {
    this.#any.add(listener);
    return () => void this.#any.delete(listener);
  }

  /** An async listener fits the type too; its rejection must not end the process. */
  #heed(name: EventName, told: unknown): void {
    if (told instanceof Promise) told.catch((thrown: unknown) => this.#report(thrown, name));
  }
}

function warnOfListener(thrown: unknown, name: EventName): void {
  process.emitWarning(`a listener of ${name} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}
