/** What an upstream says about its own limits in the headers of an answer, as pure functions of those headers. */
import { parseHttpDate } from "../outbound/http-date.ts";

type Headers = Record<string, string>;

/** A wait that no interval could hold is a mistake; we look again after a week. */
export const WAIT_MS_MAX = 7 * 24 * 3600_000;

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;

/** A date of HTTP or of ISO 8601, in milliseconds; null for everything else. */
function date_ms(text: string | undefined): number | null {
  if (text === undefined) return null;
  // Only a year of two digits needs to know the century; those who still send one live in ours.
  const at = ISO.test(text.trim()) ? Date.parse(text.trim()) : parseHttpDate(text, Date.UTC(2026, 0));
  return at === null || Number.isNaN(at) ? null : at;
}

const bounded = (ms: number): number => Math.min(Math.max(0, Math.round(ms)), WAIT_MS_MAX);

/** `Retry-After` in seconds or as a date, the latter relative to the answer's own `Date`; null where it is absent or nonsense. */
export function retryAfter_ms(headers: Headers): number | null {
  const value = headers["retry-after"]?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return bounded(Number(value) * 1000);
  const at = date_ms(value);
  const now = date_ms(headers.date);
  return at === null || now === null ? null : bounded(at - now);
}

const units_ms: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3600_000, d: 86_400_000 };

/** Durations such as `6m0s`, `1h2m3.5s`, `20ms` or `1.5`, which is seconds; null for anything else. */
export function spokenDuration_ms(text: string): number | null {
  const value = text.trim();
  if (/^\d+(\.\d+)?$/.test(value)) return bounded(Number(value) * 1000);
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(value)) return null;
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  return bounded(parts.reduce((sum, [, number, unit]) => sum + Number(number) * units_ms[unit!]!, 0));
}

/** What is said of one budget. */
export interface Limit {
  /** The upstream's name for it; null where it names none. */
  resource: string | null;
  limit: number | null;
  remaining: number | null;
  reset_ms: number | null;
}

const whole = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;

/** Every limit that the headers speak of: GitHub's, with a reset in epoch seconds, and those by kind, with durations. */
export function limitsOf(headers: Headers): Limit[] {
  const limits: Limit[] = [];
  const remaining = whole(headers["x-ratelimit-remaining"]);
  if (remaining !== null)
    limits.push({
      resource: headers["x-ratelimit-resource"]?.trim() || null,
      limit: whole(headers["x-ratelimit-limit"]),
      remaining,
      reset_ms: epochReset_ms(headers),
    });
  for (const kind of ["requests", "tokens"]) {
    const left = whole(headers[`x-ratelimit-remaining-${kind}`]);
    if (left === null) continue;
    const reset = headers[`x-ratelimit-reset-${kind}`];
    const limit = whole(headers[`x-ratelimit-limit-${kind}`]);
    limits.push({
      resource: kind,
      limit,
      remaining: left,
      reset_ms: reset === undefined ? null : spokenDuration_ms(reset),
    });
  }
  return limits;
}

/** A reset is an epoch in seconds where it is large, and seconds from now where it is small; by the answer's own clock. */
function epochReset_ms(headers: Headers): number | null {
  const value = whole(headers["x-ratelimit-reset"]);
  if (value === null) return null;
  if (value < 1e9) return bounded(value * 1000);
  const now = date_ms(headers.date);
  return now === null ? null : bounded(value * 1000 - now);
}
