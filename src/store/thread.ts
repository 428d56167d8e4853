/** Starts a worker thread from this package's own code, compiled or not. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/** `url` names a `.ts` file; where this package runs compiled, the `.js` in the same place is taken instead. */
export function startThread(url: URL, workerData: unknown): Worker {
  if (!import.meta.url.endsWith(".ts")) {
    return new Worker(new URL(url.href.replace(/\.ts$/, ".js")), { workerData, execArgv: [] });
  }
  // Only while developing. Node 20 reads no TypeScript, and there `--import tsx` does nothing in a worker.
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm/api")).href.replace(/\.cjs$/, ".mjs");
  const first = `import { register } from "${tsx}"; register(); await import("${url.href}");`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(first)}`), { workerData, execArgv: [] });
}
