/** A second passes: what says how long ago something was is drawn again. */
import { useEffect } from "preact/hooks";
import { realClock } from "../clock.ts";
import { serverNow_ms } from "./live.ts";
import { Store, useStore } from "./store.ts";

const seconds = new Store(0);

/** The server's time, anew each second; null until the server has said something. */
export function useNow_ms(): number | null {
  useStore(seconds);
  return serverNow_ms();
}

/** Ticks while the page is there. */
export function useTicking(): void {
  useEffect(() => {
    const end = new AbortController();
    void tick(end.signal);
    return () => end.abort();
  }, []);
}

async function tick(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await realClock.sleep(1_000, signal);
    if (!document.hidden) seconds.set(seconds.value + 1);
  }
}
