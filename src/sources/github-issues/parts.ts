/** What the kinds and the answers of this source share. */
import type { GitHubHost, Upstream } from "tidemark";
import type { Provider } from "./provider.ts";
import type { Settings } from "./settings.ts";
import type { TextLimits } from "./text.ts";

export interface SourceParts {
  gitHub(host: string): GitHubHost;
  settings(): Settings;
  /** What embeds; null where nothing does. */
  provider(): Provider | null;
  /** Whose allowance embedding spends. */
  upstream(): Upstream;
  /** How texts are cut for the model at hand; null where there is none. */
  texts(): TextLimits | null;
  /** The most issues that are asked for at once. */
  page_most: number;
  /** From how many issues on a past is read in several stretches. */
  split_least?: number;
}
