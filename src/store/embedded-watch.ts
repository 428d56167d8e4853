/** Watches over a statement of the embedded database, which ignores both cancelling and statement_timeout. */
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import { orAborted } from "./aborted.ts";
import type { Engine } from "./embedded-engine.ts";

export interface Limits {
  /** How long a statement may go on after its caller gave up. */
  stuck_after_ms: number;
  /** How long any statement may take. */
  statement_timeout_ms: number;
  clock: Clock;
}

/**
 * What `running` gives, or the signal's reason at once, while the statement ends in the background. One that
 * does not end in time takes the whole engine with it: nothing less stops it.
 */
export function watched<T>(
  engine: Engine,
  running: Promise<T>,
  limits: Limits | undefined,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (limits) {
    const ended = new AbortController();
    const killAfter = async (ms: number, why: string) => {
      await limits.clock.sleep(ms, ended.signal);
      if (ended.signal.aborted) return;
      engine.kill(new TidemarkError("StoreDown", `The embedded database was restarted: a statement ${why} ${ms} ms.`));
    };
    const giveUp = () => void killAfter(limits.stuck_after_ms, "went on after its caller had given up, for");
    const end = () => {
      ended.abort();
      signal?.removeEventListener("abort", giveUp);
    };
    void killAfter(limits.statement_timeout_ms, "took longer than");
    signal?.addEventListener("abort", giveUp, { once: true });
    running.then(end, end);
  }
  return orAborted(running, signal);
}
