/** Numbers and times as people read them. */
import { formatDuration } from "../duration.ts";

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const figure = (n: number | null | undefined): string => (n == null ? "–" : grouped.format(n));

export const percent = (n: number | null): string => (n === null ? "–" : `${grouped.format(n)} %`);

/** With the noun in its number: "1 worker", "3 workers". */
export const counted = (n: number, one: string, many = `${one}s`): string => `${figure(n)} ${n === 1 ? one : many}`;

/** A length of time in one unit, whole seconds above one. */
export function span(ms: number, parts = 1): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return formatDuration(Math.floor(ms / 1_000) * 1_000, parts)
    .replace(/(\d)([a-z]+)/g, "$1 $2 ")
    .trim();
}

/** What is due in so many years is due when somebody looks at it. */
const FAR_MS = 10 * 365 * 86_400_000;

/** How far a moment is from now: "12 s ago", "in 3 m", "now". */
export function distance(at: string, now_ms: number): string {
  const ms = Date.parse(at) - now_ms;
  if (Math.abs(ms) < 1_000) return "now";
  if (ms > FAR_MS) return "when looked at";
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}

/** "2026-11-16 05:12:40 UTC". */
export const moment = (at: string): string => `${at.slice(0, 19).replace("T", " ")} UTC`;

/** Times inside of a sentence of the server, which has them in full, without their last digits. */
export const readable = (sentence: string): string =>
  sentence.replace(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d+Z/g, "$1 $2 UTC");

/** What was done of how much, in percent; null where nobody said. */
export function progress(done: string | null, total: string | null): number | null {
  if (done === null || total === null || Number(total) === 0) return null;
  return Math.min(100, (Number(done) / Number(total)) * 100);
}
