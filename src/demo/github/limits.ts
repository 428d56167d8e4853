/** GitHub's limits for one account: points in an hour, calls at once, and processor time in a minute. */

export const POINTS_MOST = 5_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export interface LimitOptions {
  /** Points in an hour. */
  points: number;
  /** Calls of one account at once. */
  at_once: number;
  /** Processor time in a minute. */
  cpu_ms: number;
}

export const standard: LimitOptions = { points: POINTS_MOST, at_once: 100, cpu_ms: 60_000 };

interface Window {
  resets_ms: number;
  used: number;
}

/** What one account has left. */
export class Limits {
  readonly #options: LimitOptions;
  #hour: Window = { resets_ms: 0, used: 0 };
  #minute: Window = { resets_ms: 0, used: 0 };
  /** Calls under way. */
  out = 0;

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  #at(now_ms: number): void {
    if (now_ms >= this.#hour.resets_ms) this.#hour = { resets_ms: now_ms + HOUR_MS, used: 0 };
    if (now_ms >= this.#minute.resets_ms) this.#minute = { resets_ms: now_ms + MINUTE_MS, used: 0 };
  }

  /** Seconds to wait for the secondary limit that this call breaks; null when it breaks none. */
  secondary(now_ms: number): number | null {
    this.#at(now_ms);
    if (this.out >= this.#options.at_once) return 60;
    return this.#minute.used >= this.#options.cpu_ms ? Math.ceil((this.#minute.resets_ms - now_ms) / 1000) : null;
  }

  /** Whether so many points are left; they are taken if they are. */
  take(now_ms: number, points: number): boolean {
    this.#at(now_ms);
    if (this.#hour.used + points > this.#options.points) return false;
    this.#hour.used += points;
    return true;
  }

  /** What a timeout costs besides. */
  punish(points: number): void {
    this.#hour.used += points;
  }

  worked(cpu_ms: number): void {
    this.#minute.used += cpu_ms;
  }

  state(now_ms: number): { limit: number; remaining: number; used: number; resets_ms: number } {
    this.#at(now_ms);
    const { points } = this.#options;
    const { used, resets_ms } = this.#hour;
    return { limit: points, remaining: Math.max(0, points - used), used, resets_ms };
  }
}
