/** Whether this process is alive, whether it can do its work, and its metrics: what every role serves. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import sql from "sql-template-tag";
import type { Overview } from "../engine/overview.ts";
import { readBreakers, readBudgets } from "../engine/spent.ts";
import { asTidemarkError } from "../errors.ts";
import { errorBody } from "./answers.ts";
import type { ServerParts } from "./parts.ts";
import type { Remembered } from "./remembered.ts";

/** A database that takes longer than this to say one word is as good as away. */
const READY_MS_MAX = 5_000;
/** How long /metrics waits for the database before it gives what this process knows. */
const METRICS_MS_MAX = 5_000;

export type HealthParts = Pick<ServerParts, "db" | "clock" | "metrics" | "checkSchema">;

export function healthRoutes(app: OpenAPIHono, parts: HealthParts, overview: Remembered<Overview>): void {
  app.get("/healthz", (c) => c.json({ alive: true }, 200));

  app.get("/readyz", async (c) => {
    try {
      await within(parts, READY_MS_MAX, async () => {
        await parts.db.query(sql`select 1 as one`);
        await parts.checkSchema();
      });
      return c.json({ ready: true }, 200);
    } catch (thrown) {
      const error = asTidemarkError(thrown);
      return c.json(errorBody(error.code, error.message), 503);
    }
  });

  app.get("/metrics", async (c) => {
    const whole = await within(parts, METRICS_MS_MAX, () => overview.get()).catch(() => null);
    const read = async () => ({ budgets: await readBudgets(parts.db), breakers: await readBreakers(parts.db) });
    const manners = whole && (await within(parts, METRICS_MS_MAX, read).catch(() => null));
    const text = await parts.metrics.render(whole, manners);
    return c.body(text, 200, { "content-type": parts.metrics.content_type });
  });
}

/** What `work` gives, if it gives it in time. */
async function within<T>({ clock }: HealthParts, ms: number, work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = clock.sleep(ms, done.signal).then((): never => {
    throw asTidemarkError(new Error(`The database did not answer within ${ms} ms.`));
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(), late]);
  } finally {
    done.abort();
  }
}
