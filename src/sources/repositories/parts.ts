/** What the parts of this source share. */
import type { Upstream } from "tidemark";
import type { Settings } from "./settings.ts";

export interface RepositoryParts {
  settings(): Settings;
  upstream(host: string): Upstream;
}
