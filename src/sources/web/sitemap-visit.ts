/** Reads a host's sitemaps: addresses that nobody links to, and which pages are said to have changed. */
import type { Answer, Pull } from "tidemark";
import { type Cursor, callOf, type Steps } from "./calling.ts";
import { discover, hint } from "./guestbook.ts";
import type { HostRow } from "./host-row.ts";
import { type Link, postsTo, sortLinks } from "./links.ts";
import type { WebParts } from "./parts.ts";
import { retryWait } from "./revisit.ts";
import type { Robots } from "./robots.ts";
import { mannersOf, type Options } from "./settings.ts";
import { readSitemap, SITEMAP_BYTES_MAX } from "./sitemap.ts";
import { rememberSitemaps, type SitemapRead, type SitemapRow, writeSitemap } from "./sitemap-rows.ts";
import { addressOf } from "./url.ts";
import { isDown, isPages } from "./visit.ts";

/** Lists of lists are followed so deep; one that names itself ends here. */
const DEPTH_MOST = 3;
const URLS_A_COMMIT = 2_000;
/** Where there was none, one is looked for so rarely. */
const ABSENT_MS = 7 * 24 * 3600_000;

export async function* readSitemapOf(
  pull: Pull<Cursor>,
  host: HostRow,
  robots: Robots,
  row: SitemapRow,
  parts: WebParts,
): Steps {
  const settings = parts.settings();
  const headers = {
    ...(row.etag ? { "if-none-match": row.etag } : {}),
    ...(row.modified && !row.etag ? { "if-modified-since": row.modified } : {}),
  };
  const same = sameAs(row, parts);
  const at = addressOf(row.url);
  if (at?.host === host.host && !robots.allows(at.path)) {
    yield { cursor: moved(pull), write: (tx) => writeSitemap(tx, { ...same, status: 0, wait_ms: ABSENT_MS }) };
    return undefined;
  }
  let answer: Answer;
  try {
    answer = await callOf(pull, host, parts, row.url, {
      headers,
      redirects: "same host",
      bytes_max: SITEMAP_BYTES_MAX,
    });
  } catch (thrown) {
    if (!isDown(thrown) && !isPages(thrown)) throw thrown;
    const failures = row.failures + 1;
    const wait_ms = isPages(thrown) ? ABSENT_MS : retryWait(failures, settings.sitemaps_every);
    yield { write: (tx) => writeSitemap(tx, { ...same, status: 0, failures, wait_ms }) };
    if (isDown(thrown)) throw thrown;
    return undefined;
  }
  return yield* takeIn(pull, host, row, answer, parts);
}

/** As it was, and read again when its time comes. */
const sameAs = ({ sitemap_id, etag, modified }: SitemapRow, parts: WebParts): Omit<SitemapRead, "status"> => ({
  sitemap_id,
  etag,
  modified,
  failures: 0,
  urls: null,
  wait_ms: parts.settings().sitemaps_every,
});

const moved = (pull: Pull<Cursor>): Cursor => ({ ...pull.cursor, calls: pull.cursor.calls + 1 });

async function* takeIn(pull: Pull<Cursor>, host: HostRow, row: SitemapRow, answer: Answer, parts: WebParts): Steps {
  const { resource_id } = pull.resource;
  const settings = parts.settings();
  const same = sameAs(row, parts);
  const { status } = answer;
  if (status === 304) {
    yield { cursor: moved(pull), write: (tx) => writeSitemap(tx, { ...same, status }) };
    return undefined;
  }
  const sitemap = status === 200 ? readSitemap(answer.bytes, pull.now_ms()) : null;
  if (!sitemap) {
    yield {
      cursor: moved(pull),
      write: (tx) => writeSitemap(tx, { ...same, status, etag: null, modified: null, wait_ms: ABSENT_MS }),
    };
    return undefined;
  }
  const done = {
    ...same,
    status,
    urls: sitemap.entries.length,
    etag: answer.headers.etag ?? null,
    modified: answer.headers["last-modified"] ?? null,
  };
  const urls = sitemap.entries.flatMap(({ url }) => (URL.canParse(url, row.url) ? [new URL(url, row.url).href] : []));
  if (sitemap.index) {
    const depth = row.depth + 1;
    yield {
      cursor: moved(pull),
      write: async (tx) => {
        if (depth <= DEPTH_MOST) await rememberSitemaps(tx, resource_id, urls, depth);
        await writeSitemap(tx, done);
      },
    };
    return undefined;
  }
  const { pages } = mannersOf(settings, pull.resource.options as Options);
  const caps = { pages, first_interval_ms: settings.revisit };
  const links = sitemap.entries.map(({ url, lastmod_ms }): Link => ({ url, depth: 0, lastmod_ms }));
  for (let n = 0; n === 0 || n < links.length; n += URLS_A_COMMIT) {
    // A sitemap that robots.txt names may speak of other hosts; they are told only where they are followed.
    const { here, elsewhere } = sortLinks(links.slice(n, n + URLS_A_COMMIT), host.host, settings);
    const last = n + URLS_A_COMMIT >= links.length;
    yield {
      cursor: moved(pull),
      post: await postsTo(pull.read, elsewhere),
      write: async (tx) => {
        await discover(tx, resource_id, here, caps);
        await hint(tx, resource_id, here);
        if (last) await writeSitemap(tx, done);
      },
    };
  }
  return undefined;
}
