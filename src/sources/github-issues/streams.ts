/** How far a repository's issues were read: several streams, each its own stretch of time, none of which waits for another. */
import { z } from "zod";
import type { IssueAnswer } from "./queries.ts";

export const Stream = z.object({
  /** Updates from this moment on, itself included; null is the beginning. */
  since: z.string().nullable(),
  /** Behind which to go on where a whole page was of one moment. */
  after: z.string().nullable(),
  /** Where the next stream begins; the last one has no end. */
  until: z.string().nullable(),
  done: z.boolean(),
});
export type Stream = z.infer<typeof Stream>;

/** What was updated shortly before the last look may become visible only after it. */
export const OVERLAP_MS = 120_000;

const SECOND_MS = 1_000;
export const toSecond = (ms: number): string =>
  `${new Date(Math.floor(ms / SECOND_MS) * SECOND_MS).toISOString().slice(0, 19)}Z`;

/** From where a sync reads: a little before the newest that is known. */
export const overlapping = (reached: string | null): string | null =>
  reached === null || Date.parse(reached) <= OVERLAP_MS ? null : toSecond(Date.parse(reached) - OVERLAP_MS);

/** Streams with ends at these moments. */
export function streamsAt(boundaries: string[]): Stream[] {
  const starts = [null, ...boundaries];
  return starts.map((since, i) => ({ since, after: null, until: boundaries[i] ?? null, done: false }));
}

/**
 * Where a stream goes on after a page. By the moment of the last issue, which comes again, because what is updated meanwhile moves to the end and
 * would shift places; behind the page only where all of it is of one moment.
 */
export function moved(
  stream: Stream,
  page: IssueAnswer[],
  next: { hasNextPage: boolean; endCursor: string | null },
): Stream {
  const first = page[0];
  const last = page.at(-1);
  if (!last || !next.hasNextPage) return { ...stream, done: true };
  if (stream.until !== null && last.updatedAt >= stream.until) return { ...stream, done: true };
  if (first!.updatedAt === last.updatedAt && next.endCursor !== null) return { ...stream, after: next.endCursor };
  return { ...stream, since: last.updatedAt, after: null };
}

const YEAR_MS = 365.25 * 86_400_000;
const MOMENTS = 60;
const YEARS = 15;

/** Moments at which it is asked how many issues were updated since. */
export function askedMoments(newest_ms: number): string[] {
  const span_ms = YEARS * YEAR_MS;
  return Array.from({ length: MOMENTS }, (_, i) => toSecond(newest_ms - span_ms + ((i + 1) * span_ms) / (MOMENTS + 1)));
}

/** Boundaries of so many stretches with about as many issues each, from how many there are since each moment. */
export function evenly(moments: string[], counts: number[], total: number, parts: number): string[] {
  const points = [
    { at_ms: Date.parse(moments[0]!) - YEARS * YEAR_MS, since: total },
    ...moments.map((at, i) => ({ at_ms: Date.parse(at), since: counts[i] ?? 0 })),
    { at_ms: 2 * Date.parse(moments.at(-1)!) - Date.parse(moments.at(-2)!), since: 0 },
  ];
  const boundaries: string[] = [];
  for (let k = 1; k < parts; k += 1) {
    const wanted = total * (1 - k / parts);
    const at = points.findIndex((point) => point.since <= wanted);
    const [a, b] = [points[Math.max(0, at - 1)]!, points[Math.max(0, at)]!];
    const part = a.since === b.since ? 0 : (a.since - wanted) / (a.since - b.since);
    boundaries.push(toSecond(a.at_ms + part * (b.at_ms - a.at_ms)));
  }
  return [...new Set(boundaries)];
}
