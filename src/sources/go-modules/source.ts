/** The source of Go modules: follows owners and repositories at GitHub, and publishes their versions as a feed. */
import type { Source } from "tidemark";
import { routes } from "./api.ts";
import { type GitHubHost, gitHubHost } from "./github.ts";
import { readName } from "./names.ts";
import { namedKind, ownerKind } from "./owner.ts";
import { PAGE_MOST } from "./queries.ts";
import { repositoryKind } from "./repository.ts";
import { type Settings, settings } from "./settings.ts";
import { migrations } from "./tables.ts";

const GITHUB_URL = "https://api.github.com";

export interface GoModulesOptions {
  /** The API root of github.com. */
  github_url?: string;
  /** How many repositories a sweep asks for at once: 100 unless said, which is one point. */
  page_most?: number;
  /** The API root of an Enterprise Server. */
  enterprise_url?(host: string): string;
}

/** One instance for each process: where GitHub is may be told at its making or with the settings. */
export function goModules(given: GoModulesOptions = {}): Source {
  let chosen: Settings = settings.parse({});
  let github_url = given.github_url ?? GITHUB_URL;
  const { enterprise_url = (host) => `https://${host}/api`, page_most = PAGE_MOST } = given;
  const hosts = new Map<string, GitHubHost>();
  // The same object each time: what an upstream may spend is remembered with it.
  const gitHub = (host: string): GitHubHost => {
    const known = hosts.get(host);
    if (known) return known;
    const made =
      host === "github.com" ? gitHubHost(host, github_url, false) : gitHubHost(host, enterprise_url(host), true);
    hosts.set(host, made);
    return made;
  };
  const parts = { gitHub, settings: () => chosen, page_most };
  return {
    name: "go-modules",
    settings,
    configure(read, shared) {
      chosen = read as Settings;
      github_url = given.github_url ?? shared.github_url ?? GITHUB_URL;
      hosts.clear();
    },
    migrations,
    kinds: { owner: ownerKind(parts), named: namedKind(parts), repository: repositoryKind(parts) },
    follow(text) {
      const name = readName(text);
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
