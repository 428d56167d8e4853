/** The source of repositories: analyses of git repositories, kept fresh by how people look at them. */
import type { Source, Upstream } from "tidemark";
import { analyseApart } from "./analyse-job.ts";
import { routes } from "./api.ts";
import { keyOf, readName } from "./names.ts";
import type { RepositoryParts } from "./parts.ts";
import { repositoryKind } from "./repository.ts";
import { type Settings, settings } from "./settings.ts";
import { migrations } from "./tables.ts";

/** Calls to one host: a few at once, and two a second in the long run. */
const PER_SECOND = 2;
const BURST = 20;
const AT_ONCE = 4;

/** One instance for each process. */
export function repositories(own: Partial<Pick<RepositoryParts, "aside" | "analyse">> = {}): Source {
  let chosen: Settings = settings.parse({});
  const upstreams = new Map<string, Upstream>();
  const upstream = (host: string): Upstream => {
    const made = upstreams.get(host) ?? {
      name: host,
      budget: { shape: "pace" as const, per_second: PER_SECOND, burst: BURST },
      concurrency: AT_ONCE,
    };
    upstreams.set(host, made);
    return made;
  };
  const parts: RepositoryParts = {
    settings: () => chosen,
    upstream,
    aside: (work) => work(),
    analyse: analyseApart,
    ...own,
  };
  return {
    name: "repositories",
    settings,
    configure(read) {
      chosen = read as Settings;
    },
    migrations,
    kinds: { repository: repositoryKind(parts) },
    follow(text) {
      const name = readName(text);
      return typeof name === "string" ? name : { kind: "repository", key: keyOf(name) };
    },
    routes: (app, context) => routes(app, context, parts),
    describe: ({ key }) => key,
  };
}

export default repositories();
