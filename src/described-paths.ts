/** The paths of a source, told to whoever reads /openapi.json. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { z } from "zod";

const Mistake = z.object({ error: z.object({ code: z.string(), sentence: z.string() }) });

export interface DescribedPath {
  /** With its parameters in braces. */
  path: string;
  summary: string;
  /** Of what it answers; JSON unless said. */
  type?: string;
  schema: z.ZodType;
  params?: z.ZodObject;
  query?: z.ZodObject;
}

/** For GET. Where `app` keeps no description (a plain Hono), nothing is described. */
export function describePaths(app: Hono, source: string, paths: DescribedPath[]): void {
  const { openAPIRegistry } = app as Hono & Partial<Pick<OpenAPIHono, "openAPIRegistry">>;
  const wrong = (description: string) => ({ description, content: { "application/json": { schema: Mistake } } });
  for (const { path, summary, type = "application/json", schema, params, query = z.object({}) } of paths)
    openAPIRegistry?.registerPath({
      method: "get",
      path,
      summary,
      tags: [source],
      request: { query, ...(params ? { params } : {}) },
      responses: {
        200: { description: "From the mirror.", content: { [type]: { schema } } },
        400: wrong("Something in the request was not understood; the sentence says what."),
        ...(params ? { 404: wrong("There is no such thing.") } : {}),
      },
    });
}
