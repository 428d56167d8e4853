/** The demo's part of web: the sites of a city, visited so often that one can watch. */
import type { DemoPart } from "../part.ts";
import { webActions } from "./actions.ts";
import { FOLLOWED, fillRiverton } from "./riverton.ts";
import { serveSites } from "./server.ts";

/** The same at each start, where it is free. */
const PORT = 8438;
const REVISIT_MIN = "10s";
const REVISIT = "15s";

export async function webPart(now_ms: () => number, sleep: (ms: number) => Promise<void>): Promise<DemoPart> {
  const sites = fillRiverton();
  const city = webActions(sites);
  const server = await serveSites(sites, { slow_ms: city.slow_ms, sleep, now_ms }, PORT);
  return {
    environment: {
      TIDEMARK_WEB_REACHED_AT: `*=${server.url}`,
      TIDEMARK_WEB_APART_BY: "domain",
      TIDEMARK_WEB_DELAY: "200ms",
      TIDEMARK_WEB_ROBOTS_EVERY: REVISIT,
      TIDEMARK_WEB_SITEMAPS_EVERY: REVISIT,
      TIDEMARK_WEB_REVISIT: REVISIT,
      TIDEMARK_WEB_REVISIT_MIN: REVISIT_MIN,
      TIDEMARK_WEB_REVISIT_MAX: REVISIT,
      TIDEMARK_WEB_ALIKE: "20",
    },
    follows: FOLLOWED.map((key) => ({ source: "web", key })),
    actions: city.actions,
    tries: [["pages about permits", "/web/search?q=permit"]],
    close: () => server.close(),
  };
}
