/** What the mirror answers: searches, which hosts and pages are known, the numbers of domain64; and what people want to be crawled. */
import type { Hono } from "hono";
import { type Context, TidemarkError, toJson } from "tidemark";
import { z } from "zod";
import { describeRoutes } from "./described.ts";
import { listHosts, listPages } from "./listings.ts";
import { readTyped } from "./names.ts";
import { readNumbers } from "./numbers.ts";
import type { WebParts } from "./parts.ts";
import { searchPages } from "./search.ts";
import { readSearch } from "./search-request.ts";
import { addressOf } from "./url.ts";

const json = (body: object, fresh_at: string | null, status = 200): Response =>
  new Response(toJson(body), {
    status,
    headers: { "content-type": "application/json", ...(fresh_at === null ? {} : { "tidemark-fresh-at": fresh_at }) },
  });

const Crawl = z.strictObject({
  host: z.string().max(300),
  path: z.string().max(2_000).optional(),
  when: z.enum(["due", "now"]).default("due"),
});

export function routes(app: Hono, context: Context, _parts: WebParts): void {
  const { read } = context;
  describeRoutes(app);
  app.get("/web/search", async (c) => {
    const found = await searchPages(
      read,
      readSearch((name) => c.req.query(name)),
    );
    return json(found, found.fresh_at);
  });
  app.get("/web/hosts", async (c) => {
    const hosts = await listHosts(read, c.req.query("after") ?? null, readLimit(c.req.query("limit")));
    return json(hosts, hosts.fresh_at);
  });
  app.get("/web/pages", async (c) => {
    const host = c.req.query("host");
    if (!host) throw new TidemarkError("InputInvalid", "Say of which host: /web/pages?host=www.gsa.gov");
    const limit = readLimit(c.req.query("limit"));
    const pages = await listPages(read, host.toLowerCase(), c.req.query("after") ?? null, limit);
    return json(pages, pages.fresh_at);
  });
  app.get("/web/domain64", async () => json(await readNumbers(read), null));
  app.post("/web/crawl", async (c) => {
    const parsed = Crawl.safeParse(await c.req.json().catch(() => null));
    if (!parsed.success)
      throw new TidemarkError(
        "InputInvalid",
        'Send {"host": "www.gsa.gov"}, with "path" for one page, and "when": "due" or "now".',
      );
    const { host, path, when } = parsed.data;
    const typed = readTyped(host);
    if (typeof typed === "string") throw new TidemarkError("InputInvalid", typed);
    const address = path === undefined ? null : addressOf(path, `https://${typed.key}/`);
    if (path !== undefined && address?.host !== typed.key)
      throw new TidemarkError("InputInvalid", `"${path.slice(0, 100)}" is not a page of ${typed.key}.`);
    const message = { type: "crawl", path: address?.path ?? null, when };
    if (!(await context.post("web", { kind: "host", key: typed.key, message })))
      throw new TidemarkError(
        "NotFollowed",
        `${typed.key} is not followed. \`tidemark follow web ${typed.key}\` follows it.`,
      );
    return json({ host: typed.key, path: message.path, when }, null, 202);
  });
}

function readLimit(text: string | undefined): number {
  const limit = text === undefined ? 50 : /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 500)
    throw new TidemarkError("InputInvalid", "`limit` must be a whole number from 1 to 500.");
  return limit;
}
