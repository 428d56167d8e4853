/** Where the next page begins: a ranking goes on as it was made, whatever is written or ranked anew in the meantime. */
import { TidemarkError } from "tidemark";
import type { Fused } from "./ranking.ts";

export const RESULTS = 20;
export const RESULTS_MOST = 100;
/** So many are ranked; beyond that nobody looks, and the address of a page would be too long. */
export const RANKED_MOST = 200;
const AFTER_LETTERS_MOST = 8_000;

export function readLimit(text: string | undefined): number {
  if (!text) return RESULTS;
  if (!/^0*[1-9]\d*$/.test(text))
    throw new TidemarkError("InputInvalid", `limit is a whole number from 1 to ${RESULTS_MOST}.`);
  return Math.min(Number(text), RESULTS_MOST);
}

const wrong = (): TidemarkError => new TidemarkError("InputInvalid", "after is what the page before gave as next.");

/** What is left of a ranking, in a few bytes each. */
export function writeRanking(rest: Fused[]): string {
  const bytes: number[] = [];
  const put = (value: bigint) => {
    let left = value;
    for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
    bytes.push(Number(left));
  };
  for (const { resource_id, number, relevance, words, meaning, exact } of rest)
    for (const value of [
      resource_id,
      BigInt(number),
      BigInt(Math.round(relevance * 10_000)),
      words === null ? 0n : BigInt(1 + Math.round(words * 100)),
      meaning === null ? 0n : BigInt(1 + Math.round((meaning + 1) * 10_000)),
      BigInt(exact),
    ])
      put(value);
  return `r.${Buffer.from(bytes).toString("base64url")}`;
}

export function readRanking(after: string): Fused[] {
  if (after.length > AFTER_LETTERS_MOST || !/^r\.[\w-]+$/.test(after)) throw wrong();
  const numbers: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of Buffer.from(after.slice(2), "base64url")) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (shift > 63n) throw wrong();
    if (byte >= 128) continue;
    numbers.push(value);
    value = 0n;
    shift = 0n;
  }
  if (numbers.length % 6 !== 0 || numbers.length > 6 * RANKED_MOST || shift !== 0n) throw wrong();
  const all: Fused[] = [];
  for (let i = 0; i < numbers.length; i += 6) {
    const [resource_id = 0n, number = 0n, relevance = 0n, words = 0n, meaning = 0n, exact = 0n] = numbers.slice(
      i,
      i + 6,
    );
    if (resource_id >= 1n << 63n || number >= 1n << 31n) throw wrong();
    all.push({
      resource_id,
      number: Number(number),
      relevance: Number(relevance) / 10_000,
      words: words === 0n ? null : (Number(words) - 1) / 100,
      meaning: meaning === 0n ? null : (Number(meaning) - 1) / 10_000 - 1,
      exact: Number(exact),
    });
  }
  return all;
}

/** A place in the order of updates, for lists without words. */
export interface Place {
  updated_at: string;
  resource_id: string;
  number: string;
}

export const writePlace = ({ updated_at, resource_id, number }: Record<keyof Place, unknown>): string =>
  `u.${updated_at}.${resource_id}.${number}`;

export function readPlace(after: string): Place | null {
  if (after === "") return null;
  const parts = /^u\.(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\.(\d{1,18})\.(\d{1,9})$/.exec(after);
  if (!parts) throw wrong();
  return { updated_at: parts[1]!, resource_id: parts[2]!, number: parts[3]! };
}
