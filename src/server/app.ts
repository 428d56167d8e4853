/** The HTTP server as a function from requests to answers: tests and commands call it without a port. */
import { setMaxListeners } from "node:events";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Context } from "../contract.ts";
import { readOverview } from "../engine/overview.ts";
import { postFromOutside } from "../engine/posting.ts";
import { declaredUpstream } from "../engine/upstream-declared.ts";
import { follow } from "../engine/verbs.ts";
import { touch } from "../engine/views.ts";
import { answerError, errorBody } from "./answers.ts";
import { changeRoutes } from "./change-routes.ts";
import { dashboardRoutes } from "./dashboard.ts";
import { demoRoutes } from "./demo-routes.ts";
import { eventsRoute } from "./events-stream.ts";
import { guard, secureHeaders } from "./guard.ts";
import { healthRoutes } from "./health.ts";
import { historyRoutes } from "./history-routes.ts";
import { newApp, type ServerParts } from "./parts.ts";
import { rebuildRoute } from "./rebuild-route.ts";
import { Remembered } from "./remembered.ts";
import { statusRoutes } from "./status-routes.ts";

const BODY_BYTES_MAX = 64 * 1024;
/** How old the overview may be; reading it costs up to 0.2 s of the database at a million resources. */
const OVERVIEW_MS = 900;
/** The metrics of a fleet are scraped from each process: each asks the database rarely. */
const METRICS_OVERVIEW_MS = 10_000;

/** Everything: the API, what the sources serve, the page, the metrics. */
export function createApp(parts: ServerParts): OpenAPIHono {
  const app = guarded(parts);
  const overview = overviewOf(parts, OVERVIEW_MS);
  healthRoutes(app, parts, overview);
  statusRoutes(app, parts, overview);
  changeRoutes(app, parts);
  rebuildRoute(app, parts);
  eventsRoute(app, parts, overview);
  historyRoutes(app, parts);
  demoRoutes(app, parts.demo);
  dashboardRoutes(app);
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "Tidemark",
      version: parts.version,
      description:
        "Keeps an index of other people's data fresh. 64-bit numbers are text; times are UTC with six digits.",
    },
  });
  const context = contextOf(parts);
  for (const source of parts.lanes.sources.values()) source.routes?.(app as unknown as Hono, context);
  return app;
}

/** What a role that does not serve the mirror still answers: is it alive, is it ready, what does it count. */
export function createHealthApp(parts: ServerParts): OpenAPIHono {
  const app = guarded(parts);
  healthRoutes(app, parts, overviewOf(parts, METRICS_OVERVIEW_MS));
  return app;
}

function guarded({ events, settings }: ServerParts): OpenAPIHono {
  const app = newApp();
  app.use(secureHeaders());
  app.use(guard(settings));
  app.use(
    bodyLimit({
      maxSize: BODY_BYTES_MAX,
      onError: (c) => c.json(errorBody("InputInvalid", `A request may hold at most ${BODY_BYTES_MAX} bytes.`), 413),
    }),
  );
  app.onError(answerError(events));
  app.notFound((c) =>
    c.json(
      errorBody("InputInvalid", `There is nothing at ${c.req.path.slice(0, 200)}; /openapi.json lists what there is.`),
      404,
    ),
  );
  return app;
}

function overviewOf({ db, lanes, clock }: ServerParts, for_ms: number) {
  return new Remembered(() => readOverview(db, lanes.sources.keys()), clock, for_ms);
}

/** What the routes of a source may use. */
function contextOf({ db, events, read, views, wake, lanes, upstreams, stopping }: ServerParts): Context {
  // Each call that is out listens to it.
  setMaxListeners(0, stopping);
  return {
    read,
    viewed: (source, ref) => views.viewed(source, ref),
    touch: async (source, ref) => {
      await touch(db, source, ref);
      wake();
    },
    follow: async (source, text) => {
      events.emit("followed", await follow(db, lanes, source, text));
      wake();
    },
    post: async (source, given) => {
      const posted = await postFromOutside(db, lanes, source, given);
      if (posted) wake();
      return posted;
    },
    upstream: (name, share) => {
      const upstream = declaredUpstream(lanes.sources.values(), name);
      const shared = share === undefined ? {} : { share };
      return {
        fetch: (url, request = {}) => upstreams.fetch(upstream, url, { ...request, ...shared }, stopping),
      };
    },
  };
}
