/** What the parts of this source share: its settings as they are now, and one upstream for each host. */
import type { Upstream } from "tidemark";
import type { Settings } from "./settings.ts";

export interface NuGetParts {
  settings(): Settings;
  upstream(host: string): Upstream;
}
