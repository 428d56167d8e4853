/** Ranges of versions that a dependency allows: read from whatever a catalog has there, written as NuGet writes them. */
import { isSemVer2, normalised, parseVersion, type Version } from "./version.ts";

export interface VersionRange {
  least: Version | null;
  least_included: boolean;
  most: Version | null;
  most_included: boolean;
}

/** What an absent or broken range means. */
export const all: VersionRange = { least: null, least_included: false, most: null, most_included: false };

/** A range; anything that is none allows everything, as the official readers decide. A list (it happens) counts by its first. */
export function readRange(given: unknown): VersionRange {
  if (Array.isArray(given)) return readRange(given[0]);
  if (typeof given !== "string" || given.trim() === "") return all;
  return parseRange(given.trim()) ?? all;
}

function parseRange(text: string): VersionRange | null {
  if (!/^[[(]/.test(text)) {
    const least = parseVersion(text.replaceAll("*", "0"));
    return least && { least, least_included: true, most: null, most_included: false };
  }
  const parts = /^([[(])([^,]*)(?:,([^,]*))?([\])])$/.exec(text);
  if (!parts) return null;
  const [, open, first = "", second, close] = parts;
  const bounds = [first, second ?? first].map((bound) =>
    bound.trim() === "" ? null : parseVersion(bound.replaceAll("*", "0")),
  );
  const [least, most] = bounds as [Version | null, Version | null];
  if (first.trim() !== "" && !least) return null;
  if ((second ?? first).trim() !== "" && !most) return null;
  // One version alone stands in square brackets; in round ones nothing would be left.
  if (second === undefined && (open !== "[" || close !== "]" || !least)) return null;
  return { least, least_included: open === "[" && least !== null, most, most_included: close === "]" && most !== null };
}

/** "[1.0.0, )": with a space, without metadata. */
export function writeRange({ least, least_included, most, most_included }: VersionRange): string {
  const [from, to] = [least ? normalised(least) : "", most ? normalised(most) : ""];
  return `${least_included ? "[" : "("}${from}, ${to}${most_included ? "]" : ")"}`;
}

/** A package whose dependency has such a bound is SemVer 2 itself. */
export const hasSemVer2 = ({ least, most }: VersionRange): boolean =>
  [least, most].some((bound) => bound !== null && isSemVer2(bound));
