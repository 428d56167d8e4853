/** What a worker is built from. */
import type { Clock } from "../clock.ts";
import type { Source } from "../contract.ts";
import type { Events } from "../events.ts";
import type { HostTokens } from "../secrets.ts";
import type { Db, Queryable } from "../store/db.ts";
import type { CommitPoint } from "./commit.ts";
import type { Waker } from "./waker.ts";

export interface WorkerSettings {
  slots: number;
  lease_ttl_ms: number;
  grace_ms: number;
  /** How long a pull keeps its slot before it yields; a minute unless said. */
  slice_ms?: number;
  pull_timeout_ms: number;
  park_after: number;
  cool_off_ms: number;
  messages_max: number;
}

export interface WorkerParts {
  db: Db;
  read?: Queryable;
  clock: Clock;
  events: Events;
  sources: Source[];
  settings: WorkerSettings;
  name: string;
  user_agent: string;
  /** Private addresses or CIDRs that upstreams may have; none unless said. */
  allow_private?: readonly string[];
  /** The proxy to the open Internet; none unless said. */
  proxy?: string | null;
  /** Tokens by the host that they are for. */
  tokens?: HostTokens;
  waker?: Waker;
  /** Where tests stop the world inside a commit. */
  at?: (point: CommitPoint) => void | Promise<void>;
}
