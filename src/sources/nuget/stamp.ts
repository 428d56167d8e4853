/** Timestamps of a catalog: kept as they were written, compared as ticks of 100 ns, which is finer than any clock in between. */

const shape = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})?$/i;
const TICKS_PER_MS = 10_000n;
/** Ticks from the year 1, as .NET counts them, to 1970. */
const EPOCH_TICKS = 621_355_968_000_000_000n;

/** How many ticks lie between the year 1 and this moment; null for what is no moment. One without an offset is UTC. */
export function ticksOf(stamp: string): bigint | null {
  const parts = shape.exec(stamp.trim());
  if (!parts) return null;
  const [, year, month, day, hour, minute, second, fraction = "", offset = "Z"] = parts;
  const date = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${date}${offset.toUpperCase()}`);
  if (Number.isNaN(ms)) return null;
  // Seven digits count: what is finer is cut, as .NET does.
  const ticks = BigInt(fraction.slice(0, 7).padEnd(7, "0"));
  return EPOCH_TICKS + BigInt(ms) * TICKS_PER_MS + ticks;
}

/** The year that is written, whatever the offset: 1900 is how a feed says that a package is not listed. */
export const yearOf = (stamp: string): number => Number(/^(\d{4})-/.exec(stamp.trim())?.[1] ?? Number.NaN);
