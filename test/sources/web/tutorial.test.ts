/** Runs the tutorial of web hosts, against a demo and a pretend site. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { realClock } from "../../../src/clock.ts";
import { serveSites } from "../../../src/demo/web/server.ts";
import { Sites } from "../../../src/demo/web/sites.ts";
import { PATIENCE_MS, Tutorial } from "../tutorial.ts";

const HOST = "www.keepers.example";
let served: Awaited<ReturnType<typeof serveSites>>;
const tutorial = new Tutorial({
  page: "web",
  variables: { HOST },
  settings: () => ({ TIDEMARK_ALLOW_PRIVATE: "127.0.0.1", TIDEMARK_WEB_REACHED_AT: `*=${served.url}` }),
});

beforeAll(async () => {
  const sites = new Sites();
  sites.site(HOST).page("/", "Lighthouse", "<p>It is kept by three.</p>");
  served = await serveSites(sites, {
    slow_ms: () => 0,
    sleep: (ms) => realClock.sleep(ms),
    now_ms: () => realClock.elapsed_ms(),
  });
});
afterAll(async () => {
  await tutorial.stop("SIGKILL");
  await served.close();
});

it("says what happens", { timeout: 8 * PATIENCE_MS }, async () => {
  expect(tutorial.steps.length).toBeGreaterThan(8);
  await tutorial.follow();
});
