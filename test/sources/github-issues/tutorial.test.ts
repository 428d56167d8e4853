/** Runs the tutorial of GitHub issues, against a demo, a pretend GitHub and a pretend server of embeddings. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { Embeddings, serveEmbeddings } from "../../../src/demo/embeddings/server.ts";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { serveGitHub } from "../../../src/demo/github/server.ts";
import { PATIENCE_MS, Tutorial } from "../tutorial.ts";

const served: { url: string; close(): Promise<void> }[] = [];
const variables: Record<string, string> = { TOKEN: "token-of-bot", REPOSITORY: "acme/cache" };
let tutorial: Tutorial;

beforeAll(async () => {
  const hub = new GitHub();
  hub.account("bot");
  hub.repository("acme/cache");
  hub.issues("acme/cache").file({ title: "Crash when the disk is full", body: "The program dies." });
  hub.issues("acme/cache").file({ title: "Wrong colours" });
  const now_ms = () => performance.timeOrigin + performance.now();
  const embeddings = new Embeddings();
  embeddings.key = "secret";
  served.push(await serveGitHub(hub, now_ms), await serveEmbeddings(embeddings, now_ms));
  variables.EMBEDDINGS = served[1]!.url;
  tutorial = new Tutorial({
    page: "github-issues",
    variables,
    settings: () => ({ GITHUB_URL: served[0]!.url, TIDEMARK_ALLOW_PRIVATE: "127.0.0.1" }),
  });
});
afterAll(async () => {
  await tutorial.stop("SIGKILL");
  for (const one of served) await one.close();
});

it("says what happens", { timeout: 8 * PATIENCE_MS }, async () => {
  expect(tutorial.steps.length).toBeGreaterThan(7);
  await tutorial.follow();
});
