/** Visits the pages of a host that are due, one after the other or some at once, and commits what became of them. */
import sql from "sql-template-tag";
import type { Answer, Batch, Pull } from "tidemark";
import { keepBody } from "./bodies.ts";
import { type Cursor, callOf, type Steps } from "./calling.ts";
import { EXTRACTOR, tags } from "./content.ts";
import { discover, indexPages, readCopies, writeVisits } from "./guestbook.ts";
import type { HostRow } from "./host-row.ts";
import { type Link, postsTo, sortLinks } from "./links.ts";
import type { DuePage, Visit } from "./page-row.ts";
import type { WebParts } from "./parts.ts";
import type { Robots } from "./robots.ts";
import { mannersOf, type Options } from "./settings.ts";
import { contents } from "./tables.ts";
import { failed, isDown, isPages, unusable, visitOf } from "./visit.ts";

export const DISALLOWED = "robots.txt does not allow it";
/** After so many visits that found nothing new, the page is fetched whole: some servers say that nothing changed whatever they have. */
const WHOLE_EVERY = 10;
/** Text of so many characters is committed at once at most. */
const TEXT_A_COMMIT = 3_000_000;
const ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.1";

interface Round {
  visits: Visit[];
  /** What ended it before all were visited. */
  thrown: unknown;
}

export async function* visitPages(
  pull: Pull<Cursor>,
  host: HostRow,
  robots: Robots,
  due: DuePage[],
  parts: WebParts,
): Steps {
  const { at_once, own, delay_ms } = mannersOf(parts.settings(), pull.resource.options as Options);
  // Where a gap is kept, each page is written before the next is asked for; else some are gathered.
  const gathers = own && delay_ms === 0;
  const denied = due.filter((page) => !robots.allows(page.path));
  if (denied.length > 0) yield await batchOf(pull, host, denied.map(deny), parts);
  const open = due.filter((page) => robots.allows(page.path));
  const size = gathers ? at_once * 8 : 1;
  const rounds = Array.from({ length: Math.ceil(open.length / size) }, (_, n) => open.slice(n * size, (n + 1) * size));
  const visit = (pages: DuePage[] | undefined) => (pages ? visitSome(pull, host, pages, at_once, parts) : null);
  let next = visit(rounds.shift());
  while (next) {
    const { visits, thrown } = await next;
    // The next ones are on their way while these are written.
    next = thrown === null && gathers ? visit(rounds.shift()) : null;
    next?.catch(() => undefined);
    for (const some of portions(visits)) yield await batchOf(pull, host, some, parts);
    if (thrown !== null) throw thrown;
    if (!gathers) next = visit(rounds.shift());
  }
  return undefined;
}

function* portions(visits: Visit[]): Generator<Visit[]> {
  let some: Visit[] = [];
  let length = 0;
  for (const visit of visits) {
    const own = (visit.blocks ?? []).reduce((sum, { text }) => sum + text.length, 0);
    if (some.length > 0 && length + own > TEXT_A_COMMIT) {
      yield some;
      some = [];
      length = 0;
    }
    some.push(visit);
    length += own;
  }
  if (some.length > 0) yield some;
}

/** What is forbidden cannot be known any more, and is not shown. */
export const deny = (page: DuePage): Visit => ({
  ...unusable(page, DISALLOWED, { min_ms: 0, max_ms: 0 }),
  interval_ms: page.interval_s * 1000,
  wait_ms: null,
});

async function visitSome(
  pull: Pull<Cursor>,
  host: HostRow,
  pages: DuePage[],
  at_once: number,
  parts: WebParts,
): Promise<Round> {
  const round: Round = { visits: [], thrown: null };
  const waiting = [...pages];
  const runner = async () => {
    for (let page = waiting.shift(); page && round.thrown === null; page = waiting.shift()) {
      try {
        round.visits.push(await visitOne(pull, host, page, parts));
      } catch (thrown) {
        round.thrown = thrown;
        // The page waits, too, or the host would try it first when it is well again.
        if (isDown(thrown)) round.visits.push(failed(page, 0, thrown.message));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(at_once, pages.length) }, runner));
  return round;
}

async function visitOne(pull: Pull<Cursor>, host: HostRow, page: DuePage, parts: WebParts): Promise<Visit> {
  const settings = parts.settings();
  const url = `${page.scheme}://${host.host}${page.path}`;
  const bounds = { min_ms: settings.revisit_min, max_ms: settings.revisit_max };
  const intact = page.has_content && page.extractor === EXTRACTOR && (page.unchanged + 1) % WHOLE_EVERY !== 0;
  const validators = intact ? validatorsOf(page) : {};
  let answer: Answer;
  try {
    const headers = { accept: ACCEPT, ...validators };
    answer = await callOf(pull, host, parts, url, { headers, bytes_max: settings.bytes_max });
    if (answer.status >= 200 && answer.status < 300) await keepBody(pull, parts, url, answer);
    const good = answer.status >= 200 && answer.status < 300;
    const extracted = good ? await parts.extract(answer.bytes, answer.headers["content-type"]) : null;
    const conditional = Object.keys(validators).length > 0;
    return visitOf(page, { url, answer, extracted, conditional, now_ms: pull.now_ms(), bounds });
  } catch (thrown) {
    if (isPages(thrown)) return unusable(page, thrown.message, bounds);
    throw thrown;
  }
}

const validatorsOf = ({ etag, modified }: DuePage): Record<string, string> =>
  etag ? { "if-none-match": etag } : modified ? { "if-modified-since": modified } : {};

/** Everything that a few visits change, in one commit. */
export async function batchOf(
  pull: Pull<Cursor>,
  host: HostRow,
  visits: Visit[],
  parts: WebParts,
): Promise<Batch<Cursor>> {
  const { resource_id, options } = pull.resource;
  const settings = parts.settings();
  const { pages } = mannersOf(settings, options as Options);
  const copies = await knownTexts(pull, host, visits);
  // What says the same as another page leads where that leads: a trap that repeats itself goes no further.
  const links = visits.flatMap((v): Link[] =>
    copies.has(v) ? [] : v.links.map((url) => ({ url, depth: v.page.depth })),
  );
  const { here, elsewhere } = sortLinks(links, host.host, settings);
  const stored = visits.filter(({ blocks }) => blocks !== null && blocks.length > 0);
  const emptied = visits.filter(({ blocks, page }) => blocks !== null && blocks.length === 0 && page.has_content);
  const down = visits.every(({ status, failures }) => status === 0 && failures > 0);
  const first = visits.filter(({ page }) => page.status === 0).length;
  const touched = visits.filter(
    (v) => v.blocks !== null || v.noindex !== v.page.noindex || v.canonical !== v.page.canonical,
  );
  host.fetched += first;
  return {
    put: [
      contents.rows(
        stored.map(({ page, blocks }) => ({
          page_id: page.page_id,
          resource_id,
          tags: blocks!.map(({ tag }) => tags[tag]),
          texts: blocks!.map(({ text }) => text),
        })),
      ),
    ],
    drop: [contents.keys(emptied.map(({ page }) => ({ page_id: page.page_id })))],
    // A host that gave nothing got no further.
    ...(down
      ? {}
      : {
          cursor: { ...pull.cursor, calls: pull.cursor.calls + visits.length },
          post: await postsTo(pull.read, elsewhere),
        }),
    progress: { done: host.fetched, total: Math.max(host.known, host.fetched) },
    write: async (tx) => {
      await writeVisits(tx, resource_id, visits);
      await discover(tx, resource_id, here, { pages, first_interval_ms: settings.revisit });
      const heirs = await readCopies(tx, visits);
      await indexPages(tx, [...touched.map(({ page }) => page.page_id), ...heirs]);
    },
  };
}

/** Visits that found what another page of the host says already. */
async function knownTexts(pull: Pull<Cursor>, host: HostRow, visits: Visit[]): Promise<Set<Visit>> {
  const fresh = visits.filter(
    ({ page, hash, links }) => page.content_hash === null && hash !== null && links.length > 0,
  );
  const known = await readKnown(pull, host, fresh);
  return new Set(fresh.filter((visit) => known.has(Buffer.from(visit.hash!).toString("hex"))));
}

async function readKnown(pull: Pull<Cursor>, host: HostRow, visits: Visit[]): Promise<Set<string>> {
  if (visits.length === 0) return new Set();
  const { rows } = await pull.read.query<{ hash: string }>(sql`
    select distinct encode(g.content_hash, 'hex') as hash from web.guestbook g
     where g.host_id = ${host.host_id}::int and g.content_hash = any(${visits.map(({ hash }) => hash)}::bytea[])`);
  return new Set(rows.map((row) => row.hash));
}
