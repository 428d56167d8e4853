/** Four processes on one host: the server's own log says whether they were polite. */
import { expect, it } from "vitest";
import { realClock } from "../../../src/clock.ts";
import { serveSites } from "../../../src/demo/web/server.ts";
import { links, Sites } from "../../../src/demo/web/sites.ts";
import { finished, tidemark } from "../../flows/processes.ts";
import { testDatabase } from "../../postgres.ts";

const HOST = "www.gsa.gov";
const GAP_MS = 300;
const PAGES = 12;
/** Clocks of four processes, of the database and of the server are compared. */
const ROUNDING_MS = 20;

it("C3: is called with the gap by four processes of twenty slots, whatever they do", { timeout: 180_000 }, async () => {
  const sites = new Sites();
  const paths = Array.from({ length: PAGES }, (_, n) => `/p-${"x".repeat(n + 1)}`);
  sites
    .site(HOST)
    .says("User-agent: *", "Disallow: /no")
    .page("/", "Home", links(...paths))
    .sitemap("/sitemap.xml", [{ path: "/" }]);
  for (const path of paths) sites.site(HOST).page(path, `Page ${path}`);
  sites.site(HOST).moves(paths[0]!, paths[1]!);
  // When the answer was sent is when the gap begins.
  const server = await serveSites(sites, {
    slow_ms: () => 0,
    sleep: (ms) => realClock.sleep(ms),
    now_ms: () => realClock.elapsed_ms(),
  });
  const settings = {
    DATABASE_URL: (await testDatabase()).url,
    TIDEMARK_ALLOW_PRIVATE: "127.0.0.1",
    TIDEMARK_SLOTS: "20",
    TIDEMARK_PORT: "0",
    TIDEMARK_WEB_REACHED_AT: `*=${server.url}`,
    TIDEMARK_WEB_DELAY: `${GAP_MS}ms`,
  };
  expect(await finished(["migrate"], settings)).toMatchObject({ code: 0 });
  expect(await finished(["follow", "web", HOST], settings)).toMatchObject({ code: 0 });
  const workers = Array.from({ length: 4 }, () => tidemark(["worker"], settings));
  try {
    await expect.poll(() => sites.log.length, { timeout: 120_000, interval: 200 }).toBeGreaterThanOrEqual(PAGES + 3);
    const times = sites.log.map(({ at_ms }) => at_ms);
    const gaps = times.slice(1).map((at, n) => at - times[n]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(GAP_MS - ROUNDING_MS);
    expect(sites.asked().sort()).toEqual(["/", "/robots.txt", "/sitemap.xml", ...paths].sort());
  } finally {
    for (const worker of workers) worker.signal("SIGTERM");
    await Promise.all(workers.map((worker) => worker.ended));
    await server.close();
  }
});
