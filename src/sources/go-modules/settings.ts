/** The settings of this source, TIDEMARK_GO_MODULES_…, and the options that can be given with what is followed. */
import { every } from "tidemark";
import { z } from "zod";

const EVERY_MS_MIN = 30_000;

/** A duration as people write it, at least as long as that. */
function duration(least_ms: number, example: string) {
  const fits = (text: string): boolean => {
    try {
      return (every(text).period_ms ?? 0) >= least_ms;
    } catch {
      return false;
    }
  };
  return z
    .string()
    .refine(fits, { message: `must be a duration such as ${example}, and ${least_ms / 1000}s at least` });
}

const yes = (standard: "true" | "false") =>
  z
    .enum(["true", "false"], { message: 'must be "true" or "false"' })
    .default(standard)
    .transform((text) => text === "true");

export const settings = z.object({
  every: duration(EVERY_MS_MIN, "5m")
    .default("5m")
    .describe("how often owners and names are swept for changes; 5m unless said"),
  refresh: duration(EVERY_MS_MIN, "1d")
    .default("1d")
    .describe("how often all tags of a repository are listed, changed or not; 1d unless said"),
  // Forks declare the module that they were forked from; whoever wants theirs follows them by name.
  forks: yes("false").describe("whether the forks that an owner has count; false unless said"),
  // What is archived can still be required.
  archived: yes("true").describe("whether archived repositories count; true unless said"),
});
export type Settings = z.infer<typeof settings>;

export const options = z.strictObject({ every: duration(EVERY_MS_MIN, "5m").optional() });
