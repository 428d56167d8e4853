/** Asks a host for its robots.txt, through redirects if need be, and remembers what it says. */
import { type Answer, type Pull, TidemarkError } from "tidemark";
import { type Cursor, callOf, type Steps } from "./calling.ts";
import { discover } from "./guestbook.ts";
import { type HostRow, writeRobots, writeRobotsDown } from "./host-row.ts";
import { PRODUCT, type WebParts } from "./parts.ts";
import { decodeRobots, readRobots } from "./robots.ts";
import { mannersOf, type Options } from "./settings.ts";
import { rememberSitemaps } from "./sitemap-rows.ts";
import { isDown } from "./visit.ts";

const HOPS_MOST = 5;
/** A host whose robots.txt could not be had for so long has none. */
const UNREACHABLE_MS_MAX = 30 * 24 * 3600_000;
const EVERYTHING_DENIED = "User-agent: *\nDisallow: /";
const BYTES_MAX = 16 * 1024 * 1024;

export async function* askRobots(pull: Pull<Cursor>, host: HostRow, parts: WebParts): Steps {
  const first = `${host.scheme}://${host.host}/robots.txt`;
  const { url, hops } = pull.cursor.robots ?? { url: first, hops: 0 };
  let answer: Answer;
  try {
    answer = await callOf(pull, host, parts, url, { bytes_max: BYTES_MAX });
  } catch (thrown) {
    if (!isDown(thrown)) throw thrown;
    const unreachable = !("status" in thrown.details) || thrown.details.status === 0;
    // Complete disallow, by RFC 9309: nothing is fetched before this is. The error is charged to the host, which is asked ever more rarely.
    if ((host.robots_down_ms ?? 0) < UNREACHABLE_MS_MAX) {
      yield { write: (tx) => writeRobotsDown(tx, pull.resource.resource_id, unreachable) };
      throw new TidemarkError(
        "UpstreamDown",
        `robots.txt of ${host.host} cannot be had, so nothing may be fetched: ${thrown.message}`,
        {
          cause: thrown,
          details: thrown.details,
        },
      );
    }
    yield* remember(pull, host, parts, 0, "");
    return undefined;
  }
  const { status, headers } = answer;
  const next =
    status >= 300 && status < 400 && headers.location && URL.canParse(headers.location, url)
      ? new URL(headers.location, url)
      : null;
  if (next && hops < HOPS_MOST && /^https?:$/.test(next.protocol)) {
    // What it leads to holds for the host that was asked first, wherever that is.
    yield { cursor: { ...pull.cursor, calls: pull.cursor.calls + 1, robots: { url: next.href, hops: hops + 1 } } };
    return undefined;
  }
  yield* remember(pull, host, parts, status, textOf(answer, parts.settings().robots_403 === "deny"));
  return undefined;
}

/** Where there is none, everything is allowed. */
function textOf({ status, bytes }: Answer, forbidden_denies: boolean): string {
  if (status >= 200 && status < 300) return decodeRobots(bytes).replaceAll("\u0000", "");
  return forbidden_denies && (status === 401 || status === 403) ? EVERYTHING_DENIED : "";
}

async function* remember(pull: Pull<Cursor>, host: HostRow, parts: WebParts, status: number, text: string): Steps {
  const { resource_id, options } = pull.resource;
  const settings = parts.settings();
  const robots = readRobots(text, PRODUCT);
  const manners = mannersOf(settings, options as Options);
  const own_ms = Math.min(robots.crawl_delay_ms ?? 0, settings.delay_max);
  const root = `${host.scheme}://${host.host}/`;
  const sitemaps = robots.sitemaps.flatMap((one) => (URL.canParse(one, root) ? [new URL(one, root).href] : []));
  const said = {
    status,
    text,
    for_ms: settings.robots_every,
    crawl_delay_ms: robots.crawl_delay_ms,
    delay_ms: manners.own ? manners.delay_ms : Math.max(manners.delay_ms, own_ms),
  };
  const home = { path: "/", scheme: host.scheme, depth: 0, shape: null, most: 1, lastmod_ms: null };
  yield {
    cursor: { ...pull.cursor, calls: pull.cursor.calls + 1, robots: null },
    write: async (tx) => {
      await writeRobots(tx, resource_id, said);
      await rememberSitemaps(tx, resource_id, sitemaps.length > 0 ? sitemaps : [`${root}sitemap.xml`], 0);
      await discover(tx, resource_id, [home], { pages: manners.pages, first_interval_ms: settings.revisit });
    },
  };
  return undefined;
}
