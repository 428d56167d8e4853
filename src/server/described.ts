/** The common parts of a route's description: what it answers when all is well, and when it is not. */
import type { z } from "@hono/zod-openapi";
import { error_shape } from "./shapes.ts";

/** The answers of a route that gives JSON of this shape. */
export function answers<S extends z.ZodType>(schema: S, description: string) {
  const wrong = (what: string) => ({ description: what, content: { "application/json": { schema: error_shape } } });
  return {
    200: { description, content: { "application/json": { schema } } },
    400: wrong("Something in the request was not understood; the sentence says what."),
    404: wrong("There is no such thing."),
  };
}

/** A body of JSON. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true, content: { "application/json": { schema } } };
}
