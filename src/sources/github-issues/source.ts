/** The source of GitHub issues: follows repositories, and finds their issues by words and by meaning. */
import { type GitHubPlaces, gitHubHosts, type Source } from "tidemark";
import { routes } from "./api.ts";
import { embeddingsKind } from "./embeddings.ts";
import { keyOf, readRepositoryName } from "./names.ts";
import type { SourceParts } from "./parts.ts";
import { embeddingsUpstream, type Provider, providerOf } from "./provider.ts";
import { PAGE_MOST } from "./queries.ts";
import { repositoryKind } from "./repository.ts";
import { type Settings, settings } from "./settings.ts";
import { sweepKind } from "./sweep.ts";
import { migrations } from "./tables.ts";

export interface GitHubIssuesOptions extends GitHubPlaces {
  /** How many issues are asked for at once: 100 unless said. */
  page_most?: number;
  /** From how many issues on a past is read in several stretches. */
  split_least?: number;
  /** What embeds, in the place of what the settings say. */
  provider?: Provider | null;
}

/** One instance for each process. */
export function githubIssues(given: GitHubIssuesOptions = {}): Source {
  let chosen: Settings = settings.parse({});
  let hosts = gitHubHosts(given);
  let provider: Provider | null = given.provider ?? null;
  let upstream = embeddingsUpstream(chosen);
  const parts: SourceParts = {
    gitHub: (host) => hosts(host),
    settings: () => chosen,
    texts: () => provider?.limits ?? null,
    provider: () => provider,
    upstream: () => upstream,
    page_most: given.page_most ?? PAGE_MOST,
    ...(given.split_least === undefined ? {} : { split_least: given.split_least }),
  };
  return {
    name: "github-issues",
    settings,
    configure(read, shared) {
      chosen = read as Settings;
      hosts = gitHubHosts({ github_url: shared.github_url ?? undefined, ...given });
      upstream = embeddingsUpstream(chosen);
      provider = given.provider === undefined ? providerOf(chosen, shared) : given.provider;
    },
    migrations,
    get upstreams() {
      return [upstream];
    },
    kinds: { repository: repositoryKind(parts), sweep: sweepKind(parts), embeddings: embeddingsKind(parts) },
    follow(text) {
      const name = readRepositoryName(text);
      return name === null
        ? `"${text}" is not a repository such as microsoft/vscode or ghe.corp.example/acme/x.`
        : { kind: "repository", key: keyOf(name) };
    },
    routes: (app, context) => routes(app, context, parts),
  };
}

export default githubIssues();
