/** What the embedded driver needs of a PGlite, and the PGlite that runs in this very process. */
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import pg from "pg";
import { TidemarkError } from "../errors.ts";
import type { Result } from "./db.ts";
import { Statements } from "./embedded-statements.ts";
import { parsers } from "./parse.ts";

/** One database session that runs one statement after the other, in the order they are given. */
export interface Engine {
  query(text: string, values: (string | null)[]): Promise<Result<unknown>>;
  /** Several statements at once; gives the command that the last one ended as. */
  script(text: string): Promise<string>;
  close(): Promise<void>;
  /** Ends it at once, whatever it is doing; what waits for an answer is rejected with `reason`. */
  kill(reason: TidemarkError): void;
}

export interface EngineEvents {
  notified(channel: string, payload: string): void;
  /** It is unusable from now on. */
  died(reason: TidemarkError): void;
}

/** What everything that waits for a dead engine is told. */
export function stopped(cause: unknown): TidemarkError {
  const said = cause instanceof Error ? cause.message : String(cause);
  return new TidemarkError("StoreDown", `The embedded database stopped: ${said}.`, { cause });
}

/** Opens the database in `folder`, or one in memory. */
export type OpenEngine = (folder: string | undefined, events: EngineEvents) => Promise<Engine>;

export const openInProcess: OpenEngine = async (folder, events) => {
  const lite = new PGlite({ dataDir: folder ?? "memory://", extensions: { vector } });
  await lite.waitReady;
  // PGlite's own parsers would make numbers of int8 and Dates of timestamptz; parameters come here as text already.
  const statements = new Statements(lite, parsers);
  lite.onNotification((channel, payload) => events.notified(channel, payload));
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isCrash(error)) throw asDatabaseError(error);
      const reason = stopped(error);
      events.died(reason);
      throw reason;
    }
  };
  return {
    query: (text, values) => guarded(() => statements.query(text, values)),
    script: (text) => guarded(() => statements.script(text)),
    close: () => lite.close(),
    // Nothing can run beside a statement in this thread, so there is never one to interrupt.
    kill: () => {},
  };
};

/** A trap or an exit of the WebAssembly module: its memory cannot be trusted any more. */
function isCrash(error: unknown): boolean {
  return error instanceof Error && (error.name === "RuntimeError" || error.name === "ExitStatus");
}

const fields = [
  ...(["severity", "code", "detail", "hint", "position", "internalPosition", "internalQuery", "where"] as const),
  ...(["schema", "table", "column", "dataType", "constraint", "file", "line", "routine"] as const),
];

/** The same class of error as the other driver throws, without PGlite's copy of the statement and its parameters. */
function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || !("severity" in error)) return error;
  const ours = new pg.DatabaseError(error.message, error.message.length, "error");
  const theirs = error as Error & Partial<Record<(typeof fields)[number], string>>;
  for (const field of fields) Object.assign(ours, { [field]: theirs[field] });
  return ours;
}
