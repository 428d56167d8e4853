/** A host: one holder at a time visits what is due of it, robots.txt first, and goes on where the last one stopped. */
import sql from "sql-template-tag";
import { every, fresh, type Kind, kind, later, type Pull } from "tidemark";
import { Cursor, type Steps } from "./calling.ts";
import { readDue } from "./guestbook.ts";
import { type HostRow, makeHost, readHost, readWaits, writeRecheck } from "./host-row.ts";
import { coalesceOf, HostMessage, receive } from "./messages.ts";
import type { DuePage } from "./page-row.ts";
import { batchOf, DISALLOWED, deny, visitPages } from "./page-visit.ts";
import { PRODUCT, type WebParts } from "./parts.ts";
import { type Robots, readRobots } from "./robots.ts";
import { askRobots } from "./robots-visit.ts";
import { mannersOf, type Options, options } from "./settings.ts";
import { readDueSitemap } from "./sitemap-rows.ts";
import { readSitemapOf } from "./sitemap-visit.ts";
import { owned_by_host } from "./tables.ts";

/** Pages that are looked for at once, where they go out one by one, and for each that may be out at once. */
const LOOKED_FOR = 20;
const LOOKED_FOR_EACH = 32;
const RECHECKED = 1_000;
/** Longer than that a host is not left alone: what waits may be brought forward. */
const WAIT_MS_MAX = 24 * 3600_000;

export function hostKind(parts: WebParts): Kind {
  return kind<Cursor, HostMessage>({
    upstream: () => parts.upstream(),
    lane: () => ({ name: "hosts" }),
    schedule: every("1d"),
    cursor: Cursor,
    options,
    message: HostMessage,
    coalesce: coalesceOf,
    receive: (messages, pull) => receive(messages, pull, parts),
    owns: owned_by_host,
    pull: (pull) => crawl(pull, parts),
  });
}

async function* crawl(pull: Pull<Cursor>, parts: WebParts): Steps {
  const { resource_id } = pull.resource;
  const { at_once } = mannersOf(parts.settings(), pull.resource.options as Options);
  let rules = null as { text: string | null; robots: Robots } | null;
  for (;;) {
    const host = await readHost(pull.read, resource_id);
    if (!host) {
      yield { write: (tx) => makeHost(tx, pull.resource) };
      continue;
    }
    if (host.robots_due) {
      yield* askRobots(pull, host, parts);
      continue;
    }
    if (rules?.text !== host.robots) rules = { text: host.robots, robots: readRobots(host.robots ?? "", PRODUCT) };
    if (host.recheck_after !== null) {
      yield* recheck(pull, host, rules!.robots, parts);
      continue;
    }
    const sitemap = await readDueSitemap(pull.read, resource_id);
    if (sitemap) {
      yield* readSitemapOf(pull, host, rules!.robots, sitemap, parts);
      continue;
    }
    const due = await readDue(pull.read, resource_id, at_once === 1 ? LOOKED_FOR : at_once * LOOKED_FOR_EACH);
    if (due.length === 0) {
      const { wait_ms, retry_ms } = await readWaits(pull.read, resource_id);
      if (retry_ms !== null) return later(awhile(retry_ms), "some of its pages did not answer, and are tried again");
      return fresh(Math.min(awhile(wait_ms), WAIT_MS_MAX));
    }
    yield* visitPages(pull, host, rules!.robots, due, parts);
  }
}

/** A moment that is not over when we look again is looked at for ever. */
const awhile = (ms: number): number => Math.max(0, Math.ceil(ms)) + 1;

/** Rules that changed hold for what is known already: pages are taken away, or come back. */
async function* recheck(pull: Pull<Cursor>, host: HostRow, robots: Robots, parts: WebParts): Steps {
  const { resource_id } = pull.resource;
  const { rows } = await pull.read.query<DuePage>(sql`
    select page_id, path, reason, interval_s, status::int as status, extractor::int as extractor, unchanged::int as unchanged, noindex, canonical, etag, modified,
           depth::int as depth, failures::int as failures, content_hash, 'https' as scheme, content_hash is not null as has_content
      from web.guestbook where resource_id = ${resource_id}::bigint and page_id > ${host.recheck_after}::bigint order by page_id limit ${RECHECKED}::int`);
  const after = rows.length < RECHECKED ? null : rows.at(-1)!.page_id;
  const denied = rows.filter((page) => page.reason !== DISALLOWED && !robots.allows(page.path));
  const back = rows.filter((page) => page.reason === DISALLOWED && robots.allows(page.path));
  const batch = denied.length > 0 ? await batchOf(pull, host, denied.map(deny), parts) : {};
  yield {
    ...batch,
    cursor: { ...pull.cursor, calls: pull.cursor.calls + 1 },
    write: async (tx) => {
      await batch.write?.(tx);
      await tx.query(sql`
        update web.guestbook set reason = null, next_fetch = tidemark.now() where page_id = any(${back.map(({ page_id }) => page_id)}::bigint[])`);
      await writeRecheck(tx, resource_id, after);
    },
  };
  return undefined;
}
