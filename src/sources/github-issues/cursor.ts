/** Where the pull of a repository is. */
import { z } from "zod";
import { Stream } from "./streams.ts";

export const Cursor = z.object({
  /** Finding it by its name, waiting for the next look, cutting its past into stretches, reading, reading the rest of what is long. */
  stage: z.enum(["find", "idle", "split", "read", "rest"]),
  /** Its past is being read for the first time. */
  init: z.boolean(),
  id: z.string().nullable(),
  streams: z.array(Stream),
  /** How many issues are asked for at once: fewer after GitHub took too long; and how many pages went well since. */
  size: z.number().int(),
  good: z.number().int(),
  /** The newest update when the last look began: the next one reads from there. */
  reached: z.string().nullable(),
  newest: z.string(),
  /** Of how many issues how many were read so far, in how many pages. */
  total: z.number().int(),
  read: z.number().int(),
  pages: z.number().int(),
  /** Tokens that were written since whoever embeds was woken last. */
  owed: z.number().int(),
});
export type Cursor = z.infer<typeof Cursor>;

export const start: Cursor = {
  stage: "find",
  init: true,
  id: null,
  streams: [],
  size: 100,
  good: 0,
  reached: null,
  newest: "",
  total: 0,
  read: 0,
  pages: 0,
  owed: 0,
};
