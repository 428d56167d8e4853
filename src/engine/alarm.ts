/** A sleep that can be cut short: what rings while nobody sleeps ends the next sleep at once. */
import type { Clock } from "../clock.ts";

export class Alarm {
  readonly #clock: Clock;
  #sleeping: AbortController | null = null;
  #rung = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    const sleeping = this.#sleeping;
    this.#sleeping = null;
    sleeping?.abort("rung");
  }

  /** Forgets what rang before: the caller is about to look for itself. */
  clear(): void {
    this.#rung = false;
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#rung) {
      const sleeping = new AbortController();
      this.#sleeping = sleeping;
      await this.#clock.sleep(ms, sleeping.signal);
      this.#sleeping = null;
    }
    this.#rung = false;
  }
}
