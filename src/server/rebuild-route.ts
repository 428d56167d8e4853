/** Makes what a source derives from its mirror anew, one part after the other: whoever asks goes on with the next. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { sourceOf } from "../engine/verbs.ts";
import { TidemarkError } from "../errors.ts";
import { answers, body } from "./described.ts";
import type { ServerParts } from "./parts.ts";

const rebuild_body = z
  .object({ part: z.string().max(100).nullable().optional() })
  .strict()
  .openapi("Rebuild");
const rebuilt_shape = z
  .object({ rows: z.number().int(), next: z.string().nullable().describe("The part after this one; null at the end.") })
  .openapi("Rebuilt");

const route = createRoute({
  method: "post",
  path: "/api/sources/{source}/rebuild",
  summary: "Make a part of what a source derives from its mirror anew, without a call upstream",
  tags: ["changes"],
  request: { params: z.object({ source: z.string().max(100) }), body: body(rebuild_body) },
  responses: answers(rebuilt_shape, "How many rows were written, and the part that comes next."),
});

export function rebuildRoute(app: OpenAPIHono, { db, lanes }: ServerParts): void {
  app.openapi(route, async (c) => {
    const source = sourceOf(lanes, c.req.valid("param").source);
    if (!source.rebuild)
      throw new TidemarkError("InputInvalid", `${source.name} derives nothing that could be made anew.`);
    return c.json(await source.rebuild(db, c.req.valid("json").part ?? null), 200);
  });
}
