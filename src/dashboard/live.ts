/** What the server tells as it happens: listens, comes back when it was cut off, and says which of the two it is. */
import { realClock } from "../clock.ts";
import type { Status } from "./answers.ts";
import { asFailure, type Failure, failureOf } from "./api.ts";
import { eventsOf } from "./event-text.ts";
import { Store } from "./store.ts";
import { tokenHeaders } from "./token.ts";

/** The server says something every 15 s at least: silent for longer, it is gone without having said so. */
const SILENT_MS_MAX = 40_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 8_000;

export interface Live {
  link: "connecting" | "live" | "lost" | "locked";
  /** The newest there is, from before where the link is lost. */
  status: Status | null;
  /** When it came, by this page's clock. */
  came_ms: number;
  failure: Failure | null;
  /** Grows with each reason to read again: a change, or a connection that came back. */
  news: number;
}

export const live = new Store<Live>({ link: "connecting", status: null, came_ms: 0, failure: null, news: 0 });

const change = (part: Partial<Live>): void => live.set({ ...live.value, ...part });

/** The server's clock, as far as it is known here: differences to its times mean something, whatever the clock of this machine says. */
export function serverNow_ms(): number | null {
  const { status, came_ms } = live.value;
  return status === null ? null : Date.parse(status.now) + realClock.elapsed_ms() - came_ms;
}

let retry = new AbortController();

/** Do not wait for the next try: somebody gave a token, or wants to know now. */
export function tryNow(): void {
  retry.abort();
}

/** Listens until the signal comes. */
export async function listen(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const failure = await listenOnce(signal, () => {
      failures = 0;
    }).catch(asFailure);
    if (signal.aborted) return;
    retry = new AbortController();
    const locked = failure?.status === 401;
    change({ link: locked ? "locked" : "lost", failure });
    const wait_ms = locked ? Number.POSITIVE_INFINITY : Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX);
    failures += 1;
    await realClock.sleep(wait_ms, AbortSignal.any([signal, retry.signal]));
  }
}

/** One connection, from its first event to its end. Each event is the whole status, so nothing is missed between two connections. */
async function listenOnce(signal: AbortSignal, connected: () => void): Promise<Failure | null> {
  const silent = new AbortController();
  const cut = AbortSignal.any([signal, silent.signal]);
  const response = await fetch("/api/events", { headers: tokenHeaders(), signal: cut, cache: "no-store" });
  if (!response.ok || !response.body) return failureOf(response);
  const events = eventsOf(response.body.pipeThrough(new TextDecoderStream()));
  for (;;) {
    const heard = new AbortController();
    void realClock.sleep(SILENT_MS_MAX, heard.signal).then(() => {
      if (!heard.signal.aborted) silent.abort();
    });
    const { value, done } = await events.next().finally(() => heard.abort());
    if (done) return null;
    if (value.event !== "status") continue;
    connected();
    const status = JSON.parse(value.data) as Status;
    const { news } = live.value;
    change({ link: "live", status, came_ms: realClock.elapsed_ms(), failure: null, news: news + 1 });
  }
}
