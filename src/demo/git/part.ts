/** The demo's part of repositories: a git host with real repositories, looked at so often that one can watch. */
import type { DemoPart } from "../part.ts";
import { FORGE, forgeActions, openForge, REPOSITORIES } from "./forge.ts";
import { serveGit } from "./server.ts";

const STALE = "10s";

export async function gitPart(now_ms: () => number): Promise<DemoPart> {
  const now_s = () => Math.floor(now_ms() / 1000);
  const host = await openForge(now_s());
  const server = await serveGit(host);
  return {
    environment: {
      TIDEMARK_REPOSITORIES_HOSTS: FORGE,
      TIDEMARK_REPOSITORIES_REACHED_AT: `${FORGE}=${server.url}`,
      TIDEMARK_REPOSITORIES_STALE: STALE,
    },
    follows: REPOSITORIES.map((key) => ({ source: "repositories", key: `${FORGE}/${key}` })),
    actions: forgeActions(host, now_s),
    tries: [["what is in a repository", `/repositories/${FORGE}/${REPOSITORIES[0]}`]],
    async close() {
      await server.close();
      await host.close();
    },
  };
}
