/** A value that is costly to read, read at most once in a while however many ask for it. */
import type { Clock } from "../clock.ts";

export class Remembered<T> {
  readonly #read: () => Promise<T>;
  readonly #clock: Clock;
  readonly #for_ms: number;
  #value: { promise: Promise<T>; at_ms: number } | null = null;

  constructor(read: () => Promise<T>, clock: Clock, for_ms: number) {
    this.#read = read;
    this.#clock = clock;
    this.#for_ms = for_ms;
  }

  /** The value as of at most `for_ms` ago; those who ask while it is being read wait for the same reading. */
  get(): Promise<T> {
    const now = this.#clock.elapsed_ms();
    if (this.#value && now - this.#value.at_ms < this.#for_ms) return this.#value.promise;
    const promise = this.#read();
    const value = { promise, at_ms: now };
    this.#value = value;
    promise.catch(() => {
      // A failure is not remembered: the next one who asks tries again.
      if (this.#value === value) this.#value = null;
    });
    return promise;
  }
}
