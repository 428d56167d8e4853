/** What an upstream's answer means, as pure functions: which statuses are answers, which ask us to wait, and for how long. */
import type { z } from "zod";
import type { Answer } from "../contract.ts";
import { TidemarkError } from "../errors.ts";

export const BUSY_WAIT_MS = 60_000;
/** Asked to wait for no time at all we still wait a little, or we would ask again at once, for ever. */
const BUSY_WAIT_MS_MIN = 1_000;
/** A wait that no interval could hold is a mistake; we look again after a week. */
const RETRY_AFTER_MS_MAX = 7 * 24 * 3600_000;

/** What begins like a date of HTTP or of ISO 8601: Date.parse alone also takes "-5" and "3 minutes" for dates. */
const DATE = /^((Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/;

/** `Retry-After` in seconds or as a date, the latter relative to the answer's own `Date`; null where it is absent or nonsense. */
export function retryAfter_ms(headers: Record<string, string>): number | null {
  const value = headers["retry-after"]?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.round(Number(value) * 1000), RETRY_AFTER_MS_MAX);
  const at = DATE.test(value) ? Date.parse(value) : Number.NaN;
  const now = Date.parse(headers.date ?? "");
  if (Number.isNaN(at) || Number.isNaN(now)) return null;
  return Math.min(Math.max(0, at - now), RETRY_AFTER_MS_MAX);
}

/** Throws for answers that are none: asked to wait, server trouble, refused. Everything else is the source's to judge. */
export function judge(upstream: string, url: string, status: number, headers: Record<string, string>): void {
  const wait_ms = retryAfter_ms(headers);
  const details = { upstream, status, url: withoutQuery(url) };
  if (status === 429 || ((status === 503 || status === 403) && wait_ms !== null))
    throw new TidemarkError("UpstreamBusy", `${upstream} asked us to wait (HTTP ${status}).`, {
      details,
      wait_ms: Math.max(wait_ms ?? BUSY_WAIT_MS, BUSY_WAIT_MS_MIN),
    });
  if (status >= 500) throw new TidemarkError("UpstreamDown", `${upstream} answered HTTP ${status}.`, { details });
  if (status === 401)
    throw new TidemarkError(
      "UpstreamForbids",
      `${upstream} refuses our credentials (HTTP 401). Check the tokens for that host.`,
      { details },
    );
}

/** Queries can hold secrets; logs and errors get the address without one. */
export function withoutQuery(url: string): string {
  const cut = url.search(/[?#]/);
  return cut < 0 ? url : url.slice(0, cut);
}

export function makeAnswer(
  upstream: string,
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array,
): Answer {
  const text = () => new TextDecoder().decode(bytes);
  return {
    status,
    headers,
    bytes,
    text,
    json<T>(schema: z.ZodType<T>): T {
      let body: unknown;
      try {
        body = JSON.parse(text());
      } catch (cause) {
        throw new TidemarkError("UpstreamChanged", `${upstream} sent ${bytes.length} bytes that are not JSON.`, {
          cause,
        });
      }
      const parsed = schema.safeParse(body);
      if (parsed.success) return parsed.data;
      throw new TidemarkError("UpstreamChanged", `${upstream} sent JSON of another shape: ${parsed.error.message}`);
    },
  };
}
