/** What `/api/budgets` answers, as schemas: budgets with their shares, and breakers. */
import { z } from "@hono/zod-openapi";
import { count, maybe_time, time } from "./shapes.ts";

const share_status = z.object({
  share: z.string(),
  reserved: z.number(),
  used: z.number().nullable(),
  left: z.number(),
  waiting: z.boolean(),
  wait_ms: z.number(),
});

const closing = { closed_until: maybe_time, closed_reason: z.string().nullable() };

export const budgets_shape = z
  .object({
    now: time,
    budgets: z.array(
      z.object({
        budget: z.string(),
        upstream: z.string(),
        shape: z.string(),
        room: z.number(),
        per_second: z.number().nullable(),
        period_ms: z.number().nullable(),
        used: z.number().nullable(),
        left: z.number().nullable(),
        reserved: z.number(),
        lent: z.number(),
        total: z.number(),
        window_until: maybe_time,
        ...closing,
        shares: z.array(share_status),
      }),
    ),
    breakers: z.array(
      z.object({
        upstream: z.string(),
        breaker: z.enum(["closed", "open", "probing"]),
        failing: count,
        strikes: count,
        ...closing,
      }),
    ),
  })
  .openapi("Budgets");
