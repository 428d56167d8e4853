/** Tells a lost or refused connection from an error that the database reports about a statement. */
import { TidemarkError } from "../errors.ts";

const codes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOTFOUND", "EAI_AGAIN"],
  ...["57P01", "57P02", "57P03", "57P05"], // shut down, crashed, starting, idle too long
  "25P03", // idle in a transaction too long
  "53300", // too many connections
]);

const sentences =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed)/;

export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TidemarkError) return error.code === "StoreDown";
  const { code, severity } = error as Error & { code?: unknown; severity?: unknown };
  if (typeof code === "string") {
    if (codes.has(code)) return true;
    // A wrong number of parameters is 08P01 too, but a mere ERROR; a pooler that refuses says FATAL.
    if (code === "08P01") return severity === "FATAL";
    if (/^08/.test(code)) return true;
  }
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  return sentences.test(error.message);
}

/** StoreDown for a connection's failure; everything else as it was. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof TidemarkError || !isConnectionFailure(error)) return error;
  const said =
    error instanceof Error && error.message !== "" ? error.message : String((error as { code?: unknown }).code);
  return new TidemarkError("StoreDown", `The database cannot be reached: ${said}.`, { cause: error });
}
