/** What the mirror answers: the index by the protocol of index.golang.org, and what there is to know about it. */
import type { Hono, Context as HonoContext } from "hono";
import { type Context, type Queryable, TidemarkError, toJson } from "tidemark";
import { type After, readDisputes, readFreshAt, readIndex, readMoved, readNewest, readTotals } from "./feed-rows.ts";
import { asGoWrites } from "./index-lines.ts";
import { readIndexRequest } from "./index-request.ts";

const FRESH_AT = "tidemark-fresh-at";
/** How many results a page of our own JSON has, unless fewer are asked for. */
const RESULTS_MOST = 100;
const NEWEST = 10;

/** `app` answers at /go; everything is read through `read`. */
export function routes(app: Hono, { read }: Pick<Context, "read">): void {
  app.get("/go/index", async (c) => {
    const { lines, fresh_at } = await readIndex(
      read,
      readIndexRequest((name) => c.req.query(name)),
    );
    return c.body(asGoWrites(lines ?? ""), 200, { "content-type": "application/x-ndjson", ...freshAt(fresh_at) });
  });

  app.get("/go/status", async () => {
    const fresh_at = await readFreshAt(read);
    return json({ ...(await readTotals(read)), newest: await readNewest(read, NEWEST), fresh_at });
  });

  page(app, "/go/moved", read, readMoved, (row) => row.version);
  page(app, "/go/conflicts", read, readDisputes, (row) => String(row.resource_id));
}

/** A list in the order of (path, …), `limit` results at a time; `after` is what the page before gave as `next`. */
function page<R extends { path: string }>(
  app: Hono,
  at: string,
  read: Queryable,
  rowsOf: (read: Queryable, after: After, most: number) => Promise<R[]>,
  restOf: (row: R) => string,
): void {
  app.get(at, async (c) => {
    const { after, most } = readPaging(c);
    const fresh_at = await readFreshAt(read);
    const rows = await rowsOf(read, after, most + 1);
    const results = rows.slice(0, most);
    const last = results.at(-1);
    const next = rows.length > most && last ? `${last.path}@${restOf(last)}` : null;
    return json({ results, next, fresh_at });
  });
}

function readPaging(c: HonoContext): { after: After; most: number } {
  const limit = c.req.query("limit") ?? "";
  if (!/^(|0*[1-9][0-9]*)$/.test(limit))
    throw new TidemarkError("InputInvalid", `limit is a whole number from 1 to ${RESULTS_MOST}.`);
  const after = c.req.query("after") ?? "";
  const [, path = "", rest = ""] = /^([^@]+)@([^@]+)$/.exec(after) ?? [];
  const known = after === "" || (path !== "" && (c.req.path !== "/go/conflicts" || /^[0-9]{1,18}$/.test(rest)));
  if (!known) throw new TidemarkError("InputInvalid", "after is what the page before gave as next.");
  return { after: { path, rest }, most: Math.min(Number(limit || RESULTS_MOST), RESULTS_MOST) };
}

function json(body: Record<string, unknown> & { fresh_at: string | null }): Response {
  return new Response(toJson(body), { headers: { "content-type": "application/json", ...freshAt(body.fresh_at) } });
}

function freshAt(fresh_at: string | null): Record<string, string> {
  return fresh_at === null ? {} : { [FRESH_AT]: fresh_at };
}
