/** Reads from the API for as long as somebody looks: at first, when the server tells of something new, and now and then. */
import { useEffect, useState } from "preact/hooks";
import { realClock } from "../clock.ts";
import { asFailure, type Failure, get } from "./api.ts";
import { live } from "./live.ts";

/** However much happens, nothing is read more often than this … */
const GAP_MS = 1_000;
/** … and however little, not more rarely: some things change without a number of the whole changing. */
const AGAIN_MS = 10_000;

export interface Reading<T> {
  /** The newest that was read, kept while reading again fails. */
  value: T | null;
  failure: Failure | null;
  /** Reads again at once. */
  again(): void;
}

interface State<T> {
  path: string | null;
  value: T | null;
  failure: Failure | null;
}

/**
 * What is at the path; null reads nothing. With another path the old value is forgotten, or kept until the new one is there where it
 * answers nearly the same question: a list that is narrowed down letter by letter should not blink.
 */
export function useReading<T>(path: string | null, { keep = false } = {}): Reading<T> {
  const [state, setState] = useState<State<T>>({ path, value: null, failure: null });
  const [asked, setAsked] = useState(0);
  // Asking again begins anew.
  useEffect(() => {
    if (path === null) return undefined;
    const end = new AbortController();
    void readOn<T>(path, end.signal, (part) =>
      setState((before) => ({
        value: keep || before.path === path ? before.value : null,
        failure: null,
        ...part,
        path,
      })),
    );
    return () => end.abort();
  }, [path, asked, keep]);
  const mine = state.path === path ? state : { value: keep ? state.value : null, failure: null };
  return { value: mine.value, failure: mine.failure, again: () => setAsked((n) => n + 1) };
}

async function readOn<T>(
  path: string,
  signal: AbortSignal,
  tell: (part: { value: T } | { failure: Failure }) => void,
): Promise<void> {
  while (!signal.aborted) {
    const { news } = live.value;
    try {
      const value = await get<T>(path, signal);
      if (!signal.aborted) tell({ value });
    } catch (thrown) {
      if (!signal.aborted) tell({ failure: asFailure(thrown) });
    }
    await realClock.sleep(GAP_MS, signal);
    await newsAfter(news, signal);
  }
}

/** Resolves when there is news since then, or after a while. */
async function newsAfter(news: number, signal: AbortSignal): Promise<void> {
  if (live.value.news !== news) return;
  const told = new AbortController();
  const stop = live.listen((value) => {
    if (value.news !== news) told.abort();
  });
  await realClock.sleep(AGAIN_MS, AbortSignal.any([signal, told.signal]));
  stop();
}
