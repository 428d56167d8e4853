/** Runs the tutorial of NuGet feeds, against a demo and a pretend feed. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { serveNuGet } from "../../../src/demo/nuget/server.ts";
import { PATIENCE_MS, Tutorial } from "../tutorial.ts";

let served: Awaited<ReturnType<typeof serveNuGet>>;
const tutorial = new Tutorial({
  page: "nuget",
  variables: {},
  settings: () => ({ TIDEMARK_ALLOW_PRIVATE: "127.0.0.1" }),
  // The demo says where its feed is; a reader's own is where it is.
  started: (printed) => ({
    FEED: /A pretend NuGet feed is at (\S+)\./.exec(printed)?.[1] ?? `${served.url}/v3/index.json`,
  }),
});

beforeAll(async () => {
  const feed = new NuGetFeed();
  feed.commit([{ id: "Corp.Tools", version: "1.0.0" }]);
  served = await serveNuGet(feed);
});
afterAll(async () => {
  await tutorial.stop("SIGKILL");
  await served.close();
});

it("says what happens", { timeout: 8 * PATIENCE_MS }, async () => {
  expect(tutorial.steps.length).toBeGreaterThan(8);
  await tutorial.follow();
});

it("shows the commands and settings of others as they are", () => {
  expect(tutorial.unrun.join("\n")).toContain("http://127.0.0.1:8080/nuget/v3/index.json");
  expect(tutorial.unrun).toHaveLength(2);
});
