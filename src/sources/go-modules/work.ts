/** One repository of a group that is pulled together: how far its pull is, and what is known of it meanwhile. */
import type { Pull } from "tidemark";
import { z } from "zod";
import type { RepositoryRow } from "./tables.ts";

export const Cursor = z.object({
  /** Listing tags, checking what the listing found, or working out versions. */
  stage: z.enum(["list", "check", "versions"]),
  after: z.string().nullable(),
  /** How many tags there are, as GitHub counts them, and how many of them the listing has met. */
  total: z.number().int(),
  met: z.number().int(),
  /** Some tags are gone, and the listing takes down names to find out which. */
  naming: z.boolean(),
  /** How many go.mod files are asked for at once: fewer after GitHub took too long. */
  files: z.number().int(),
  /** How often it began anew because tags changed under it. */
  again: z.number().int(),
});
export type Cursor = z.infer<typeof Cursor>;

export const start: Cursor = { stage: "list", after: null, total: 0, met: 0, naming: false, files: 50, again: 0 };

export interface Work {
  pull: Pull<Cursor>;
  host: string;
  id: string;
  /** Its row as it was last written, or is about to be. */
  row: RepositoryRow | undefined;
  /** Who was shown its tags. */
  viewer: string | null;
  /** Where it is; ahead of the pull's own where nothing was worth a commit. */
  cursor: Cursor;
}
