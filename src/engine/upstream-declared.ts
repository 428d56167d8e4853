/** Finds an upstream by its name among those that sources declare. */
import type { Source, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";

/** Kinds whose upstream depends on the key name theirs in `upstreams`, where calls outside of pulls need it. */
export function declaredUpstream(sources: Iterable<Source>, name: string): Upstream {
  for (const source of sources) {
    const own = Object.values(source.kinds).flatMap(({ upstream }) =>
      typeof upstream === "function" ? [] : [upstream],
    );
    const found = [...(source.upstreams ?? []), ...own].find((one) => one.name === name);
    if (found) return found;
  }
  throw new TidemarkError("InputInvalid", `No source declares an upstream "${name}".`);
}
