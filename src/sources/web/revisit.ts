/** When a page is visited again, purely: sooner after a change, later after none, and never sooner because of an error. */

export interface Bounds {
  min_ms: number;
  max_ms: number;
}

/** Half as long after a change, a third longer after none: a page that changes daily is seen within a day and a third at worst. */
const SHORTER = 0.5;
const LONGER = 4 / 3;
const FIRST_RETRY_MS = 60_000;
const RETRY_MS_MAX = 24 * 3600_000;

const bounded = (ms: number, { min_ms, max_ms }: Bounds): number => Math.min(Math.max(ms, min_ms), max_ms);

export const nextInterval = (interval_ms: number, changed: boolean, bounds: Bounds): number =>
  bounded(interval_ms * (changed ? SHORTER : LONGER), bounds);

/** How long to wait after so many failures in a row; what is known of how often the page changes stays as it is. */
export const retryWait = (failures: number, interval_ms: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16), RETRY_MS_MAX, Math.max(interval_ms, FIRST_RETRY_MS));
