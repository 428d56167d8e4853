/** What the mirror answers: the index by the protocol of index.golang.org, and what there is to know about it. */
import type { Hono } from "hono";
import { type Context, type Queryable, toJson } from "tidemark";
import { describeRoutes } from "./described.ts";
import { readDisputes, readFreshAt, readIndex, readMoved, readNewest, readTotals } from "./feed-rows.ts";
import { readIndexRequest } from "./index-request.ts";
import { listModules, listRepositories, listVersions } from "./page-rows.ts";
import { cut, type Given, readAfter, readMost, readNarrowed } from "./paging.ts";

const FRESH_AT = "tidemark-fresh-at";
const NEWEST = 10;

/** "path@rest", where neither has an "@" in it. */
const PAIR = /^([^@]+)@([^@]+)$/;
const NUMBERED = /^([^@]+)@([0-9]{1,18})$/;
const PATH = /^([^@]+)$/;
const MOMENT = /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z)$/;

/** `app` answers at /go; everything is read through `read`. */
export function routes(app: Hono, { read }: Pick<Context, "read">): void {
  describeRoutes(app);
  app.get("/go/index", async (c) => {
    const { lines, fresh_at } = await readIndex(
      read,
      readIndexRequest((name) => c.req.query(name)),
    );
    return c.body(lines ?? "", 200, { "content-type": "application/x-ndjson", ...freshAt(fresh_at) });
  });

  app.get("/go/status", async () => {
    const fresh_at = await readFreshAt(read);
    return json({ ...(await readTotals(read)), newest: await readNewest(read, NEWEST), fresh_at });
  });

  const rowsOf = {
    repositories: (given: Given, most: number) => {
      const [name = "", resource_id = "0"] = readAfter(given, NUMBERED);
      return listRepositories(read, { name, resource_id }, readNarrowed(given), most);
    },
    modules: (given: Given, most: number) => {
      const [after = ""] = readAfter(given, PATH);
      return listModules(read, after, readNarrowed(given), most);
    },
    versions: (given: Given, most: number) => {
      const [before = "infinity"] = readAfter(given, MOMENT);
      const { prefix } = readNarrowed(given);
      const asked = { path: given("path") || null, repository: given("repository") || null, prefix };
      return listVersions(read, before, asked, most);
    },
    moved: (given: Given, most: number) => {
      const [path = "", rest = ""] = readAfter(given, PAIR);
      return readMoved(read, { path, rest }, most);
    },
    conflicts: (given: Given, most: number) => {
      const [path = "", rest = ""] = readAfter(given, NUMBERED);
      return readDisputes(read, { path, rest }, most);
    },
  };
  page(app, read, "/go/repositories", rowsOf.repositories, (row) => `${row.repository}@${row.resource_id}`);
  page(app, read, "/go/modules", rowsOf.modules, (row) => row.path);
  page(app, read, "/go/versions", rowsOf.versions, (row) => row.published_at);
  page(app, read, "/go/moved", rowsOf.moved, (row) => `${row.path}@${row.version}`);
  page(app, read, "/go/conflicts", rowsOf.conflicts, (row) => `${row.path}@${row.resource_id}`);
}

/** A list, `limit` results at a time; `after` is what the page before gave as `next`. */
function page<R>(
  app: Hono,
  read: Queryable,
  at: string,
  rowsOf: (given: Given, most: number) => Promise<R[]>,
  nextOf: (last: R) => string,
): void {
  app.get(at, async (c) => {
    const given: Given = (name) => c.req.query(name);
    const most = readMost(given);
    const fresh_at = await readFreshAt(read);
    return json({ ...cut(await rowsOf(given, most + 1), most, nextOf), fresh_at });
  });
}

function json(body: Record<string, unknown> & { fresh_at: string | null }): Response {
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...freshAt(body.fresh_at) } });
}

function freshAt(fresh_at: string | null): Record<string, string> {
  return fresh_at === null ? {} : { [FRESH_AT]: fresh_at };
}
