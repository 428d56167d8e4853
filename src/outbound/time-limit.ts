/** A limit of time that can be lifted. */
import type { Clock } from "../clock.ts";

/** Does `late` after `ms`, unless the function that it returns is called before. */
export function timeLimit(clock: Clock, ms: number, late: () => void): () => void {
  const lifted = new AbortController();
  void clock.sleep(ms, lifted.signal).then(() => {
    if (!lifted.signal.aborted) late();
  });
  // A reason, or an error with its stack is made each time, which shows in a profile of many calls.
  return () => lifted.abort("lifted");
}

/** What comes of the work, or the signal's reason or `late` when that comes first; the work itself goes on unheard. */
export function withinTime<T>(
  work: Promise<T>,
  { clock, ms, late, signal }: { clock: Clock; ms: number; late: () => Error; signal: AbortSignal },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const give_up = () => reject(signal.reason);
    const lift = timeLimit(clock, ms, () => reject(late()));
    signal.addEventListener("abort", give_up, { once: true });
    work.then(resolve, reject).finally(() => {
      lift();
      signal.removeEventListener("abort", give_up);
    });
    if (signal.aborted) give_up();
  });
}
