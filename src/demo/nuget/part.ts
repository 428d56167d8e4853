/** The demo's part of nuget: a feed whose catalog does everything that catalogs do. */
import type { DemoPart } from "../part.ts";
import { nugetActions } from "./actions.ts";
import { fillContoso } from "./contoso.ts";
import { serveNuGet } from "./server.ts";

/** The same at each start, where it is free: its address is what is followed. */
const PORT = 8437;
const LOOK_EVERY = "20s";

export async function nugetPart(now_ms: () => number): Promise<DemoPart & { url: string }> {
  const packages = fillContoso();
  const server = await serveNuGet(packages, PORT);
  return {
    url: server.url,
    environment: { TIDEMARK_NUGET_EVERY: LOOK_EVERY },
    follows: [{ source: "nuget", key: `${server.url}/v3/index.json` }],
    actions: nugetActions(packages, now_ms),
    tries: [["packages for JSON", "/nuget/v3/search?q=json"]],
    close: () => server.close(),
  };
}
