/** Everything that there is to see without a network and without keys: pretend upstreams on loopback, with life in them. */
import { fillAcme, NAMED, OWNER, TOKEN } from "./acme.ts";
import { Stage } from "./actions.ts";
import { Embeddings, serveEmbeddings } from "./embeddings/server.ts";
import { serveGitHub } from "./github/server.ts";
import { issueActions } from "./issue-actions.ts";
import { fillIssues, ISSUE_REPOSITORIES } from "./issue-story.ts";
import { MoodyGitHub } from "./moods.ts";
import { nugetActions } from "./nuget/actions.ts";
import { fillContoso } from "./nuget/contoso.ts";
import { serveNuGet } from "./nuget/server.ts";
import { webActions } from "./web/actions.ts";
import { FOLLOWED, fillRiverton } from "./web/riverton.ts";
import { serveSites } from "./web/server.ts";

const PUSH_EVERY_MS = 20_000;
const SWEEP_EVERY = "30s";
const LOOK_EVERY = "20s";
const ISSUES_SWEEP = "2m";
/** The same at each start, where it is free: its address is what is followed. */
const NUGET_PORT = 8437;
const WEB_PORT = 8438;
const REVISIT_MIN = "10s";
const REVISIT = "30s";
/** Where its database is unless TIDEMARK_DATA says. */
export const DEMO_DATA = "./.tidemark-demo";

interface Clock {
  elapsed_ms(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Starts them; `given` is the environment that the demo's own goes on top of. */
export async function startDemo(clock: Clock, given: Readonly<Record<string, string | undefined>>) {
  const now_ms = () => performance.timeOrigin + clock.elapsed_ms();
  const hub = new MoodyGitHub();
  const packages = fillContoso();
  const living = fillAcme(hub, now_ms());
  fillIssues(hub, now_ms());
  const embeddings = new Embeddings();
  const sites = fillRiverton();
  const city = webActions(sites);
  const actions = { ...nugetActions(packages, now_ms), ...city.actions, ...issueActions(hub, embeddings, now_ms) };
  const stage = new Stage(hub, living, now_ms, actions);
  const github = await serveGitHub(hub, now_ms);
  const vectors = await serveEmbeddings(embeddings, now_ms);
  const nuget = await serveNuGet(packages, NUGET_PORT);
  const stop = new AbortController();
  const sleep = (ms: number) => clock.sleep(ms, stop.signal);
  const web = await serveSites(sites, { slow_ms: city.slow_ms, sleep, now_ms }, WEB_PORT);
  const pushing = push(stage, clock, stop.signal);
  const repositories = hub.owner(OWNER).repositories.size;
  return {
    environment: {
      GITHUB_URL: github.url,
      GITHUB_TOKENS: `github.com=${TOKEN}`,
      TIDEMARK_ALLOW_PRIVATE: [given.TIDEMARK_ALLOW_PRIVATE, "127.0.0.1"].filter(Boolean).join(","),
      // What is made up does not go among what is real.
      DATABASE_URL: "",
      TIDEMARK_READ_URL: "",
      TIDEMARK_DATA: given.TIDEMARK_DATA || DEMO_DATA,
      EMBEDDINGS_URL: vectors.url,
      EMBEDDINGS_KEY: "",
      EMBEDDINGS_MODEL: "hashing",
      TIDEMARK_GO_MODULES_EVERY: SWEEP_EVERY,
      TIDEMARK_GITHUB_ISSUES_EVERY: SWEEP_EVERY,
      TIDEMARK_GITHUB_ISSUES_SWEEP: ISSUES_SWEEP,
      TIDEMARK_NUGET_EVERY: LOOK_EVERY,
      TIDEMARK_WEB_REACHED_AT: `*=${web.url}`,
      TIDEMARK_WEB_APART_BY: "domain",
      TIDEMARK_WEB_DELAY: "200ms",
      TIDEMARK_WEB_ROBOTS_EVERY: REVISIT,
      TIDEMARK_WEB_SITEMAPS_EVERY: REVISIT,
      TIDEMARK_WEB_REVISIT: REVISIT,
      TIDEMARK_WEB_REVISIT_MIN: REVISIT_MIN,
      TIDEMARK_WEB_REVISIT_MAX: "2m",
      TIDEMARK_WEB_ALIKE: "20",
    },
    follows: [
      ...[OWNER, ...NAMED].map((name) => ({ source: "go-modules", key: `github.com/${name}` })),
      ...ISSUE_REPOSITORIES.map((key) => ({ source: "github-issues", key })),
      { source: "nuget", key: `${nuget.url}/v3/index.json` },
      ...FOLLOWED.map((key) => ({ source: "web", key })),
    ],
    controls: stage,
    lines: [
      `  Demo:    a pretend GitHub at ${github.url} with ${repositories} repositories of ${OWNER}; a tag is pushed every ${PUSH_EVERY_MS / 1000}s,`,
      `           and is in the index within ${SWEEP_EVERY}. A pretend NuGet feed is at ${nuget.url}/v3/index.json. What is real is not touched.`,
      `  Play:    tidemark demo ${stage.actions.map(({ action }) => action).join(" | ")}`,
    ],
    tries: [
      ["the first modules of the index", "/go/index?limit=5"],
      ["issues about crashes", "/issues/search?q=crash"],
      ["packages for JSON", "/nuget/v3/search?q=json"],
      ["pages about permits", "/web/search?q=permit"],
    ] as [string, string][],
    async close() {
      stop.abort();
      await pushing;
      await Promise.all([github.close(), vectors.close(), nuget.close(), web.close()]);
    },
  };
}

async function push(stage: Stage, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(PUSH_EVERY_MS, signal);
    if (signal.aborted) return;
    stage.act("push-tag");
  }
}
