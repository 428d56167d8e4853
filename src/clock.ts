/** All waiting and all measuring of time in this process; decisions that others see use the database's clock instead. */

export interface Clock {
  /** Milliseconds that only ever grow; only differences mean anything. */
  elapsed_ms(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const realClock: Clock = {
  elapsed_ms: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
      signal?.addEventListener("abort", end, { once: true });
    });
  },
};
