/** The demo's part of what is on GitHub: an owner with Go modules, repositories with issues, and a server of embeddings. */
import { fillAcme, NAMED, OWNER, TOKEN } from "../acme.ts";
import { Embeddings, serveEmbeddings } from "../embeddings/server.ts";
import { issueActions } from "../issue-actions.ts";
import { fillIssues, ISSUE_REPOSITORIES } from "../issue-story.ts";
import { MoodyGitHub } from "../moods.ts";
import type { DemoPart } from "../part.ts";
import { serveGitHub } from "./server.ts";

export const SWEEP_EVERY = "30s";
const ISSUES_SWEEP = "2m";

/** With the hub itself and the repositories in it that get pushes. */
export async function githubPart(
  now_ms: () => number,
): Promise<DemoPart & { hub: MoodyGitHub; living: string[]; url: string }> {
  const hub = new MoodyGitHub();
  const living = fillAcme(hub, now_ms());
  fillIssues(hub, now_ms());
  const embeddings = new Embeddings();
  const github = await serveGitHub(hub, now_ms);
  const vectors = await serveEmbeddings(embeddings, now_ms);
  return {
    hub,
    living,
    url: github.url,
    environment: {
      GITHUB_URL: github.url,
      GITHUB_TOKENS: `github.com=${TOKEN}`,
      EMBEDDINGS_URL: vectors.url,
      EMBEDDINGS_KEY: "",
      EMBEDDINGS_MODEL: "hashing",
      TIDEMARK_GO_MODULES_EVERY: SWEEP_EVERY,
      TIDEMARK_GITHUB_ISSUES_EVERY: SWEEP_EVERY,
      TIDEMARK_GITHUB_ISSUES_SWEEP: ISSUES_SWEEP,
    },
    follows: [
      ...[OWNER, ...NAMED].map((name) => ({ source: "go-modules", key: `github.com/${name}` })),
      ...ISSUE_REPOSITORIES.map((key) => ({ source: "github-issues", key })),
    ],
    actions: issueActions(hub, embeddings, now_ms),
    tries: [
      ["the first modules of the index", "/go/index?limit=5"],
      ["issues about crashes", "/issues/search?q=crash"],
    ],
    async close() {
      await Promise.all([github.close(), vectors.close()]);
    },
  };
}
