/** The stream of status changes for dashboards: a whole snapshot first, and again whenever something in it is different. */
import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Overview } from "../engine/overview.ts";
import { TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";
import type { ServerParts } from "./parts.ts";
import type { Remembered } from "./remembered.ts";

const LISTENERS_MOST = 100;
const LOOK_EVERY_MS = 1_000;
const HEARTBEAT_MS = 15_000;

/** A name for a state: the same state has the same one on every server, so that a listener may come back to another. */
export function digestOf({ now: _now, workers, ...state }: Overview): string {
  const steady = { ...state, workers: workers.map(({ seen_at: _seen_at, ...worker }) => worker) };
  return createHash("sha1").update(toJson(steady)).digest("base64url");
}

export function eventsRoute(app: OpenAPIHono, parts: ServerParts, overview: Remembered<Overview>): void {
  let listeners = 0;
  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/api/events",
    summary: "Status changes as server-sent events",
    description:
      "Each event `status` is a whole /api/status, so nothing is missed by reconnecting: the first one comes at once, unless `Last-Event-ID` names the state that still holds.",
    tags: ["status"],
    responses: {
      200: { description: "A stream of events.", content: { "text/event-stream": { schema: { type: "string" } } } },
    },
  });
  app.get("/api/events", (c) => {
    if (listeners >= LISTENERS_MOST)
      throw new TidemarkError("StoreDown", `${LISTENERS_MOST} listeners are connected already; try again later.`);
    listeners += 1;
    const seen = c.req.header("last-event-id") ?? "";
    return streamSSE(c, async (stream) => {
      const gone = new AbortController();
      stream.onAbort(() => gone.abort());
      const signal = AbortSignal.any([gone.signal, parts.stopping]);
      await follow(stream, parts, overview, seen, signal).finally(() => {
        listeners -= 1;
      });
    });
  });
}

async function follow(
  stream: SSEStreamingApi,
  parts: ServerParts,
  overview: Remembered<Overview>,
  last_seen: string,
  signal: AbortSignal,
): Promise<void> {
  const { clock, db, version } = parts;
  let seen = last_seen;
  let said_ms = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    // While the database is away there is nothing to say but that we are still here.
    const state = await overview.get().catch(() => null);
    const id = state ? digestOf(state) : seen;
    if (state && id !== seen) {
      await stream.writeSSE({ event: "status", id, data: toJson({ ...state, database: db.kind, version }) });
      seen = id;
      said_ms = clock.elapsed_ms();
    } else if (clock.elapsed_ms() - said_ms >= HEARTBEAT_MS) {
      await stream.write(": still here\n\n");
      said_ms = clock.elapsed_ms();
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
