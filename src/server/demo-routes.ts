/** Where the upstreams are pretend ones: what can be made to happen there, and what did. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { TidemarkError } from "../errors.ts";
import { answers } from "./described.ts";
import type { DemoControls } from "./parts.ts";
import { time } from "./shapes.ts";

const tags = ["demo"];

const demo_shape = z
  .object({
    actions: z.array(z.object({ action: z.string(), title: z.string(), says: z.string() })),
    happened: z.array(z.object({ at: time, sentence: z.string() })),
  })
  .openapi("Demo");

const demo_route = createRoute({
  method: "get",
  path: "/api/demo",
  summary: "What can be made to happen at pretend upstreams; no action where they are real",
  tags,
  responses: answers(demo_shape, "The actions, and what happened there, the newest first."),
});

const act_route = createRoute({
  method: "post",
  path: "/api/demo/{action}",
  summary: "Make something happen at a pretend upstream",
  tags,
  request: {
    params: z.object({ action: z.string().max(100).openapi({ description: "one that GET /api/demo lists" }) }),
  },
  responses: answers(z.object({ sentence: z.string() }).openapi("DemoDone"), "What it did."),
});

export function demoRoutes(app: OpenAPIHono, demo: DemoControls | undefined): void {
  app.openapi(demo_route, (c) =>
    c.json({ actions: [...(demo?.actions ?? [])], happened: demo?.happened() ?? [] }, 200),
  );

  app.openapi(act_route, (c) => {
    if (!demo)
      throw new TidemarkError("InputInvalid", "The upstreams here are real; `tidemark up --demo` has pretend ones.");
    const { action } = c.req.valid("param");
    const sentence = demo.act(action, new URL(c.req.url).origin);
    if (sentence === null) {
      const names = demo.actions.map((one) => one.action).join(", ");
      throw new TidemarkError("InputInvalid", `There is no action "${action}"; there are: ${names}.`);
    }
    return c.json({ sentence }, 200);
  });
}
