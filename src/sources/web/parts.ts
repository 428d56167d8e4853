/** What the parts of this source share: its settings as they are now, its one upstream, and work that takes the processor long. */
import type { Upstream } from "tidemark";
import type { Extracted } from "./content.ts";
import type { Settings } from "./settings.ts";

export interface WebParts {
  settings(): Settings;
  upstream(): Upstream;
  /** What is in a body; off the main thread where that takes long. */
  extract(bytes: Uint8Array, type: string | undefined): Promise<Extracted | null>;
}

/** How we are called in robots.txt. */
export const PRODUCT = "tidemark";
