/** What people change: follow, unfollow, refresh, pause, resume, and another try for a parked message. */
import { createRoute, type OpenAPIHono, type z } from "@hono/zod-openapi";
import { type Before, listParked, retryMessage } from "../engine/parked-messages.ts";
import { follow, type Named, pause, refresh, resume, unfollow } from "../engine/verbs.ts";
import { TidemarkError } from "../errors.ts";
import { plain } from "./answers.ts";
import { answers, body } from "./described.ts";
import type { ServerParts } from "./parts.ts";
import {
  follow_body,
  message_params,
  message_query,
  messages_shape,
  name_params,
  named_shape,
  retried_shape,
  unfollow_body,
  unfollowed_shape,
} from "./shapes.ts";
import { findTyped } from "./status-routes.ts";

const tags = ["changes"];

const follow_route = createRoute({
  method: "post",
  path: "/api/follow",
  summary: "Begin to follow; following twice changes nothing but the options",
  tags,
  request: { body: body(follow_body) },
  responses: answers(named_shape, "What is followed now."),
});

const unfollow_route = createRoute({
  method: "post",
  path: "/api/unfollow",
  summary: "End following; what nobody else brought forth is gone with it",
  tags,
  request: { body: body(unfollow_body) },
  responses: answers(unfollowed_shape, "What is no longer followed, and how many resources are gone with it."),
});

const messages_route = createRoute({
  method: "get",
  path: "/api/messages",
  summary: "Messages that failed too often, the newest first",
  tags: ["status"],
  request: { query: message_query },
  responses: answers(messages_shape, "A page of parked messages."),
});

const retry_route = createRoute({
  method: "post",
  path: "/api/messages/{resource_id}/{seq}/retry",
  summary: "Give a parked message another try, at the end of its mailbox",
  tags,
  request: { params: message_params },
  responses: answers(retried_shape, "Its new number; null when a newer message had taken its place."),
});

const summaries = {
  refresh: "Make a resource due now; also the way back for what is parked",
  pause: "Stop pulling a resource until it is resumed",
  resume: "Go on with a resource that is paused or parked",
};

export function changeRoutes(app: OpenAPIHono, parts: ServerParts): void {
  const { db, lanes, events, wake } = parts;

  app.openapi(follow_route, async (c) => {
    const { source, key, options } = c.req.valid("json");
    const named = await follow(db, lanes, source, key, options);
    events.emit("followed", named);
    wake();
    return c.json(named, 200);
  });

  app.openapi(unfollow_route, async (c) => {
    const { source, key, kind } = c.req.valid("json");
    const named = await findFollowed(parts, source, kind, key);
    const { gone } = await unfollow(db, named);
    events.emit("unfollowed", named);
    return c.json({ ...named, gone }, 200);
  });

  const verbs = { refresh, pause, resume };
  for (const verb of ["refresh", "pause", "resume"] as const) {
    const route = createRoute({
      method: "post",
      path: `/api/resources/{source}/{kind}/{key}/${verb}`,
      summary: summaries[verb],
      tags,
      request: { params: name_params },
      responses: answers(named_shape, "What it was done to."),
    });
    app.openapi(route, async (c) => {
      const { source, kind, key } = c.req.valid("param");
      await verbs[verb](db, { source, kind, key });
      wake();
      return c.json({ source, kind, key }, 200);
    });
  }

  app.openapi(messages_route, async (c) => {
    const { source, after, limit = 100 } = c.req.valid("query");
    const messages = await listParked(db, source ?? null, after === undefined ? null : readPlace(after), limit);
    const last = messages.length === limit ? messages.at(-1) : undefined;
    const next = last ? `${last.parked_at},${last.resource_id},${last.seq}` : null;
    return c.json(plain<z.infer<typeof messages_shape>>({ messages, next }), 200);
  });

  app.openapi(retry_route, async (c) => {
    const { resource_id, seq } = c.req.valid("param");
    const again = await retryMessage(db, BigInt(resource_id), BigInt(seq));
    wake();
    return c.json(plain<z.infer<typeof retried_shape>>({ resource_id, seq: again.seq }), 200);
  });
}

function readPlace(text: string): Before {
  const [, parked_at, resource_id, seq] = /^(\d{4}-[\dT:.-]+Z),(\d{1,18}),(\d{1,18})$/.exec(text) ?? [];
  if (parked_at === undefined)
    throw new TidemarkError("InputInvalid", "`after` has to be the `next` of the page before.");
  return { parked_at, resource_id: BigInt(resource_id!), seq: BigInt(seq!) };
}

/** The followed one among the resources of that key. */
async function findFollowed(parts: ServerParts, source: string, kind: string | undefined, key: string): Promise<Named> {
  const found = await findTyped(parts, source, kind, key);
  const followed = found.filter((one) => one.followed);
  if (followed.length > 1) {
    const kinds = followed.map((one) => one.kind).join(" and ");
    throw new TidemarkError("InputInvalid", `"${key}" is followed as ${kinds}; say which kind is meant.`);
  }
  const [one] = followed.length > 0 ? followed : found;
  if (!one)
    throw new TidemarkError(
      "NotFollowed",
      `"${key}" of ${source} is not followed. \`tidemark status ${source}\` lists what is.`,
    );
  return { source: one.source, kind: one.kind, key: one.key };
}
