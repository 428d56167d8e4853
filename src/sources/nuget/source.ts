/** The source of NuGet packages: follows the catalogs of V3 feeds, and serves what they say as a feed of its own. */
import type { Source, Upstream } from "tidemark";
import { routes } from "./api.ts";
import { catalogKind } from "./catalog.ts";
import { partsOf } from "./event-message.ts";
import { packageKind } from "./package.ts";
import { type Settings, settings } from "./settings.ts";
import { migrations } from "./tables.ts";

/** One instance for each process. */
export function nuget(): Source {
  let chosen: Settings = settings.parse({});
  const upstreams = new Map<string, Upstream>();
  // The same object each time: what an upstream may spend is remembered with it.
  const upstream = (host: string): Upstream => {
    const known = upstreams.get(host);
    if (known) return known;
    const { per_second, at_once } = chosen;
    const made: Upstream = {
      name: host,
      budget: { shape: "pace", per_second, burst: Math.max(2, per_second) },
      concurrency: at_once,
    };
    upstreams.set(host, made);
    return made;
  };
  const parts = { settings: () => chosen, upstream };
  return {
    name: "nuget",
    settings,
    // Those that were asked for so far: packages are passed on from where their feed is.
    get upstreams() {
      return [...upstreams.values()];
    },
    configure(read) {
      chosen = read as Settings;
      upstreams.clear();
    },
    migrations,
    kinds: { catalog: catalogKind(parts), package: packageKind(parts) },
    follow(text) {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (!url || !/^https?:$/.test(url.protocol))
        return `"${text}" is not the address of a V3 service index such as https://api.nuget.org/v3/index.json.`;
      if (url.username || url.password)
        return "An address with a name or a password in it would be seen by everyone who looks; such feeds cannot be followed.";
      url.hash = "";
      return { kind: "catalog", key: url.href };
    },
    routes: (app, context) => routes(app, context, parts),
    describe: ({ kind, key }) => (kind === "package" ? partsOf(key).lower_id : key),
  };
}

export default nuget();
