/** The settings of this source, TIDEMARK_WEB_…, and the options that can be given with a host. */
import { every } from "tidemark";
import { z } from "zod";

function durationMs(text: string): number {
  try {
    return text === "0s" ? 0 : (every(text).period_ms ?? Number.NaN);
  } catch {
    return Number.NaN;
  }
}

const DAY_MS = 24 * 3600_000;

const duration = (least: string, most: string) =>
  z.string().refine((text) => durationMs(text) >= durationMs(least) && durationMs(text) <= durationMs(most), {
    message: `must be a duration from ${least} to ${most}`,
  });

const count = (least: number, most: number) =>
  z.string().refine((text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most, {
    message: `must be a whole number from ${least} to ${most}`,
  });

const origin = /^https?:\/\/[^/?#@\s]+$/;

function readReached(text: string): Map<string, string> | null {
  const reached = new Map<string, string>();
  for (const one of text.split(",").map((part) => part.trim())) {
    const [host = "", at = "", ...more] = one.split("=");
    if (more.length > 0 || host === "" || !origin.test(at)) return null;
    reached.set(host.toLowerCase(), at);
  }
  return reached;
}

const ms = (text: string): number => durationMs(text);

export const settings = z.object({
  delay: duration("0s", "10m")
    .default("1s")
    .transform(ms)
    .describe("between the end of an answer and the next call to the same site"),
  delay_max: duration("1s", "1h")
    .default("30s")
    .transform(ms)
    .describe("a longer Crawl-delay in robots.txt is shortened to this, and so is a wait for a slow host"),
  apart_by: z
    .enum(["host", "domain", "address"], { message: 'must be "host", "domain" or "address"' })
    .default("address")
    .describe(
      "what is called one at a time: each host; all hosts of a domain; or those, and all that share an address",
    ),
  robots_every: duration("10s", "24h")
    .default("24h")
    .transform(ms)
    .describe("how long a robots.txt is believed (24h at most)"),
  robots_403: z
    .enum(["allow", "deny"], { message: 'must be "allow" or "deny"' })
    .default("allow")
    .describe("what a robots.txt that is refused (401, 403) means"),
  sitemaps_every: duration("10s", "30d").default("6h").transform(ms).describe("how often sitemaps are read"),
  revisit: duration("10s", "365d").default("1d").transform(ms).describe("when a new page is visited again"),
  revisit_min: duration("10s", "365d")
    .default("1h")
    .transform(ms)
    .describe("the shortest time between two visits of a page"),
  revisit_max: duration("10s", "365d")
    .default("30d")
    .transform(ms)
    .describe("the longest time between two visits of a page"),
  pages: count(1, 10_000_000).default("50000").transform(Number).describe("URLs of one host that are taken in"),
  depth: count(1, 1_000)
    .default("20")
    .transform(Number)
    .describe("links from the first page that are followed in a row"),
  alike: count(1, 1_000_000)
    .default("1000")
    .transform(Number)
    .describe("URLs that differ only in their query that are taken in"),
  bytes_max: count(1_000, 33_554_432)
    .default("10485760")
    .transform(Number)
    .describe("bytes of one page; larger ones are left out"),
  domain64: z
    .string()
    .min(1)
    .optional()
    .describe("a file with numbers of domain64, in the place of those that come with the source"),
  reached_at: z
    .string()
    .refine((text) => readReached(text) !== null, {
      message:
        'must be "host=origin" with commas between, such as docs.corp.example=http://10.0.0.5:8080; * stands for every host',
    })
    .transform((text) => readReached(text)!)
    .optional()
    .describe("hosts that are reached elsewhere than where their names lead"),
  bodies: z
    .string()
    .refine(
      (text) =>
        text.startsWith("/") || text.startsWith("./") || /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/.*)?$/.test(text),
      {
        message: "must be a folder that begins with / or ./, or s3://bucket/prefix",
      },
    )
    .optional()
    .describe("where bodies are kept as they came: a folder, or s3://bucket/prefix; nowhere unless said"),
  s3_endpoint: z
    .string()
    .regex(origin, { message: "must be an origin such as https://s3.us-gov-west-1.amazonaws.com" })
    .optional()
    .describe("the server of that bucket"),
  s3_region: z.string().min(1).default("us-east-1").describe("its region"),
  s3_key_id: z.string().min(1).optional().describe("the id of the key for it"),
  s3_secret_key: z.string().min(1).optional().describe("the key itself"),
});
export type Settings = z.infer<typeof settings>;

/** The command line gives numbers and booleans where they look like some. */
const said = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === undefined ? undefined : String(value)), schema.optional());

export const options = z
  .strictObject({
    /** The host is the operator's own: it may be called faster and several times at once. */
    own: said(z.enum(["true", "false"], { message: 'must be "true" or "false"' })),
    at_once: said(count(1, 64)),
    delay: said(duration("0s", "10m")),
    pages: said(count(1, 10_000_000)),
  })
  .refine(({ own, at_once }) => own === "true" || at_once === undefined || at_once === "1", {
    message: "at_once needs own=true: only a host of your own may be called several times at once",
  });
export type Options = z.infer<typeof options>;

/** How a host is called, by the settings and by what was said when it was followed. */
export function mannersOf(settings: Settings, given: Options) {
  const own = given.own === "true";
  const wanted_ms = given.delay === undefined ? settings.delay : durationMs(given.delay);
  return {
    own,
    at_once: own ? Number(given.at_once ?? 1) : 1,
    // Others are never called faster than the setting says.
    delay_ms: own
      ? given.delay === undefined && given.at_once !== undefined
        ? 0
        : wanted_ms
      : Math.max(wanted_ms, settings.delay),
    pages: given.pages === undefined ? settings.pages : Number(given.pages),
  };
}

export const DAY = DAY_MS;
