/** The source of Go modules: follows owners and repositories at GitHub, and publishes their versions as a feed. */
import { type GitHubPlaces, gitHubHosts, readGitHubName, type Source } from "tidemark";
import { routes } from "./api.ts";
import { namedKind, ownerKind } from "./owner.ts";
import { PAGE_MOST } from "./queries.ts";
import { repositoryKind } from "./repository.ts";
import { type Settings, settings } from "./settings.ts";
import { migrations } from "./tables.ts";

export interface GoModulesOptions extends GitHubPlaces {
  /** How many repositories a sweep asks for at once: 100 unless said, which is one point. */
  page_most?: number;
}

/** One instance for each process: where GitHub is may be told at its making or with the settings. */
export function goModules(given: GoModulesOptions = {}): Source {
  let chosen: Settings = settings.parse({});
  const { page_most = PAGE_MOST } = given;
  let hosts = gitHubHosts(given);
  const parts = { gitHub: (host: string) => hosts(host), settings: () => chosen, page_most };
  return {
    name: "go-modules",
    settings,
    configure(read, shared) {
      chosen = read as Settings;
      hosts = gitHubHosts({ github_url: shared.github_url ?? undefined, ...given });
    },
    migrations,
    kinds: { owner: ownerKind(parts), named: namedKind(parts), repository: repositoryKind(parts) },
    follow(text) {
      const name = readGitHubName(text);
      if (name === null)
        return `"${text}" is neither an owner such as github.com/acme nor a repository such as github.com/acme/x.`;
      return "name" in name
        ? { kind: "named", key: `${name.host}/${name.owner}/${name.name}` }
        : { kind: "owner", key: `${name.host}/${name.owner}` };
    },
    routes,
    describe: ({ key, options: { name } }) => (typeof name === "string" ? name : key),
  };
}

export default goModules();
