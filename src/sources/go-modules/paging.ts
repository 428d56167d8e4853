/** Lists a page at a time: how many, of what, and where the page before ended. */
import { TidemarkError } from "tidemark";
import { readPrefix } from "./index-request.ts";
import type { Narrowed } from "./page-rows.ts";

/** How many results a page has, unless fewer are asked for. */
export const RESULTS_MOST = 100;
const Q_LETTERS_MOST = 200;

/** A query's parameter by its name. */
export type Given = (name: string) => string | undefined;

export function readMost(given: Given): number {
  const limit = given("limit") ?? "";
  if (!/^(|0*[1-9][0-9]*)$/.test(limit))
    throw new TidemarkError("InputInvalid", `limit is a whole number from 1 to ${RESULTS_MOST}.`);
  return Math.min(Number(limit || RESULTS_MOST), RESULTS_MOST);
}

/** Where the page before ended, in parts; `shape` has a group for each. Empty is the beginning, where all parts are empty. */
export function readAfter(given: Given, shape: RegExp): string[] {
  const after = given("after") ?? "";
  if (after === "") return [];
  const parts = shape.exec(after)?.slice(1);
  if (!parts) throw new TidemarkError("InputInvalid", "after is what the page before gave as next.");
  return parts;
}

export function readNarrowed(given: Given): Narrowed {
  const q = given("q") ?? "";
  if (q.length > Q_LETTERS_MOST)
    throw new TidemarkError("InputInvalid", `q has ${q.length} letters; ${Q_LETTERS_MOST} at most.`);
  return { prefix: readPrefix(given("prefix") ?? ""), q: q === "" ? null : q };
}

/** Of one more row than wanted: the page, and where the next one begins; null where there is none. */
export function cut<R>(rows: R[], most: number, nextOf: (last: R) => string): { results: R[]; next: string | null } {
  const results = rows.slice(0, most);
  const last = results.at(-1);
  return { results, next: rows.length > most && last !== undefined ? nextOf(last) : null };
}
