/** The settings of this source, TIDEMARK_GITHUB_ISSUES_…, and the options that can be given with what is followed. */
import { every } from "tidemark";
import { z } from "zod";

const EVERY_MS_MIN = 30_000;

/** A duration as people write it, and not too short. */
function duration(example: string) {
  const fits = (text: string): boolean => {
    try {
      return (every(text).period_ms ?? 0) >= EVERY_MS_MIN;
    } catch {
      return false;
    }
  };
  const message = `must be a duration such as ${example}, and ${EVERY_MS_MIN / 1000}s at least`;
  return z.string().refine(fits, { message });
}

const count = (least: number, most: number, standard: number) =>
  z
    .string()
    .refine((text) => /^\d{1,12}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      message: `must be a whole number from ${least} to ${most}`,
    })
    .default(String(standard))
    .transform(Number);

export const settings = z.object({
  every: duration("4m")
    .default("4m")
    .describe("how often a repository is asked whether anything changed; 4m unless said"),
  sweep: duration("1d")
    .default("1d")
    .describe("how often all issues of a repository are looked at for what no update tells of; 1d unless said"),
  private: z
    .enum(["true", "false"], { message: 'must be "true" or "false"' })
    .default("false")
    .transform((text) => text === "true")
    .describe("whether private repositories are mirrored, and shown to whoever may read here; false unless said"),
  requests_per_minute: count(1, 1_000_000, 3_000).describe(
    "calls a minute to the server of embeddings, over all workers; 3000 unless said",
  ),
  tokens_per_minute: count(10_000, 1_000_000_000, 1_000_000).describe(
    "tokens a minute to the server of embeddings, over all workers; 1000000 unless said",
  ),
  dimensions: count(0, 4_096, 0).describe(
    "how many dimensions to ask the server of embeddings for; 0 leaves it to the model",
  ),
  model: z
    .enum(["auto", "off"], { message: 'must be "auto" or "off"' })
    .default("auto")
    .describe("whether the local model is used where it was fetched and no EMBEDDINGS_URL is set: auto or off"),
});
export type Settings = z.infer<typeof settings>;

export const options = z.strictObject({ every: duration("4m").optional() });
