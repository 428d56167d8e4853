/** The source of web pages: follows hosts, visits them politely and again as they change, and finds what they say. */
import type { Budget, Source, Upstream } from "tidemark";
import { routes } from "./api.ts";
import { domainKind } from "./domain.ts";
import { type Entry, readFile, readStandard } from "./domain64-file.ts";
import { extract } from "./extract.ts";
import { hostKind } from "./host.ts";
import { partsOf, readTyped } from "./names.ts";
import { prepareDomain } from "./numbers.ts";
import type { WebParts } from "./parts.ts";
import { rebuild } from "./rebuild.ts";
import { type Settings, settings } from "./settings.ts";
import { migrations } from "./tables.ts";

/** One instance for each process. `aside` goes around work that is done beside the main thread: tests let time stand still meanwhile. */
export function web(aside: <T>(work: () => Promise<T>) => Promise<T> = (work) => work()): Source {
  let chosen: Settings = settings.parse({});
  let entries: Entry[] | null = null;
  let upstream: Upstream | null = null;
  const parts: WebParts = {
    settings: () => chosen,
    // The same object each time: what it may spend is remembered with it.
    upstream() {
      upstream ??= upstreamOf(chosen);
      return upstream;
    },
    extract: (bytes, type) => aside(() => extract(bytes, type)),
  };
  return {
    name: "web",
    settings,
    configure(read) {
      chosen = read as Settings;
      upstream = null;
      entries = chosen.domain64 === undefined ? readStandard() : readFile(chosen.domain64);
    },
    migrations,
    kinds: { host: hostKind(parts), domain: domainKind(parts) },
    follow: readTyped,
    async prepare(db, { key }) {
      entries ??= readStandard();
      await prepareDomain(db, partsOf(key), entries);
    },
    rebuild,
    routes: (app, context) => routes(app, context, parts),
    describe: ({ kind, key }) => (kind === "domain" ? `*.${key}` : key),
  };
}

/** One call at a time to each site, and to each address; many servers are behind it, and each answers for itself. */
function upstreamOf({ delay, apart_by }: Settings): Upstream {
  const gap = (by: "group" | "address"): Budget => ({ shape: "gap", gap_ms: delay, by });
  return {
    name: "web",
    budgets: { site: gap("group"), ...(apart_by === "address" ? { address: gap("address") } : {}) },
    breaker: false,
  };
}

export default web();
