/** What to do about an error, by its code: the words of the catalogue, and where that leaves a choice, the choice. */
import { catalogue } from "../errors.ts";

const more: Record<string, string> = {
  UpstreamForbids: " GITHUB_TOKENS has the tokens by host; after changing it, start the workers again.",
  UpstreamDown: " Nothing has to be done; Refresh tries it now.",
  UpstreamChanged: " Look whether the upstream says so elsewhere, and report it: the source has to be changed.",
  Unexpected: " Refresh tries it again now.",
};

export function adviceOn(code: string): string {
  const known = (catalogue as Record<string, { says: string } | undefined>)[code];
  return `${known?.says ?? "This release does not know this code; docs/errors.md of a newer one may."}${more[code] ?? ""}`;
}
