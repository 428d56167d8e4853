/** HTTP dates in the three forms of RFC 9110, for Date, Last-Modified and Retry-After. */

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const short_day = "(?:mon|tue|wed|thu|fri|sat|sun)";
const long_day = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)";
const month = `(?<month>${months.join("|")})`;
const time = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";

const forms = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${short_day}, (?<day>\\d\\d?) ${month} (?<year>\\d{4}) ${time} (?:gmt|utc)$`, "i"),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^${long_day}, (?<day>\\d\\d?)-${month}-(?<year>\\d\\d) ${time} (?:gmt|utc)$`, "i"),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^${short_day} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`, "i"),
];

const FUTURE_YEARS_MAX = 50;

/**
 * Milliseconds since 1970 of an HTTP date; null for anything else, for a 30th of February too. `now_ms` settles which century
 * a year of two digits is in: one that would be more than 50 years ahead is the past. The name of the day is not compared:
 * servers that get it wrong mean the date.
 */
export function parseHttpDate(text: string, now_ms: number): number | null {
  const trimmed = text.trim();
  for (const form of forms) {
    const parts = form.exec(trimmed)?.groups;
    if (parts) return fromParts(parts as Parts, now_ms);
  }
  return null;
}

type Parts = Record<"day" | "month" | "year" | "hour" | "minute" | "second", string>;

function fromParts(parts: Parts, now_ms: number): number | null {
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number) as number[];
  const month_index = months.indexOf(parts.month.toLowerCase());
  // A leap second is written as 60; our days have none, so it is the next second.
  if (hour! > 23 || minute! > 59 || second! > 60) return null;
  const at = (year: number): number | null => {
    const midnight = new Date(0);
    midnight.setUTCFullYear(year, month_index, day);
    const exists = midnight.getUTCMonth() === month_index && midnight.getUTCDate() === day;
    return exists ? midnight.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1000 : null;
  };
  if (parts.year.length === 4) return at(Number(parts.year));
  const latest = new Date(now_ms);
  latest.setUTCFullYear(latest.getUTCFullYear() + FUTURE_YEARS_MAX);
  const year = latest.getUTCFullYear() - (latest.getUTCFullYear() % 100) + Number(parts.year);
  const at_ms = at(year);
  return at_ms === null || at_ms > latest.getTime() ? at(year - 100) : at_ms;
}
