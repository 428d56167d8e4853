/** The catalog of a feed: read page by page, in whatever order it comes, and posted to the packages that it speaks of. */
import sql from "sql-template-tag";
import {
  type Answer,
  type Batch,
  every,
  fresh,
  gone,
  type Kind,
  kind,
  later,
  type Outcome,
  type Post,
  type Pull,
  type Tx,
} from "tidemark";
import { z } from "zod";
import { CatalogIndex, CatalogPage, type Item, partOf, ServiceIndex } from "./catalog-documents.ts";
import { packageKey } from "./event-message.ts";
import { closedBefore, type KnownPage, type Reading, readPage } from "./page-reading.ts";
import type { NuGetParts } from "./parts.ts";
import { type Options, options, withTime } from "./settings.ts";
import { ticksOf } from "./stamp.ts";
import { commits, feeds, owned_by_feed, pages } from "./tables.ts";

const DAY_MS = 24 * 3600_000;
/** Pages that are read at once. */
const AT_ONCE = 4;
/** A page of 2,765 items goes in several commits. */
const ITEMS_MOST = 2_000;
const PRUNED_MOST = 5_000;
/** So often a page may be older than its index says; then the page is right and the index wrong. */
const STALE_MOST = 3;
const STALE_WAIT_MS = 15_000;
const INDEX_BYTES_MAX = 64 * 1024 * 1024;

const Cursor = z
  .object({
    /** The internal cursor: everything up to here was posted. As the catalog wrote it. */
    stamp: z.string(),
    /** A commit that may still grow, and its page. */
    open: z.object({ url: z.string(), stamp: z.string() }).nullable(),
    /** How many parts of pages were read. */
    reads: z.number(),
    catalog_url: z.string(),
    checked_ms: z.number(),
    replayed: z.string(),
    /** What is not newer than this is read again, and not for the first time. */
    replay_until: z.string(),
  })
  .default({ stamp: "", open: null, reads: 0, catalog_url: "", checked_ms: 0, replayed: "", replay_until: "" });
type Cursor = z.infer<typeof Cursor>;

/** An index that did not change has pages to read again all the same. */
const replaying = ({ replay_until }: Cursor): boolean => replay_until !== "";
const positionOf = (stamp: string): bigint => (stamp === "" ? 0n : ticksOf(stamp)!);

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

type Steps = AsyncGenerator<Batch<Cursor>, Outcome | undefined>;

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

/** An edge of a CDN gave an old page: nothing of it is new, and nothing behind it may be read before it. */
async function* waitForPage(pull: Pull<Cursor>, url: string, known: KnownPage | null, stale: number): Steps {
  const feed_id = pull.resource.resource_id;
  const row = known ?? { index_stamp: "", index_count: -1, stamp: "0001-01-01T00:00:00Z", items: 0, seen: null };
  yield {
    put: [pages.rows([{ ...row, feed_id, url, stale }])],
    cursor: { ...pull.cursor, reads: pull.cursor.reads + 1 },
    final: later(STALE_WAIT_MS * stale, `The page ${url} is older than the index of its catalog says.`),
  };
  return undefined;
}

interface PageWriting {
  url: string;
  /** What the index says of it. */
  entry: { commitTimeStamp: string; count: number } | null;
  known: KnownPage | null;
  stale: number;
  /** The last page to read for now. */
  last: boolean;
  /** Its newest commit does not grow any more. */
  closed: boolean;
}

/** Posts the new items of a page, a commit for each part of it. */
async function* writePage(pull: Pull<Cursor>, reading: Reading, page: CatalogPage, writing: PageWriting): Steps {
  const { url, entry, known, stale, last, closed } = writing;
  const feed_id = pull.resource.resource_id;
  const { items, anomalies } = reading;
  if (stale >= STALE_MOST) anomalies.set("a page older than its index", url);
  if (known && known.seen === null && known.index_stamp !== "" && items.length > 0)
    anomalies.set("a full page that changed", url);
  const replayed = positionOf(pull.cursor.replay_until);
  for (let at = 0; at + ITEMS_MOST < items.length; at += ITEMS_MOST) {
    const part = items.slice(at, at + ITEMS_MOST);
    yield {
      post: part.map((item) => postOf(pull, item, replayed)),
      put: [commits.rows(commitRows(feed_id, reading, part))],
      cursor: { ...pull.cursor, reads: pull.cursor.reads + 1 },
    };
  }
  const rest = items.slice(Math.floor(Math.max(0, items.length - 1) / ITEMS_MOST) * ITEMS_MOST);
  const through = throughOf(reading, page, pull.cursor, last && closed);
  const open = last && !closed ? { url, stamp: stampOf(reading, page) } : null;
  const row = {
    feed_id,
    url,
    index_stamp: entry?.commitTimeStamp ?? known?.index_stamp ?? "",
    index_count: entry?.count ?? known?.index_count ?? -1,
    stamp: page.commitTimeStamp,
    items: page.items.length,
    seen: last ? reading.seen : null,
    stale: stale >= STALE_MOST ? 0 : stale,
  };
  yield {
    put: [pages.rows([row]), commits.rows(commitRows(feed_id, reading, rest))],
    post: rest.map((item) => postOf(pull, item, replayed)),
    cursor: {
      ...pull.cursor,
      stamp: through,
      open,
      reads: pull.cursor.reads + 1,
      replay_until: last ? "" : pull.cursor.replay_until,
    },
    write: (tx) => settle(tx, feed_id, anomalies),
    ...(last ? { final: fresh() } : {}),
  };
  return undefined;
}

/** How far the catalog is read with this page: over its newest commit only if that is complete. */
function throughOf(reading: Reading, page: CatalogPage, cursor: Cursor, complete: boolean): string {
  const through = complete ? { ticks: reading.newest, stamp: stampOf(reading, page) } : closedBefore(reading);
  return through && through.ticks > positionOf(cursor.stamp) ? through.stamp : cursor.stamp;
}

/** The newest commit of a page as it is written there. */
function stampOf({ newest, commits: of_items }: Reading, page: CatalogPage): string {
  return of_items.findLast(({ ticks }) => ticks === newest)?.stamp ?? page.commitTimeStamp;
}

function postOf(
  { resource: { resource_id, key: feed_url }, cursor }: Pull<Cursor>,
  item: Item,
  replayed: bigint,
): Post {
  const again = item.ticks <= replayed;
  const { leaf, stamp, id, version, deletes, from } = item;
  // What comes late must not take the place of something newer that waits; it is kept apart from it.
  const late = item.ticks <= positionOf(cursor.stamp);
  return {
    kind: "package",
    key: packageKey(new URL(feed_url).host, resource_id, item.lower_id),
    message: {
      leaf,
      stamp,
      id,
      version,
      ...(deletes ? { deletes } : {}),
      ...(again ? { again } : {}),
      ...(late ? { late } : {}),
    },
    ...(again ? {} : { position: from }),
  };
}

function commitRows(feed_id: bigint, { commits: all }: Reading, items: Item[]) {
  const ticks = new Set(items.flatMap((item) => [item.ticks, item.from]));
  return all.filter((commit) => ticks.has(commit.ticks)).map((commit) => ({ feed_id, ...commit }));
}

async function knownPages(pull: Pull<Cursor>): Promise<Map<string, KnownPage>> {
  const { rows } = await pull.read.query<KnownPage>(sql`
    select url, index_stamp, index_count, stamp, items, seen, stale::int as stale
      from nuget.page where feed_id = ${pull.resource.resource_id}::bigint`);
  return new Map(rows.map((row) => [row.url, row]));
}

/** Counts what was odd, and forgets the commits that the public cursor has left behind. */
async function settle(tx: Tx, feed_id: bigint, anomalies: Map<string, string>): Promise<void> {
  if (anomalies.size > 0)
    await tx.query(sql`
      insert into nuget.anomaly as a (feed_id, what, times, last_at, example)
      select ${feed_id}::bigint, what, 1, tidemark.now(), example
        from unnest(${[...anomalies.keys()]}::text[], ${[...anomalies.values()]}::text[]) as u(what, example)
      on conflict (feed_id, what) do update set times = a.times + 1, last_at = excluded.last_at, example = excluded.example`);
  await tx.query(sql`
    delete from nuget.commit where ctid = any(array(
      select c.ctid from nuget.commit c
       where c.feed_id = ${feed_id}::bigint and c.ticks < (
         select max(d.ticks) from nuget.commit d join tidemark.tidemark t on t.resource_id = d.feed_id
          where d.feed_id = ${feed_id}::bigint and d.ticks <= t.position)
       limit ${PRUNED_MOST}))`);
}
