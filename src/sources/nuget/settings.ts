/** The settings of this source, TIDEMARK_NUGET_…, and the options that can be given with a feed. */
import { every } from "tidemark";
import { z } from "zod";
import { ticksOf } from "./stamp.ts";

const EVERY_MS_MIN = 10_000;

function readable(text: string): boolean {
  try {
    return (every(text).period_ms ?? 0) >= EVERY_MS_MIN;
  } catch {
    return false;
  }
}

const duration = z
  .string()
  .refine(readable, { message: `must be a duration such as 1m, and ${EVERY_MS_MIN / 1000}s at least` });

const moment = z.string().refine((text) => ticksOf(withTime(text)) !== null, {
  message: "must be a date such as 2024-01-31, or a timestamp of the catalog",
});

/** A date alone is its first moment. */
export const withTime = (text: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);

const count = (least: number, most: number, standard: number) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most, {
      message: `must be a whole number from ${least} to ${most}`,
    })
    .default(String(standard))
    .transform(Number);

export const settings = z.object({
  every: duration.default("1m").describe("how often a catalog is asked for what is new (10s at least)"),
  leaves: z
    .enum(["all", "newest", "none"], { message: 'must be "all", "newest" or "none"' })
    .default("all")
    .describe("whose leaf documents are read: of all versions, of the newest ones of each package, or of none"),
  per_second: count(1, 10_000, 500).describe("calls a second to one feed, over all workers (1 to 10000)"),
  at_once: count(1, 256, 64).describe("calls to one feed at once, over all workers (1 to 256)"),
  content: z
    .enum(["redirect", "proxy"], { message: 'must be "redirect" or "proxy"' })
    .default("redirect")
    .describe("whether packages themselves are redirected to the feed or passed on from it"),
  public_url: z
    .url({ message: "must be a URL such as https://packages.corp.example" })
    .optional()
    .describe("where clients reach this server, if it is not where their request says"),
});
export type Settings = z.infer<typeof settings>;

export const options = z.strictObject({
  every: duration.optional(),
  /** Nothing that happened before is mirrored. */
  since: moment.optional(),
  /** What happened since then is read once more, leaves too; a new moment replays again. */
  replay: moment.optional(),
});
export type Options = z.infer<typeof options>;
