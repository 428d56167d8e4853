/** How far a catalog was read, and what is still to be settled about that. */
import type { Batch, Outcome } from "tidemark";
import { z } from "zod";
import { ticksOf } from "./stamp.ts";

export const Cursor = z
  .object({
    /** The internal cursor: everything up to here was posted. As the catalog wrote it. */
    stamp: z.string(),
    /** A commit that may still grow, and its page. */
    open: z.object({ url: z.string(), stamp: z.string() }).nullable(),
    /** How many parts of pages were read. */
    reads: z.number(),
    catalog_url: z.string(),
    checked_ms: z.number(),
    replayed: z.string(),
    /** What is not newer than this is read again, and not for the first time. */
    replay_until: z.string(),
  })
  .default({ stamp: "", open: null, reads: 0, catalog_url: "", checked_ms: 0, replayed: "", replay_until: "" });
export type Cursor = z.infer<typeof Cursor>;

/** An index that did not change has pages to read again all the same. */
export const replaying = ({ replay_until }: Cursor): boolean => replay_until !== "";
export const positionOf = (stamp: string): bigint => (stamp === "" ? 0n : ticksOf(stamp)!);

export type Steps = AsyncGenerator<Batch<Cursor>, Outcome | undefined>;
