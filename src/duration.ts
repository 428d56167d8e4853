/** Durations as people write them ("30s", "1d2h") and as code keeps them, in milliseconds. */

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const unit_ms: ReadonlyMap<string, number> = new Map(units);

/**
 * Milliseconds of "500ms", "30s", "5m", "2h", "1d" or several in falling order ("1d2h"); a bare whole number is
 * milliseconds. Null when the text is not a duration: the caller knows best how to say so.
 */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+$/.test(trimmed)) return safe(Number(trimmed));
  if (!/^(\d+(\.\d+)?(ms|d|h|m|s))+$/.test(trimmed)) return null;
  let total_ms = 0;
  let last_ms = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)) {
    const size_ms = unit_ms.get(unit!)!;
    if (size_ms >= last_ms) return null;
    last_ms = size_ms;
    total_ms += Number(amount) * size_ms;
  }
  return safe(Math.round(total_ms));
}

/** The duration in its largest units, at most `parts` of them: 90,000 is "1m30s", or "1m" in one part. */
export function formatDuration(ms: number, parts: number = units.length): string {
  if (!Number.isFinite(ms)) return ms > 0 ? "for ever" : "never";
  if (ms < 0) return `-${formatDuration(-ms, parts)}`;
  let rest = Math.round(ms);
  const shown: string[] = [];
  for (const [unit, size_ms] of units) {
    const amount = Math.floor(rest / size_ms);
    if (amount > 0 && shown.length < parts) shown.push(`${amount}${unit}`);
    else if (shown.length > 0 && shown.length >= parts) break;
    rest -= amount * size_ms;
  }
  return shown.length > 0 ? shown.join("") : "0ms";
}

function safe(ms: number): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}
