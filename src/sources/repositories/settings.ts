/** The settings of this source, TIDEMARK_REPOSITORIES_…, and the options that can be given with a repository. */
import { every } from "tidemark";
import { z } from "zod";

const count = (least: number, most: number, standard: number) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most, {
      message: `must be a whole number from ${least} to ${most}`,
    })
    .default(String(standard))
    .transform(Number);

const HOST = /^[a-z0-9.-]+(:\d{1,5})?$/;

function readReached(text: string): Map<string, string> | null {
  const pairs = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((pair) => pair.split("="));
  const fits = ([host = "", origin = ""]: string[]) =>
    HOST.test(host) && URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol);
  return pairs.every(fits) ? new Map(pairs.map(([host, origin]) => [host!, new URL(origin!).origin])) : null;
}

const period = (text: string): number | null => {
  try {
    return every(text).period_ms ?? null;
  } catch {
    return null;
  }
};

export const settings = z.object({
  hosts: z
    .string()
    .refine(
      (text) =>
        text
          .split(/[\s,]+/)
          .filter(Boolean)
          .every((host) => HOST.test(host)),
      {
        message: 'must list hosts with commas between, such as "github.com,codeberg.org"',
      },
    )
    .default("github.com,gitlab.com,bitbucket.org,codeberg.org")
    .transform((text) => new Set(text.split(/[\s,]+/).filter(Boolean)))
    .describe("hosts of which whoever asks has a repository analysed; of others only what is followed"),
  new_per_hour: count(0, 100_000, 60).describe(
    "repositories that whoever asks can have analysed for the first time in an hour, by each server",
  ),
  waiting_most: count(1, 100_000, 500).describe(
    "first analyses that may wait; whoever asks for one more is told to come back",
  ),
  at_once: count(1, 64, 2).describe("analyses at once in one worker (1 to 64)"),
  pack_mb: count(1, 4_096, 256).describe(
    "megabytes that a repository may be sent in (1 to 4096); larger ones are refused",
  ),
  files: count(1, 2_000_000, 200_000).describe(
    "files that a repository may have (1 to 2000000); those with more are refused",
  ),
  stale: z
    .string()
    .refine((text) => (period(text) ?? 0) >= 10_000, { message: "must be a duration such as 1h, and 10s at least" })
    .default("1h")
    .transform((text) => period(text)!)
    .describe("an analysis that was not checked for so long is checked when somebody looks at it (10s at least)"),
  keep: count(1, 1_000, 10).describe("analyses that are kept of each repository (1 to 1000)"),
  reached_at: z
    .string()
    .refine((text) => readReached(text) !== null, {
      message: 'must be "host=origin" with commas between, such as git.corp.example=http://10.0.0.5:3000',
    })
    .transform((text) => readReached(text)!)
    .optional()
    .describe("hosts that are reached elsewhere than where their names lead"),
});
export type Settings = z.infer<typeof settings>;
