/** What the HTTP API answers, as far as the dashboard shows it; 64-bit numbers are text. */

export interface SourceStatus {
  source: string;
  followed: number;
  resources: number;
  fresh: number;
  fresh_percent: number | null;
  due: number;
  leased: number;
  parked: number;
  paused: number;
  gone: number;
  oldest_due_at: string | null;
  messages: number;
  messages_parked: number;
  pulls_per_minute: number;
  eta_ms: number | null;
}

export interface LaneStatus {
  lane_id: number;
  source: string;
  name: string;
  upstream: string;
  urgency: "asked" | "routine";
  fleet: number | null;
  due: number;
  leased: number;
  oldest_due_at: string | null;
}

export interface UpstreamStatus {
  upstream: string;
  closed_until: string | null;
  closed_reason: string | null;
}

export interface WorkerStatus {
  worker_id: number;
  name: string;
  role: string;
  started_at: string;
  seen_at: string;
  slots: number;
  busy: number;
  stopping: boolean;
}

/** `/api/status`, and each event of `/api/events`. */
export interface Status {
  now: string;
  database: string;
  version: string;
  estimated: boolean;
  sources: SourceStatus[];
  lanes: LaneStatus[];
  upstreams: UpstreamStatus[];
  workers: WorkerStatus[];
}

export interface Named {
  source: string;
  kind: string;
  key: string;
}

export interface TidemarkStatus extends Named {
  internal: string;
  position: string;
  anomalies: string;
  moved_at: string;
  skips: number;
}

/** `/api/sources/{source}`. */
export interface SourceInFull extends SourceStatus {
  now: string;
  kinds: string[];
  lanes: LaneStatus[];
  upstreams: UpstreamStatus[];
  tidemarks: TidemarkStatus[];
}

export type ResourceStatusName = "waiting" | "due" | "leased" | "parked" | "paused" | "gone";

/** One of `/api/resources`. */
export interface Listed extends Named {
  resource_id: string;
  status: ResourceStatusName;
  due_at: string | null;
  fresh_at: string | null;
  tried_at: string | null;
  changed_at: string | null;
  followed: boolean;
  failures: number;
  reason: string | null;
  messages: string;
  progress_done: string | null;
  progress_total: string | null;
  /** What its source calls it. */
  description: string | null;
  /** 1 is next; null for one that does not wait its turn. */
  place: number | null;
}

export interface ListedPage {
  resources: Listed[];
  next: string | null;
}

export interface Problem {
  code?: string;
  sentence?: string;
}

export interface MessageStatus {
  seq: string;
  posted_at: string;
  parked_at: string | null;
  position: string | null;
  tries: number;
  payload: string;
  error: Problem | null;
}

export interface PullStatus {
  started_at: string;
  ms: number;
  outcome: string;
  changed: number;
  reason: string | null;
  error: Problem | null;
  worker_id: number | null;
}

/** `/api/resources/{source}/{kind}/{key}`. */
export interface Resource extends Named {
  resource_id: string;
  status: ResourceStatusName;
  now: string;
  due_at: string | null;
  fresh_at: string | null;
  tried_at: string | null;
  changed_at: string | null;
  viewed_at: string | null;
  created_at: string;
  followed_at: string | null;
  failures: number;
  reason: string | null;
  error: Problem | null;
  lane: string;
  urgency: "asked" | "routine";
  upstream: string;
  closed_until: string | null;
  lease_no: string;
  lease_until: string | null;
  worker_id: number | null;
  mail: string;
  options: Record<string, unknown> | null;
  cursor: unknown;
  progress_done: string | null;
  progress_total: string | null;
  description: string | null;
  next: { due_at: string | null; because: string; why: string };
  line: { place: number | null; eta_ms: number | null };
  mailbox: { waiting: MessageStatus[]; parked: MessageStatus[] };
  tidemark:
    | (TidemarkStatus & { skipped: { seq: string; position: string; reason: string; skipped_at: string }[] })
    | null;
  pulls: PullStatus[];
  children: number;
  parents: Named[];
}

export interface ShareStatus {
  share: string;
  reserved: number;
  used: number | null;
  left: number;
  waiting: boolean;
  wait_ms: number;
}

export interface BudgetStatus {
  budget: string;
  upstream: string;
  shape: string;
  room: number;
  per_second: number | null;
  period_ms: number | null;
  used: number | null;
  left: number | null;
  reserved: number;
  lent: number;
  window_until: string | null;
  closed_until: string | null;
  closed_reason: string | null;
  shares: ShareStatus[];
}

export interface BreakerStatus {
  upstream: string;
  breaker: "closed" | "open" | "probing";
  failing: number;
  strikes: number;
  closed_until: string | null;
  closed_reason: string | null;
}

/** `/api/budgets`. */
export interface Budgets {
  now: string;
  budgets: BudgetStatus[];
  breakers: BreakerStatus[];
}

/** `/api/leases`. */
export interface Lease extends Named {
  worker_id: number;
  description: string | null;
  tried_at: string | null;
  lease_until: string;
}

/** `/api/history`: one value for each moment in each list, null where nothing was noted. */
export interface History {
  now: string;
  step_ms: number;
  moments: string[];
  sources: {
    source: string;
    pulls: number[];
    changed: number[];
    failed: number[];
    fresh_percent: (number | null)[];
    due: (number | null)[];
  }[];
}

/** `/api/demo`. */
export interface Demo {
  actions: { action: string; title: string; says: string }[];
  happened: { at: string; sentence: string }[];
}
