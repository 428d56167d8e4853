/** Everything that there is to see without a network and without keys: pretend upstreams on loopback, with life in them. */
import { fillAcme, OWNER, pushOne, TOKEN } from "./acme.ts";
import { GitHub } from "./github/hub.ts";
import { serveGitHub } from "./github/server.ts";

const PUSH_EVERY_MS = 20_000;
const SWEEP_EVERY = "30s";

interface Clock {
  elapsed_ms(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Starts them; `given` is the environment that the demo's own goes on top of. */
export async function startDemo(clock: Clock, given: Readonly<Record<string, string | undefined>>) {
  const now_ms = () => performance.timeOrigin + clock.elapsed_ms();
  const hub = new GitHub();
  const living = fillAcme(hub, now_ms());
  const github = await serveGitHub(hub, now_ms);
  const stop = new AbortController();
  const pushing = push(hub, living, clock, stop.signal);
  const repositories = hub.owner(OWNER).repositories.size;
  return {
    environment: {
      GITHUB_URL: github.url,
      GITHUB_TOKENS: `github.com=${TOKEN}`,
      TIDEMARK_ALLOW_PRIVATE: [given.TIDEMARK_ALLOW_PRIVATE, "127.0.0.1"].filter(Boolean).join(","),
      // What is made up does not go among what is real.
      TIDEMARK_DATA: given.TIDEMARK_DATA ?? "./.tidemark-demo",
      TIDEMARK_GO_MODULES_EVERY: SWEEP_EVERY,
    },
    follows: [{ source: "go-modules", key: `github.com/${OWNER}` }],
    lines: [
      `  Demo:    a pretend GitHub at ${github.url} with ${repositories} repositories of ${OWNER}; a tag is pushed every ${PUSH_EVERY_MS / 1000}s,`,
      `           and is in the index within ${SWEEP_EVERY}. What is real is not touched.`,
    ],
    tries: [["the first modules of the index", "/go/index?limit=5"]] as [string, string][],
    async close() {
      stop.abort();
      await pushing;
      await github.close();
    },
  };
}

async function push(hub: GitHub, living: string[], clock: Clock, signal: AbortSignal): Promise<void> {
  for (let no = 1; ; no += 1) {
    await clock.sleep(PUSH_EVERY_MS, signal);
    if (signal.aborted) return;
    pushOne(hub, living, no);
  }
}
