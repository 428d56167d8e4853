/** How a host is called: one call after the other with the gap that it wants, and never further than it leads by itself. */
import type { Answer, Batch, FetchRequest, Outcome, Pull } from "tidemark";
import { z } from "zod";
import type { HostRow } from "./host-row.ts";
import { siteOf } from "./names.ts";
import type { WebParts } from "./parts.ts";
import { mannersOf, type Options } from "./settings.ts";

export const Cursor = z
  .object({
    /** Calls whose answers were committed. */
    calls: z.number(),
    /** Where robots.txt led, and how often in a row. */
    robots: z.object({ url: z.string(), hops: z.number() }).nullable(),
  })
  .default({ calls: 0, robots: null });
export type Cursor = z.infer<typeof Cursor>;

export type Steps = AsyncGenerator<Batch<Cursor>, Outcome | undefined>;

/** A slow host gets twice the time that it took. */
const SLOWNESS = 2;
/** These are answers about the page, not about us. */
const ANSWERS = [401, 403, 407];

export function callOf(
  pull: Pull<Cursor>,
  host: Pick<HostRow, "crawl_delay_ms">,
  parts: WebParts,
  url: string,
  more: FetchRequest = {},
): Promise<Answer> {
  const settings = parts.settings();
  const { own, delay_ms } = mannersOf(settings, pull.resource.options as Options);
  const { host: name, hostname } = new URL(url);
  const reached_at = settings.reached_at?.get(name) ?? settings.reached_at?.get("*");
  const wanted_ms = (took_ms: number) =>
    Math.min(settings.delay_max, Math.max(host.crawl_delay_ms ?? 0, took_ms * SLOWNESS));
  return pull.fetch(url, {
    redirects: "none",
    answers: ANSWERS,
    // What the operator owns is not spared, also by nobody else of the fleet.
    ...(own && delay_ms === 0 ? { budgets: [] } : {}),
    group: settings.apart_by === "host" ? name : siteOf(hostname),
    gap_ms: (took_ms) => (own ? delay_ms : Math.max(delay_ms, wanted_ms(took_ms))),
    ...(reached_at === undefined ? {} : { reached_at }),
    ...more,
  });
}
