/** Has a commit analysed in a process of its own, within bounds of time and memory. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { TidemarkError } from "tidemark";
import { z } from "zod";
import { Report } from "./report.ts";

const MEMORY_MB = 768;
/** A report longer than this is a mistake. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export interface Job {
  /** Where its objects are. */
  folder: string;
  commit: string;
  files_max: number;
}

const Failed = z.object({
  sentence: z.string(),
  code: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
});
const DoneShape = z.union([z.object({ report: Report }), z.object({ failed: Failed })]);
export type Done = z.infer<typeof DoneShape>;

export function asJob(text: string): Job {
  return z.object({ folder: z.string(), commit: z.string(), files_max: z.number() }).parse(JSON.parse(text));
}

/** The report, or why there is none; the process and all that it started are gone in any case. */
export async function analyseApart(job: Job, signal: AbortSignal): Promise<Report> {
  signal.throwIfAborted();
  const here = import.meta.url;
  const compiled = !here.endsWith(".ts");
  // Only while developing: Node 20 reads no TypeScript.
  const reading = compiled ? [] : ["--import", createRequire(here).resolve("tsx")];
  const file = fileURLToPath(new URL(`./analyse-process.${compiled ? "js" : "ts"}`, here));
  const child = spawn(process.execPath, [`--max-old-space-size=${MEMORY_MB}`, ...reading, file], {
    // A group of its own, so that git goes with it.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone already.
    }
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    child.stdin.on("error", () => undefined);
    child.stdin.write(`${JSON.stringify(job)}\n`);
    return readDone(await firstLine(child, signal));
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

async function firstLine(child: ReturnType<typeof spawn>, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const read = (async () => {
    for await (const part of child.stdout!) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > ANSWER_BYTES_MAX) break;
      if ((part as Buffer).at(-1) === 10) return Buffer.concat(parts).toString("utf8");
    }
    signal.throwIfAborted();
    throw new TidemarkError(
      "Unexpected",
      "The analysis ended without a report; it may have needed more memory than it may have.",
    );
  })();
  return Promise.race([read, failed]);
}

function readDone(text: string): Report {
  const done = DoneShape.parse(JSON.parse(text));
  if ("report" in done) return done.report;
  const { sentence, code, details } = done.failed;
  throw new TidemarkError(code === "UpstreamChanged" ? code : "Unexpected", sentence, { details });
}
