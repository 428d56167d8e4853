/** The thread that reads documents which take long: PDFs and very large pages. */
import { parentPort } from "node:worker_threads";
import { readDocument } from "./document.ts";

parentPort!.on("message", async ({ n, bytes, type }: { n: number; bytes: Uint8Array; type: string | undefined }) => {
  try {
    parentPort!.postMessage({ n, extracted: await readDocument(bytes, type) });
  } catch (thrown) {
    parentPort!.postMessage({ n, extracted: null, error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
});
