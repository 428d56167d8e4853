/** What a host is told from outside: addresses that others found, and what people want to be crawled. */
import sql from "sql-template-tag";
import { type Batch, more, type Pull } from "tidemark";
import { z } from "zod";
import type { Cursor } from "./calling.ts";
import { discover } from "./guestbook.ts";
import { makeHost, readHost } from "./host-row.ts";
import { sortLinks } from "./links.ts";
import type { WebParts } from "./parts.ts";
import { mannersOf, type Options } from "./settings.ts";

export const HostMessage = z.discriminatedUnion("type", [
  /** Somebody else's page leads here. */
  z.object({ type: z.literal("found"), url: z.string() }),
  /** A whole host or one page of it; only what is due, or everything now. */
  z.object({ type: z.literal("crawl"), path: z.string().nullable(), when: z.enum(["due", "now"]) }),
]);
export type HostMessage = z.infer<typeof HostMessage>;

/** Two of the same are one. */
export const coalesceOf = (message: HostMessage): string =>
  message.type === "found" ? message.url : `${message.when} ${message.path ?? ""}`;

/** What is due is visited by the pull that follows; a page that nobody knows is taken in. */
export async function receive(messages: HostMessage[], pull: Pull<Cursor>, parts: WebParts): Promise<Batch<Cursor>> {
  const { resource_id, key, options } = pull.resource;
  const settings = parts.settings();
  const { pages } = mannersOf(settings, options as Options);
  const known = await readHost(pull.read, resource_id);
  const scheme = known?.scheme ?? "https";
  const urls = messages.flatMap((m) =>
    m.type === "found" ? [m.url] : m.path === null ? [] : [`${scheme}://${key}${m.path}`],
  );
  const { here } = sortLinks(
    urls.map((url) => ({ url, depth: 0 })),
    key,
    settings,
  );
  const now = messages.filter((m) => m.type === "crawl" && m.when === "now") as Extract<
    HostMessage,
    { type: "crawl" }
  >[];
  return {
    // What was told is visited at once.
    final: more(),
    write: async (tx) => {
      if (!known) await makeHost(tx, pull.resource);
      await discover(tx, resource_id, here, { pages, first_interval_ms: settings.revisit });
      if (now.length === 0) return;
      const whole = now.some(({ path }) => path === null);
      await tx.query(sql`
        update web.guestbook set next_fetch = tidemark.now()
         where resource_id = ${resource_id}::bigint and next_fetch < 'infinity' and next_fetch > tidemark.now()
           and (${whole} or path = any(${now.map(({ path }) => path ?? "")}::text[]))`);
    },
  };
}
