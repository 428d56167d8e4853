/** What one answer means for its page, purely: what is kept of it, what is taken away, where it leads, and when it is visited next. */
import { type Answer, parseHttpDate, TidemarkError } from "tidemark";
import { EXTRACTOR, type Extracted, hashOf, storable } from "./content.ts";
import { typeOf } from "./document.ts";
import { heed } from "./html.ts";
import type { DuePage, Visit } from "./page-row.ts";
import { type Bounds, nextInterval, retryWait } from "./revisit.ts";
import { addressOf, urlOf } from "./url.ts";

/** So often in a row a page must be missing before it is believed. */
const MISSING_LEAST = 3;
const MISSING_WAIT_MS = 6 * 3600_000;

/** A visit that changes nothing but that there was one. */
const same = (page: DuePage, status: number): Visit => ({
  page,
  status,
  failures: 0,
  interval_ms: page.interval_s * 1000,
  wait_ms: page.interval_s * 1000,
  extractor: page.extractor,
  unchanged: page.unchanged,
  noindex: page.noindex,
  etag: page.etag,
  modified: page.modified,
  last_modified_ms: null,
  content_type: null,
  content_length: 0,
  canonical: page.canonical,
  reason: null,
  hash: page.content_hash,
  confirmed: false,
  blocks: null,
  links: [],
});

/** Nothing of it can be found any more; it is looked at as rarely as may be. */
const without = (visit: Visit, reason: string, { max_ms }: Bounds): Visit => ({
  ...visit,
  interval_ms: max_ms,
  wait_ms: max_ms,
  etag: null,
  modified: null,
  canonical: null,
  noindex: false,
  unchanged: 0,
  hash: null,
  blocks: [],
  reason,
});

export interface Seen {
  /** Of the page itself. */
  url: string;
  answer: Answer;
  /** What is in a body with a good status; null where that is no text. */
  extracted: Extracted | null;
  /** Validators were sent. */
  conditional: boolean;
  now_ms: number;
  bounds: Bounds;
}

export function visitOf(page: DuePage, seen: Seen): Visit {
  const { answer } = seen;
  const { status } = answer;
  if (status === 304) return notModified(page, seen);
  if (status >= 200 && status < 300) return read(page, seen);
  if (status >= 300 && status < 400) return led(page, seen);
  return missing(page, seen);
}

function notModified(page: DuePage, { bounds, conditional }: Seen): Visit {
  // Nobody asked whether it changed, or what it did not change from is not there: it is fetched whole.
  if (!conditional || !page.has_content) {
    const failures = page.failures + 1;
    const interval_ms = page.interval_s * 1000;
    return { ...same(page, 304), etag: null, modified: null, failures, wait_ms: retryWait(failures, interval_ms) };
  }
  const interval_ms = nextInterval(page.interval_s * 1000, false, bounds);
  const reason = page.reason;
  return {
    ...same(page, 304),
    interval_ms,
    wait_ms: interval_ms,
    unchanged: page.unchanged + 1,
    confirmed: true,
    reason,
  };
}

function read(page: DuePage, { answer, extracted, url, now_ms, bounds }: Seen): Visit {
  const { headers, status, bytes } = answer;
  const content_type = typeOf(headers["content-type"]);
  if (extracted === null)
    return {
      ...without(same(page, status), `not a text (${content_type})`, bounds),
      content_type,
      content_length: bytes.length,
    };
  heedHeader(extracted, headers["x-robots-tag"]);
  const blocks = storable(extracted.blocks, page.path);
  const hash = hashOf(blocks);
  const changed = page.content_hash === null || Buffer.compare(page.content_hash, hash) !== 0;
  const base = extracted.base && URL.canParse(extracted.base, url) ? new URL(extracted.base, url).href : url;
  // The first visit shows nothing of how often it changes.
  const interval_ms =
    page.content_hash === null ? page.interval_s * 1000 : nextInterval(page.interval_s * 1000, changed, bounds);
  const canonical = canonicalOf(extracted.canonical ?? linkedCanonical(headers.link), base, url);
  const links = extracted.nofollow ? [] : wholeLinks(extracted.links, base);
  return {
    ...same(page, status),
    interval_ms,
    wait_ms: interval_ms,
    extractor: EXTRACTOR,
    unchanged: changed ? 0 : page.unchanged + 1,
    noindex: extracted.noindex,
    etag: headers.etag?.slice(0, 500) ?? null,
    modified: headers["last-modified"]?.slice(0, 100) ?? null,
    last_modified_ms: parseHttpDate(headers["last-modified"] ?? "", now_ms),
    content_type,
    content_length: bytes.length,
    canonical: canonical === page.path ? null : canonical,
    reason: extracted.noindex ? "its author does not want it to be found (noindex)" : null,
    hash,
    confirmed: true,
    blocks: changed || !page.has_content ? blocks : null,
    links: canonical === null ? links : [...links, new URL(canonical, url).href],
  };
}

/** For all robots, or for us by name; what is said to others by name is not for us. */
function heedHeader(extracted: Extracted, said: string | undefined): void {
  let ours = true;
  for (const part of (said ?? "").split(",")) {
    const [, name, rest] = /^\s*([a-z_-]+)\s*:\s*(.*)$/i.exec(part) ?? [];
    if (name !== undefined && !/^(unavailable_after|max-)/i.test(name)) ours = name.toLowerCase() === "tidemark";
    if (ours) heed(extracted, rest ?? part);
  }
}

const linkedCanonical = (link: string | undefined): string | null =>
  /<([^>]+)>\s*;[^,]*\brel\s*=\s*"?canonical"?/i.exec(link ?? "")?.[1] ?? null;

/** Another page of the same host that stands for this one; other hosts do not decide what is found here. */
function canonicalOf(text: string | null, base: string, url: string): string | null {
  const address = text === null ? null : addressOf(text, base);
  return address && address.host === new URL(url).host ? address.path : null;
}

const wholeLinks = (links: string[], base: string): string[] => [
  ...new Set(links.flatMap((link) => (URL.canParse(link.trim(), base) ? [new URL(link.trim(), base).href] : []))),
];

function led(page: DuePage, { answer, url, bounds }: Seen): Visit {
  const { status, headers } = answer;
  const target = headers.location === undefined ? null : addressOf(headers.location, url);
  if (target === null) return failed(page, status, `HTTP ${status} without an address to go to`);
  const to = urlOf(target);
  const visit = { ...same(page, status), links: to === url ? [] : [to] };
  if (status === 301 || status === 308) return without(visit, `moved to ${to}`, bounds);
  return { ...visit, reason: `leads to ${to} for now` };
}

function missing(page: DuePage, { answer, bounds }: Seen): Visit {
  const { status } = answer;
  const failures = page.failures + 1;
  const reason =
    status === 410 ? "gone for good (410)" : status === 404 ? "not found (404)" : `refused (HTTP ${status})`;
  const visit = { ...same(page, status), failures };
  if (status === 410 || failures >= MISSING_LEAST) return without(visit, reason, bounds);
  return { ...visit, reason, wait_ms: Math.min(page.interval_s * 1000, MISSING_WAIT_MS) };
}

/** No answer, or none that can be used: what is stored stays, and so does what is known of how often it changes. */
export function failed(page: DuePage, status: number, reason: string): Visit {
  const failures = page.failures + 1;
  return { ...same(page, status), failures, reason, wait_ms: retryWait(failures, page.interval_s * 1000) };
}

/** The body is of no use however often it is fetched. */
export function unusable(page: DuePage, reason: string, bounds: Bounds): Visit {
  return without(same(page, page.status), reason, bounds);
}

/** Whether the trouble is the page's own: the next one may be well. */
export const isPages = (thrown: unknown): thrown is TidemarkError =>
  thrown instanceof TidemarkError && thrown.code === "UpstreamChanged";

export const isDown = (thrown: unknown): thrown is TidemarkError =>
  thrown instanceof TidemarkError && thrown.code === "UpstreamDown";
