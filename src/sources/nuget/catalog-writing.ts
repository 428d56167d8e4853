/** What one page of a catalog becomes: messages to packages, what is remembered of it, and how far the catalog is read with it. */
import sql from "sql-template-tag";
import { fresh, later, type Post, type Pull, type Tx } from "tidemark";
import { type Cursor, positionOf, type Steps } from "./catalog-cursor.ts";
import type { CatalogPage, Item } from "./catalog-documents.ts";
import { packageKey } from "./event-message.ts";
import { closedBefore, type KnownPage, type Reading } from "./page-reading.ts";
import { commits, pages } from "./tables.ts";

/** A page of 2,765 items goes in several commits. */
export const ITEMS_MOST = 2_000;
const PRUNED_MOST = 5_000;
/** So often a page may be older than its index says; then the page is right and the index wrong. */
export const STALE_MOST = 3;
const STALE_WAIT_MS = 15_000;

/** An edge of a CDN gave an old page: nothing of it is new, and nothing behind it may be read before it. */
export async function* waitForPage(pull: Pull<Cursor>, url: string, known: KnownPage | null, stale: number): Steps {
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
export async function* writePage(pull: Pull<Cursor>, reading: Reading, page: CatalogPage, writing: PageWriting): Steps {
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
