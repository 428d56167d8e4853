/** What is going on: the whole, one source, the resources that match, one resource, the budgets. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { findByKey, type Listed, listResources } from "../engine/listing.ts";
import type { Overview } from "../engine/overview.ts";
import { readPlaces } from "../engine/places.ts";
import { readBreakers, readBudgets } from "../engine/spent.ts";
import { readResource, readTidemarks } from "../engine/status.ts";
import { sourceOf } from "../engine/verbs.ts";
import { TidemarkError } from "../errors.ts";
import { nearest } from "../spelling.ts";
import { plain } from "./answers.ts";
import { budgets_shape } from "./budget-shapes.ts";
import { answers } from "./described.ts";
import { nameOf } from "./names.ts";
import type { ServerParts } from "./parts.ts";
import type { Remembered } from "./remembered.ts";
import { list_query, list_shape, name_params, overview_shape, resource_shape, source_shape } from "./shapes.ts";

const tags = ["status"];

const overview_route = createRoute({
  method: "get",
  path: "/api/status",
  summary: "Everything that is going on, in numbers",
  tags,
  responses: answers(overview_shape, "Sources, lanes, upstreams and workers."),
});

const source_route = createRoute({
  method: "get",
  path: "/api/sources/{source}",
  summary: "One source, with its lanes, upstreams and tidemarks",
  tags,
  request: { params: z.object({ source: z.string() }) },
  responses: answers(source_shape, "The source."),
});

const list_route = createRoute({
  method: "get",
  path: "/api/resources",
  summary: "The resources that match, a page at a time",
  tags,
  request: { query: list_query },
  responses: answers(
    list_shape,
    "A page; it may be short, even empty, and still not be the last: go on while `next` is there.",
  ),
});

const resource_route = createRoute({
  method: "get",
  path: "/api/resources/{source}/{kind}/{key}",
  summary: "One resource in full: its clocks, what happens next and why, its place in line, its mailbox and history",
  tags,
  request: { params: name_params },
  responses: answers(resource_shape, "The resource."),
});

const budgets_route = createRoute({
  method: "get",
  path: "/api/budgets",
  summary: "What was spent of each allowance",
  tags,
  responses: answers(budgets_shape, "The budgets."),
});

export function statusRoutes(app: OpenAPIHono, parts: ServerParts, overview: Remembered<Overview>): void {
  const { db, clock, lanes, version } = parts;

  app.openapi(overview_route, async (c) =>
    c.json(plain<z.infer<typeof overview_shape>>({ ...(await overview.get()), database: db.kind, version }), 200),
  );

  app.openapi(source_route, async (c) => {
    const { source } = c.req.valid("param");
    const all = await overview.get();
    const found = all.sources.find((one) => one.source === source);
    if (!found) throw new TidemarkError("NotFollowed", unknownSource(all, source));
    const my_lanes = all.lanes.filter((lane) => lane.source === source);
    const names = new Set(my_lanes.map((lane) => lane.upstream));
    const full = {
      ...found,
      now: all.now,
      kinds: Object.keys(lanes.sources.get(source)?.kinds ?? {}),
      lanes: my_lanes,
      upstreams: all.upstreams.filter((one) => names.has(one.upstream)),
      tidemarks: await readTidemarks(db, source),
    };
    return c.json(plain<z.infer<typeof source_shape>>(full), 200);
  });

  app.openapi(list_route, async (c) => {
    const { after, limit = 100, key, ...filter } = c.req.valid("query");
    const page =
      key === undefined
        ? await listResources(db, clock, filter, BigInt(after ?? 0), limit)
        : { resources: await findTyped(parts, filter.source, filter.kind, key), next: null };
    const resources = await shown(parts, page.resources);
    return c.json(plain<z.infer<typeof list_shape>>({ ...page, resources }), 200);
  });

  app.openapi(resource_route, async (c) => {
    const named = c.req.valid("param");
    const source = lanes.sources.get(named.source);
    const found = await readResource(db, named, source?.kinds[named.kind] ?? null);
    if (!found)
      throw new TidemarkError(
        "NotFollowed",
        `There is no ${named.source} ${named.kind} ${named.key}. \`tidemark status ${named.source}\` lists what is there.`,
      );
    const description = nameOf(parts, found);
    return c.json(plain<z.infer<typeof resource_shape>>({ ...found, description }), 200);
  });

  app.openapi(budgets_route, async (c) => {
    const { now } = await overview.get();
    const all = { now, budgets: await readBudgets(db), breakers: await readBreakers(db) };
    return c.json(plain<z.infer<typeof budgets_shape>>(all), 200);
  });
}

/** Rows of a list with what each is called and its place in line. */
async function shown(parts: ServerParts, listed: Listed[]) {
  const due = listed.filter((one) => one.status === "due").map((one) => one.resource_id);
  const places = await readPlaces(parts.db, due);
  return listed.map(({ options, ...one }) => ({
    ...one,
    description: nameOf(parts, { ...one, options }),
    place: places.get(one.resource_id) ?? null,
  }));
}

function unknownSource(all: Overview, source: string): string {
  const names = all.sources.map((one) => one.source);
  const near = nearest(source, names, 3);
  const meant = near ? ` Did you mean "${near}"?` : "";
  return `There is no source "${source}"; there are: ${names.join(", ") || "none"}.${meant}`;
}

/** Resources by what a person typed: the very key, or what the source makes of it. */
export async function findTyped(
  { db, lanes }: ServerParts,
  source: string | undefined,
  kind: string | undefined,
  text: string,
): Promise<Listed[]> {
  if (source === undefined) throw new TidemarkError("InputInvalid", "A key is looked up in a source; say which.");
  const definition = sourceOf(lanes, source);
  const kinds = kind === undefined ? Object.keys(definition.kinds) : [kind];
  const found = await findByKey(db, source, kinds, text);
  if (found.length > 0) return found;
  const followed = definition.follow(text.trim());
  if (typeof followed === "string" || (kind !== undefined && followed.kind !== kind)) return [];
  return findByKey(db, source, [followed.kind], followed.key);
}
