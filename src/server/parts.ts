/** What the server is built from: the same in a process of its own, in one with everything, and inside a command. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Clock } from "../clock.ts";
import type { Lanes } from "../engine/lanes.ts";
import type { Upstreams } from "../engine/upstream.ts";
import type { Views } from "../engine/views.ts";
import type { Events } from "../events.ts";
import type { Db, Queryable } from "../store/db.ts";
import { errorBody } from "./answers.ts";
import type { GuardSettings } from "./guard.ts";
import type { Metrics } from "./metrics.ts";

/** What can be made to happen at pretend upstreams. */
export interface DemoControls {
  actions: readonly { action: string; title: string; says: string }[];
  /** What happened there, the newest first. */
  happened(): { at: string; sentence: string }[];
  /** Does it, and says what it did; null where there is no such action. */
  act(action: string, origin: string): string | null;
}

export interface ServerParts {
  db: Db;
  /** Read-only SQL for the mirror, on a replica where there is one. */
  read: Queryable;
  clock: Clock;
  events: Events;
  lanes: Lanes;
  /** For calls outside of pulls. */
  upstreams: Upstreams;
  views: Views;
  metrics: Metrics;
  settings: GuardSettings;
  version: string;
  /** Throws when the schema is not the one this release needs. */
  checkSchema(): Promise<void>;
  /** Something became due. */
  wake(): void;
  /** Ends streams when the server stops. */
  stopping: AbortSignal;
  /** Only where the upstreams are pretend ones. */
  demo?: DemoControls | undefined;
}

/** An app whose mistakes in parameters are told like every other mistake. */
export function newApp(): OpenAPIHono {
  return new OpenAPIHono({
    defaultHook: (result, c) => {
      if (result.success) return undefined;
      const said = result.error.issues.map(({ path, message }) => {
        const where = path.map(String).join(".");
        return where ? `${where}: ${message}` : message;
      });
      return c.json(errorBody("InputInvalid", `The request was not understood: ${said.join("; ")}.`), 400);
    },
  });
}
