/** The catalog of a feed: read page by page, in whatever order it comes, and posted to the packages that it speaks of. */
import sql from "sql-template-tag";
import { type Answer, every, fresh, gone, type Kind, kind, later, type Pull } from "tidemark";
import { Cursor, positionOf, replaying, type Steps } from "./catalog-cursor.ts";
import { CatalogIndex, CatalogPage, partOf, ServiceIndex } from "./catalog-documents.ts";
import { ITEMS_MOST, STALE_MOST, waitForPage, writePage } from "./catalog-writing.ts";
import { type KnownPage, readPage } from "./page-reading.ts";
import type { NuGetParts } from "./parts.ts";
import { type Options, options, withTime } from "./settings.ts";
import { ticksOf } from "./stamp.ts";
import { feeds, owned_by_feed, pages } from "./tables.ts";

const DAY_MS = 24 * 3600_000;
/** Pages that are read at once. */
const AT_ONCE = 4;
const INDEX_BYTES_MAX = 64 * 1024 * 1024;

export function catalogKind({ settings, upstream }: NuGetParts): Kind {
  return kind<Cursor>({
    upstream: (key) => upstream(new URL(key).host),
    lane: ({ stamp }) => ({ name: stamp === "" ? "first read" : "catalog" }),
    schedule: (given) => every((given as Options).every ?? settings().every),
    cursor: Cursor,
    options,
    position: ({ stamp }) => positionOf(stamp),
    owns: owned_by_feed,
    pull,
  });
}

async function* pull(pull: Pull<Cursor>): Steps {
  const url = pull.resource.key;
  if (pull.cursor.catalog_url === "" || pull.now_ms() - pull.cursor.checked_ms > DAY_MS) {
    const ended = yield* findCatalog(pull, url);
    if (ended) return ended;
  }
  const { replay = "" } = pull.resource.options as Options;
  if (replay !== pull.cursor.replayed) yield* beginReplay(pull, replay);
  const { catalog_url } = pull.cursor;
  const answer = await pull.fetch(catalog_url, {
    if_changed: !replaying(pull.cursor),
    redirects: "any",
    bytes_max: INDEX_BYTES_MAX,
  });
  if (answer.status === 404 || answer.status === 410) {
    yield {
      cursor: { ...pull.cursor, checked_ms: 0 },
      final: later(60_000, `The catalog is not at ${catalog_url} any more; its service index is asked again.`),
    };
    return undefined;
  }
  if (answer.status === 304) return yield* whenUnchanged(pull);
  return yield* readChanged(pull, answer.json(CatalogIndex));
}

/** Asks the service index where the catalog is; it may move. */
async function* findCatalog(pull: Pull<Cursor>, url: string): Steps {
  const answer = await pull.fetch(url, { redirects: "any" });
  if (answer.status === 404 || answer.status === 410) return gone(`there is no service index at ${url}`);
  const index = answer.json(ServiceIndex);
  const catalog_url = partOf(index, url, "Catalog/3.0.0");
  if (catalog_url === null)
    return gone(`the service index at ${url} names no Catalog/3.0.0, so nothing can be followed there`);
  const content_url = partOf(index, url, "PackageBaseAddress/3.0.0");
  const checked_ms = Math.floor(pull.now_ms());
  const feed_id = pull.resource.resource_id;
  yield {
    put: [feeds.rows([{ feed_id, url, catalog_url, content_url, checked_ms }])],
    cursor: { ...pull.cursor, catalog_url, checked_ms },
  };
  return undefined;
}

/** Forgets that the pages since then were read, and says where what is not new ends. */
async function* beginReplay(pull: Pull<Cursor>, replay: string): Steps {
  const from = ticksOf(withTime(replay)) ?? 0n;
  const known = replay === "" ? [] : [...(await knownPages(pull)).values()];
  const again = known.filter((page) => ticksOf(page.stamp)! >= from);
  const feed_id = pull.resource.resource_id;
  for (let at = 0; at < again.length; at += ITEMS_MOST)
    yield {
      put: [
        pages.rows(again.slice(at, at + ITEMS_MOST).map((page) => ({ ...page, feed_id, index_stamp: "", seen: null }))),
      ],
      cursor: { ...pull.cursor, reads: pull.cursor.reads + 1, replay_until: pull.cursor.stamp },
    };
  yield { cursor: { ...pull.cursor, reads: pull.cursor.reads + 1, replayed: replay, replay_until: pull.cursor.stamp } };
  return undefined;
}

/** Nothing is new; a commit that was left open has had its time to grow. */
async function* whenUnchanged(pull: Pull<Cursor>): Steps {
  const { open } = pull.cursor;
  if (open === null) return fresh();
  const known = (await knownPages(pull)).get(open.url) ?? null;
  const page = (await fetchPage(pull, open.url)).json(CatalogPage);
  const reading = readPage(page, open.url, known, positionOf(pull.cursor.stamp));
  yield* writePage(pull, reading, page, {
    url: open.url,
    entry: null,
    known,
    stale: 0,
    last: true,
    closed: reading.items.length === 0,
  });
  return undefined;
}

async function* readChanged(pull: Pull<Cursor>, index: CatalogIndex): Steps {
  const known = await knownPages(pull);
  const { since } = pull.resource.options as Options;
  const first = since === undefined ? 0n : ticksOf(withTime(since))!;
  const changed = index.items
    .map((item) => ({
      ...item,
      url: new URL(item["@id"], pull.cursor.catalog_url).href,
      ticks: ticksOf(item.commitTimeStamp)!,
    }))
    .filter(({ ticks }) => ticks >= first)
    .filter(({ url, commitTimeStamp, count }) => {
      const page = known.get(url);
      return page?.index_stamp !== commitTimeStamp || page.index_count !== count;
    })
    .sort((a, b) => (a.ticks < b.ticks ? -1 : a.ticks > b.ticks ? 1 : a.url < b.url ? -1 : 1));
  const newest = index.items.reduce((most, item) => {
    const ticks = ticksOf(item.commitTimeStamp)!;
    return ticks > most ? ticks : most;
  }, ticksOf(index.commitTimeStamp)!);
  if (changed.length === 0) {
    if (replaying(pull.cursor)) {
      yield { cursor: { ...pull.cursor, replay_until: "" }, final: fresh() };
      return undefined;
    }
    return yield* whenUnchanged(pull);
  }
  let read: CatalogPage[] = [];
  for (const [i, entry] of changed.entries()) {
    if (read.length === 0) {
      // Together, and all before any of them is written: where one fails, nothing behind it may be posted.
      const answers = await Promise.all(changed.slice(i, i + AT_ONCE).map(({ url }) => fetchPage(pull, url)));
      read = answers.map((answer) => answer.json(CatalogPage));
    }
    const page = read.shift()!;
    const before = known.get(entry.url) ?? null;
    let stale = 0;
    if (ticksOf(page.commitTimeStamp)! < entry.ticks) {
      stale = (before?.stale ?? 0) + 1;
      if (stale < STALE_MOST) return yield* waitForPage(pull, entry.url, before, stale);
    }
    const reading = readPage(
      page,
      entry.url,
      before,
      positionOf(pull.cursor.stamp),
      positionOf(pull.cursor.replay_until),
    );
    const last = i === changed.length - 1;
    yield* writePage(pull, reading, page, {
      url: entry.url,
      entry,
      known: before,
      stale,
      last,
      closed: reading.newest <= newest,
    });
  }
  return undefined;
}

const fetchPage = (pull: Pull<Cursor>, url: string): Promise<Answer> =>
  pull.fetch(url, { redirects: "any", bytes_max: INDEX_BYTES_MAX });

async function knownPages(pull: Pull<Cursor>): Promise<Map<string, KnownPage>> {
  const { rows } = await pull.read.query<KnownPage>(sql`
    select url, index_stamp, index_count, stamp, items, seen, stale::int as stale
      from nuget.page where feed_id = ${pull.resource.resource_id}::bigint`);
  return new Map(rows.map((row) => [row.url, row]));
}
