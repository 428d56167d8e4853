/** What a role says when it is up: where to look and what to do next. */
import type { Demo, Role, Settings } from "./shell.ts";

export function greeting(
  version: string,
  role: Role,
  { config, sources }: Settings,
  url: string,
  demo?: Demo,
): string[] {
  if (role === "worker") return [`Metrics of this worker: ${url}/metrics`];
  const names = sources.map(({ name }) => name).join(", ");
  const database = config.database_url === null ? `the embedded database in ${config.data}` : "PostgreSQL";
  return [
    `Tidemark ${version} is up on ${database}.`,
    `  Look:    ${url}/`,
    `  Sources: ${names}`,
    ...(demo
      ? [...demo.lines, ...demo.tries.map(([what, path]) => `  Try:     curl '${url}${path}'   (${what})`)]
      : []),
    `  Follow:  tidemark follow SOURCE KEY   (in another terminal)`,
    "  Stop:    Ctrl-C",
  ];
}
