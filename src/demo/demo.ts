/** Everything that there is to see without a network and without keys: pretend upstreams on loopback, with life in them. */
import { OWNER } from "./acme.ts";
import { Stage } from "./actions.ts";
import { gitPart } from "./git/part.ts";
import { githubPart, SWEEP_EVERY } from "./github/part.ts";
import { nugetPart } from "./nuget/part.ts";
import { webPart } from "./web/part.ts";

const PUSH_EVERY_MS = 20_000;
/** Where its database is unless TIDEMARK_DATA says. */
export const DEMO_DATA = "./.tidemark-demo";

interface Clock {
  elapsed_ms(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Starts them; `given` is the environment that the demo's own goes on top of. */
export async function startDemo(clock: Clock, given: Readonly<Record<string, string | undefined>>) {
  const now_ms = () => performance.timeOrigin + clock.elapsed_ms();
  const stop = new AbortController();
  const github = await githubPart(now_ms);
  const nuget = await nugetPart(now_ms);
  const web = await webPart(now_ms, (ms) => clock.sleep(ms, stop.signal));
  const parts = [github, nuget, web, await gitPart(now_ms)];
  const actions = Object.assign({}, ...parts.map((part) => part.actions));
  const stage = new Stage(github.hub, github.living, now_ms, actions);
  const pushing = push(stage, clock, stop.signal);
  const repositories = github.hub.owner(OWNER).repositories.size;
  return {
    environment: {
      TIDEMARK_ALLOW_PRIVATE: [given.TIDEMARK_ALLOW_PRIVATE, "127.0.0.1"].filter(Boolean).join(","),
      // What is made up does not go among what is real.
      DATABASE_URL: "",
      TIDEMARK_READ_URL: "",
      TIDEMARK_DATA: given.TIDEMARK_DATA || DEMO_DATA,
      ...(Object.assign({}, ...parts.map((part) => part.environment)) as Record<string, string>),
    },
    follows: parts.flatMap((part) => part.follows),
    controls: stage,
    lines: [
      `  Demo:    a pretend GitHub at ${github.url} with ${repositories} repositories of ${OWNER}; a tag is pushed every ${PUSH_EVERY_MS / 1000}s,`,
      `           and is in the index within ${SWEEP_EVERY}. A pretend NuGet feed is at ${nuget.url}/v3/index.json. What is real is not touched.`,
      `  Play:    tidemark demo ${stage.actions.map(({ action }) => action).join(" | ")}`,
    ],
    tries: parts.flatMap((part) => part.tries),
    async close() {
      stop.abort();
      await pushing;
      await Promise.all(parts.map((part) => part.close()));
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
