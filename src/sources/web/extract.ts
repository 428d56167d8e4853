/** What is in a body, worked out on the main thread where that is quick and beside it where it is not. */
import type { Worker } from "node:worker_threads";
import { realClock, startThread, TidemarkError } from "tidemark";
import type { Extracted } from "./content.ts";
import { formOf, readDocument } from "./document.ts";

/** HTML is read at some 20 MB a second: so much takes 25 ms. */
const HERE_BYTES_MOST = 512 * 1024;
/** A document that takes longer is left out. */
const THREAD_MS_MAX = 60_000;

interface Waiting {
  resolve(extracted: Extracted | null): void;
  reject(error: Error): void;
}

/** One thread for the process, started with the first document that needs it. */
let thread: Worker | null = null;
const waiting = new Map<number, Waiting>();
let last = 0;

export async function extract(bytes: Uint8Array, type: string | undefined): Promise<Extracted | null> {
  const form = formOf(type, bytes);
  if (form === "other") return null;
  if (form !== "pdf" && bytes.length <= HERE_BYTES_MOST) return readDocument(bytes, type);
  return aside(bytes, type);
}

async function aside(bytes: Uint8Array, type: string | undefined): Promise<Extracted | null> {
  const at = started();
  last += 1;
  const n = last;
  const over = new AbortController();
  const answer = new Promise<Extracted | null>((resolve, reject) => waiting.set(n, { resolve, reject }));
  at.postMessage({ n, bytes, type });
  at.ref();
  const late = realClock.sleep(THREAD_MS_MAX, over.signal).then(() => {
    if (over.signal.aborted) return;
    // It cannot be told to stop; those behind it begin anew.
    fail(new TidemarkError("UpstreamChanged", "A document took too long to be read."));
  });
  try {
    return await answer;
  } finally {
    waiting.delete(n);
    over.abort();
    await late;
    if (waiting.size === 0) thread?.unref();
  }
}

function started(): Worker {
  if (thread) return thread;
  const made = startThread(new URL("./extract-thread.ts", import.meta.url), null);
  made.on("message", ({ n, extracted, error }: { n: number; extracted: Extracted | null; error?: string }) => {
    const one = waiting.get(n);
    if (error === undefined) one?.resolve(extracted);
    else one?.reject(new TidemarkError("UpstreamChanged", `The document could not be read: ${error}`));
  });
  made.on("error", (cause) => fail(new TidemarkError("UpstreamChanged", "The document could not be read.", { cause })));
  made.unref();
  thread = made;
  return made;
}

function fail(error: Error): void {
  void thread?.terminate();
  thread = null;
  for (const one of waiting.values()) one.reject(error);
}
