/** What a reader of the index asks for, checked: since when, how much, of what. */
import { TidemarkError } from "tidemark";
import { pathFault } from "./module-path.ts";

/** As index.golang.org has it: so many lines unless fewer are asked for, and never more. */
export const LINES_MOST = 2_000;

export interface IndexRequest {
  /** The oldest stamp wanted, for the database. */
  since: string;
  most: number;
  /** Versions that are no longer available, too. */
  all: boolean;
  /** Of this module and of those below it only; null for all. */
  prefix: string | null;
}

/** The request in a query's parameters, by name; what is absent or empty is not asked for. */
export function readIndexRequest(given: (name: string) => string | undefined): IndexRequest {
  const include = given("include") ?? "";
  if (include !== "" && include !== "all")
    throw invalid(
      "include",
      include,
      "Leave it out, or say include=all for versions that are no longer available, too.",
    );
  return {
    since: readSince(given("since") ?? ""),
    most: readLimit(given("limit") ?? ""),
    all: include === "all",
    prefix: readPrefix(given("prefix") ?? ""),
  };
}

function readLimit(text: string): number {
  if (text === "") return LINES_MOST;
  if (!/^0*[1-9][0-9]*$/.test(text))
    throw invalid("limit", text, `Give a whole number from 1 to ${LINES_MOST}; of more, ${LINES_MOST} are answered.`);
  return Math.min(Number(text), LINES_MOST);
}

/** On the borders of parts: github.com/acme is not the beginning of github.com/acme-labs/x. */
export function readPrefix(text: string): string | null {
  const path = text.replace(/\/$/, "");
  if (path === "") return null;
  // What is below a path with a version in its middle, or has none that gopkg.in wants, is a prefix all the same.
  const fault = pathFault(`${path.replace(/^gopkg\.in(?=\/|$)/, "gopkg.example")}/x`);
  if (fault !== null)
    throw invalid(
      "prefix",
      text,
      `${fault} Give the beginning of module paths, in whole parts, such as github.com/acme.`,
    );
  return path;
}

const stamp =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/**
 * An RFC 3339 moment for the database, which keeps microseconds: what is finer is rounded up, so that nothing older comes back. A `+` that
 * was not escaped arrives as a space.
 */
export function readSince(text: string): string {
  if (text === "") return "-infinity";
  const [, local, fraction = "", sign, hours = "0", minutes = "0"] =
    stamp.exec(text.replace(/ (?=[0-9]{2}:[0-9]{2}$)/, "+")) ?? [];
  const local_ms = local === undefined ? Number.NaN : Date.parse(`${local}Z`);
  // Date.parse takes the 31st of every month, and 24:00.
  const real = !Number.isNaN(local_ms) && new Date(local_ms).toISOString().startsWith(local!);
  if (!real || Number(hours) > 23 || Number(minutes) > 59)
    throw invalid("since", text, "Give a moment such as 2019-04-10T19:08:52.997264Z or 2019-04-10T12:08:52-07:00.");
  const offset_ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const utc_ms = local_ms - (sign === "-" ? -offset_ms : offset_ms);
  const up = /[1-9]/.test(fraction.slice(6)) ? 1 : 0;
  const us = Number(fraction.slice(0, 6).padEnd(6, "0")) + up;
  const carried = new Date(utc_ms + (us === 1_000_000 ? 1_000 : 0));
  const year = carried.getUTCFullYear();
  if (year < 1) return "-infinity";
  if (year > 9999) return "infinity";
  return `${carried.toISOString().slice(0, 19)}.${String(us % 1_000_000).padStart(6, "0")}Z`;
}

function invalid(name: string, given: string, sentence: string): TidemarkError {
  return new TidemarkError(
    "InputInvalid",
    `${name}=${JSON.stringify(given.slice(0, 100))} is not understood. ${sentence}`,
  );
}
