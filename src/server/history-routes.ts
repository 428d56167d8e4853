/** What the dashboard draws besides the status: what happened over time, and what workers have leases on. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { HISTORY_HOURS_MOST, readHistory } from "../engine/history.ts";
import { readLeases } from "../engine/leased.ts";
import { plain } from "./answers.ts";
import { answers } from "./described.ts";
import { nameOf } from "./names.ts";
import type { ServerParts } from "./parts.ts";
import { count, maybe_time, time } from "./shapes.ts";

const tags = ["status"];
const numbers = z.array(z.number());
const noted = z.array(z.number().nullable());

const history_shape = z
  .object({
    now: time,
    step_ms: count,
    moments: z.array(time),
    sources: z.array(
      z.object({
        source: z.string(),
        pulls: numbers,
        changed: numbers,
        failed: numbers,
        fresh_percent: noted,
        due: noted,
      }),
    ),
  })
  .openapi("History");

const leases_shape = z
  .object({
    leases: z.array(
      z.object({
        worker_id: count,
        source: z.string(),
        kind: z.string(),
        key: z.string(),
        description: z.string().nullable(),
        tried_at: maybe_time,
        lease_until: time,
      }),
    ),
  })
  .openapi("Leases");

const hours = z.coerce
  .number()
  .int()
  .min(1)
  .max(HISTORY_HOURS_MOST)
  .optional()
  .openapi({ description: `how far back: 1, which is the default, to ${HISTORY_HOURS_MOST}` });

const history_route = createRoute({
  method: "get",
  path: "/api/history",
  summary: "Pulls and freshness over time: one value for each moment, null where nothing was noted",
  tags,
  request: { query: z.object({ hours }) },
  responses: answers(history_shape, "The last hours, one unless said, in equal steps."),
});

const leases_route = createRoute({
  method: "get",
  path: "/api/leases",
  summary: "What workers are pulling at this moment",
  tags,
  responses: answers(leases_shape, "At most 500 leases, by worker."),
});

export function historyRoutes(app: OpenAPIHono, parts: ServerParts): void {
  const { db } = parts;

  app.openapi(history_route, async (c) => {
    const { hours = 1 } = c.req.valid("query");
    return c.json(plain<z.infer<typeof history_shape>>(await readHistory(db, hours)), 200);
  });

  app.openapi(leases_route, async (c) => {
    const leases = (await readLeases(db)).map((lease) => {
      const { options: _options, resource_id: _resource_id, ...shown } = lease;
      return { ...shown, description: nameOf(parts, lease) };
    });
    return c.json(plain<z.infer<typeof leases_shape>>({ leases }), 200);
  });
}
