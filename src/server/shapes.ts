/** The shapes of what the API takes and gives, from which its description is made. */
import { z } from "@hono/zod-openapi";
import { LIST_MOST, status_names } from "../engine/listing.ts";

export const time = z.string().openapi({ example: "2026-11-15T22:55:50.123456Z" });
export const maybe_time = time.nullable();
export const count = z.number().int();
/** 64-bit numbers are text, because JavaScript would bend them. */
const big = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ example: "42" });
const details = z.unknown().nullable();

export const error_shape = z.object({ error: z.object({ code: z.string(), sentence: z.string() }) }).openapi("Error");

const source_status = z
  .object({
    source: z.string(),
    followed: count,
    resources: count,
    fresh: count,
    fresh_percent: z.number().nullable(),
    due: count,
    leased: count,
    parked: count,
    paused: count,
    gone: count,
    oldest_due_at: maybe_time,
    messages: count,
    messages_parked: count,
    pulls_per_minute: z.number(),
    eta_ms: count.nullable(),
  })
  .openapi("SourceStatus");

const lane_status = z
  .object({
    lane_id: count,
    source: z.string(),
    name: z.string(),
    upstream: z.string(),
    urgency: z.enum(["asked", "routine"]),
    first_come: z.boolean(),
    fleet: count.nullable(),
    due: count,
    leased: count,
    oldest_due_at: maybe_time,
  })
  .openapi("LaneStatus");

const upstream_status = z
  .object({ upstream: z.string(), closed_until: maybe_time, closed_reason: z.string().nullable() })
  .openapi("UpstreamStatus");

const worker_status = z
  .object({
    worker_id: count,
    name: z.string(),
    role: z.string(),
    started_at: time,
    seen_at: time,
    slots: count,
    busy: count,
    stopping: z.boolean(),
  })
  .openapi("WorkerStatus");

export const overview_shape = z
  .object({
    now: time,
    database: z.enum(["postgres", "embedded"]),
    version: z.string(),
    estimated: z.boolean(),
    sources: z.array(source_status),
    lanes: z.array(lane_status),
    upstreams: z.array(upstream_status),
    workers: z.array(worker_status),
  })
  .openapi("Overview");

const named = { source: z.string(), kind: z.string(), key: z.string() };
const tidemark = z.object({
  resource_id: big,
  ...named,
  internal: big,
  position: big,
  anomalies: big,
  moved_at: time,
  skips: count,
});

export const source_shape = source_status
  .extend({
    now: time,
    kinds: z.array(z.string()),
    lanes: z.array(lane_status),
    upstreams: z.array(upstream_status),
    tidemarks: z.array(tidemark),
  })
  .openapi("SourceInFull");

const status_name = z.enum(status_names as [(typeof status_names)[number], ...(typeof status_names)[number][]]);
export const listed_shape = z
  .object({
    resource_id: big,
    ...named,
    status: status_name,
    due_at: maybe_time,
    fresh_at: maybe_time,
    tried_at: maybe_time,
    changed_at: maybe_time,
    followed: z.boolean(),
    failures: count,
    reason: z.string().nullable(),
    messages: big,
    progress_done: big.nullable(),
    progress_total: big.nullable(),
    description: z.string().nullable(),
    place: count.nullable().openapi({ description: "its place in line, where it is due; 1 is next, 1000 is far back" }),
  })
  .openapi("ListedResource");

export const list_query = z.object({
  source: z.string().optional(),
  kind: z.string().optional(),
  status: status_name.optional(),
  q: z.string().max(1024).optional().openapi({ description: "a part of the key or name, in any case" }),
  key: z.string().max(1024).optional().openapi({ description: "the whole key, or what a person would type for it" }),
  after: z
    .string()
    .regex(/^\d{1,18}$/)
    .optional()
    .openapi({ description: "`next` of the page before" }),
  limit: z.coerce.number().int().min(1).max(LIST_MOST).optional(),
});

export const list_shape = z.object({ resources: z.array(listed_shape), next: big.nullable() }).openapi("ResourceList");

const message_status = z.object({
  seq: big,
  posted_at: time,
  parked_at: maybe_time,
  position: big.nullable(),
  tries: count,
  payload: z.string().openapi({ description: "what it says, as JSON; its first 1000 letters" }),
  error: details,
});

export const resource_shape = z
  .object({
    resource_id: big,
    ...named,
    status: status_name,
    now: time,
    due_at: maybe_time,
    not_before: time,
    fresh_at: maybe_time,
    tried_at: maybe_time,
    changed_at: maybe_time,
    viewed_at: maybe_time,
    created_at: time,
    followed_at: maybe_time,
    paused_at: maybe_time,
    parked_at: maybe_time,
    gone_at: maybe_time,
    failures: count,
    reason: z.string().nullable(),
    error: details,
    lane: z.string(),
    urgency: z.enum(["asked", "routine"]),
    upstream: z.string(),
    closed_until: maybe_time,
    closed_reason: z.string().nullable(),
    lease_no: big,
    lease_until: maybe_time,
    worker_id: count.nullable(),
    mail: big,
    options: z.record(z.string(), z.unknown()).nullable(),
    cursor: details,
    progress_done: big.nullable(),
    progress_total: big.nullable(),
    description: z.string().nullable(),
    next: z.object({ due_at: maybe_time, because: z.string(), why: z.string() }),
    line: z.object({ place: count.nullable(), eta_ms: count.nullable() }),
    mailbox: z.object({ waiting: z.array(message_status), parked: z.array(message_status) }),
    tidemark: tidemark
      .extend({
        skipped: z.array(z.object({ resource_id: big, seq: big, position: big, reason: z.string(), skipped_at: time })),
      })
      .nullable(),
    pulls: z.array(
      z.object({
        started_at: time,
        ms: count,
        outcome: z.string(),
        changed: count,
        reason: z.string().nullable(),
        error: details,
        worker_id: count.nullable(),
      }),
    ),
    children: count,
    parents: z.array(z.object(named)),
  })
  .openapi("ResourceInFull");

export const name_params = z.object({
  source: z.string().openapi({ param: { name: "source", in: "path" } }),
  kind: z.string().openapi({ param: { name: "kind", in: "path" } }),
  key: z
    .string()
    .openapi({ param: { name: "key", in: "path" }, description: "one segment, as encodeURIComponent makes it" }),
});

export const follow_body = z
  .object({
    source: z.string().min(1).max(100),
    key: z.string().min(1).max(4096),
    options: z.record(z.string(), z.unknown()).optional(),
  })
  .strict()
  .openapi("Follow");

export const unfollow_body = z
  .object({
    source: z.string().min(1).max(100),
    key: z.string().min(1).max(4096),
    kind: z.string().max(100).optional(),
  })
  .strict()
  .openapi("Unfollow");

export const named_shape = z.object(named).openapi("Named");
export const unfollowed_shape = z.object({ ...named, gone: count }).openapi("Unfollowed");

export const message_query = z.object({
  parked: z.string().optional().openapi({ description: "only parked messages are listed; it may be left out" }),
  source: z.string().optional(),
  after: z.string().max(100).optional().openapi({ description: "`next` of the page before" }),
  limit: z.coerce.number().int().min(1).max(LIST_MOST).optional(),
});

export const messages_shape = z
  .object({
    messages: z.array(
      z.object({
        resource_id: big,
        seq: big,
        ...named,
        origin_id: big.nullable(),
        position: big.nullable(),
        tries: count,
        posted_at: time,
        parked_at: time,
        payload: details,
        error: details,
      }),
    ),
    next: z.string().nullable(),
  })
  .openapi("MessageList");

export const message_params = z.object({
  resource_id: z.string().regex(/^\d{1,18}$/),
  seq: z.string().regex(/^\d{1,18}$/),
});

export const retried_shape = z.object({ resource_id: big, seq: big.nullable() }).openapi("Retried");
