/** Runs the tutorial of Go modules, against a demo and a pretend GitHub. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { type ServedGitHub, serveGitHub } from "../../../src/demo/github/server.ts";
import { PATIENCE_MS, Tutorial } from "../tutorial.ts";
import { gomod } from "./rig.ts";

let served: ServedGitHub;
const tutorial = new Tutorial({
  page: "go-modules",
  variables: { TOKEN: "token-of-bot", OWNER: "acme" },
  settings: () => ({ GITHUB_URL: served.url, TIDEMARK_ALLOW_PRIVATE: "127.0.0.1" }),
});

beforeAll(async () => {
  const hub = new GitHub();
  hub.account("bot");
  for (const name of ["acme/cache", "acme/queue"]) {
    hub.repository(name);
    hub.push(name, "v1.0.0", { files: gomod(`github.com/${name}`) });
  }
  served = await serveGitHub(hub, () => performance.timeOrigin + performance.now());
});
afterAll(async () => {
  await tutorial.stop("SIGKILL");
  await served.close();
});

it("says what happens", { timeout: 8 * PATIENCE_MS }, async () => {
  expect(tutorial.steps.length).toBeGreaterThan(8);
  await tutorial.follow();
});

it("shows settings and addresses of others as they are", () => {
  expect(tutorial.unrun.join("\n")).toContain("GO_MODULE_INDEX_URL=http://127.0.0.1:8080/go/index");
  expect(tutorial.unrun).toHaveLength(3);
});
