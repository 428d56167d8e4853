/** NuGet versions: read, normalised, ordered and told apart exactly as NuGet does it. */

export interface Version {
  /** Four numbers; those that were not written are 0. */
  numbers: [number, number, number, number];
  /** The labels of a prerelease, as written; none for a release. */
  labels: string[];
  metadata: string | null;
}

const INT_MOST = 2_147_483_647;
const label_shape = /^[0-9A-Za-z-]+$/;

/** The version that a text says; null when NuGet would not take it. One to four numbers, labels after "-", metadata after "+". */
export function parseVersion(given: string): Version | null {
  const text = given.trim();
  const plus = text.indexOf("+");
  const before = plus < 0 ? text : text.slice(0, plus);
  const metadata = plus < 0 ? null : text.slice(plus + 1);
  const minus = before.indexOf("-");
  const labels = minus < 0 ? [] : before.slice(minus + 1).split(".");
  const numbers = readNumbers(minus < 0 ? before : before.slice(0, minus));
  if (!numbers) return null;
  if (minus >= 0 && !labels.every((label) => label_shape.test(label))) return null;
  if (metadata !== null && !metadata.split(".").every((part) => label_shape.test(part))) return null;
  return { numbers, labels, metadata };
}

function readNumbers(text: string): Version["numbers"] | null {
  const parts = text.split(".");
  if (parts.length > 4) return null;
  const numbers: Version["numbers"] = [0, 0, 0, 0];
  for (const [i, part] of parts.entries()) {
    // White space around a number is old, and still allowed.
    const digits = part.trim();
    if (!/^\d+$/.test(digits) || Number(digits) > INT_MOST) return null;
    numbers[i] = Number(digits);
  }
  return numbers;
}

/** Without metadata, leading zeros and a fourth number of 0: what NuGet shows. */
export function normalised({ numbers, labels }: Version): string {
  const shown = numbers[3] === 0 ? numbers.slice(0, 3) : numbers;
  return `${shown.join(".")}${labels.length > 0 ? `-${labels.join(".")}` : ""}`;
}

/** The normalised version with its metadata. */
export function fullVersion(version: Version): string {
  return `${normalised(version)}${version.metadata === null ? "" : `+${version.metadata}`}`;
}

/** What two versions share when NuGet holds them for one: case does not count, metadata does not count. */
export const versionKey = (version: Version): string => normalised(version).toLowerCase();

/** Clients that know nothing of SemVer 2 must not see these. */
export const isSemVer2 = ({ labels, metadata }: Version): boolean => labels.length > 1 || metadata !== null;
export const isPrerelease = ({ labels }: Version): boolean => labels.length > 0;

/**
 * A text whose order by bytes is the order of versions, so that the database can sort: ten digits for each number; a release after
 * its prereleases; of labels, numbers before words, numbers by size, words without case, fewer before more.
 */
export function sortKey({ numbers, labels }: Version): string {
  const parts = numbers.map((n) => String(n).padStart(10, "0")).join("");
  if (labels.length === 0) return `${parts}~`;
  return `${parts}-${labels.map(labelKey).join("")}`;
}

function labelKey(label: string): string {
  const digits = label.replace(/^0+(?=\d)/, "");
  // What is too large for an int is a word to NuGet.
  if (/^\d+$/.test(label) && Number(digits) <= INT_MOST) return `a${String(digits.length).padStart(2, "0")}${digits}`;
  // "!" stands before all that a label may contain.
  return `b${label.toLowerCase()}!`;
}

export function compareVersions(a: Version, b: Version): number {
  const [x, y] = [sortKey(a), sortKey(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
