/** What resources are called: by their source where it has a name for them. */
import type { Resource } from "../contract.ts";
import type { ServerParts } from "./parts.ts";

type Nameable = Omit<Resource, "options"> & { options: Record<string, unknown> | null };

/** Null where the source calls it nothing else than its key, or is not known here. */
export function nameOf({ lanes }: Pick<ServerParts, "lanes">, one: Nameable): string | null {
  return lanes.sources.get(one.source)?.describe?.({ ...one, options: one.options ?? {} }) ?? null;
}
