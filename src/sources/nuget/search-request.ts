/** What a search asks for, read from its address with NuGet's defaults and limits. */
import { TidemarkError } from "tidemark";
import { lowerId } from "./package-id.ts";
import { compareVersions, parseVersion } from "./version.ts";

export const SKIP_MOST = 3_000;
export const TAKE_MOST = 1_000;
const TAKE = 20;
const TERMS_MOST = 20;
const TEXT_MOST = 1_000;

export interface SearchRequest {
  q: string;
  terms: Term[];
  skip: number;
  take: number;
  prerelease: boolean;
  semver2: boolean;
  package_type: string | null;
}

export interface Term {
  field: "any" | "id" | "packageid" | "tags" | "text";
  word: string;
}

type Given = (name: string) => string | undefined;

const fields: Record<string, Term["field"]> = {
  id: "id",
  packageid: "packageid",
  tag: "tags",
  tags: "tags",
  title: "text",
  description: "text",
  summary: "text",
  author: "text",
  authors: "text",
};

const invalid = (sentence: string): never => {
  throw new TidemarkError("InputInvalid", sentence);
};

export function readSearch(given: Given): SearchRequest {
  // What the database could not hold is nowhere to be found either.
  const q = (given("q") ?? "").toWellFormed().replaceAll("\u0000", " ").trim();
  if (q.length > TEXT_MOST) invalid(`q may have at most ${TEXT_MOST} characters.`);
  return {
    q,
    terms: termsOf(q),
    skip: count(given("skip"), "skip", 0, SKIP_MOST),
    take: Math.min(count(given("take"), "take", TAKE, Number.MAX_SAFE_INTEGER), TAKE_MOST),
    prerelease: readPrerelease(given),
    semver2: readSemVer2(given),
    package_type: given("packageType")?.trim().toLowerCase() || null,
  };
}

export const readPrerelease = (given: Given): boolean => flag(given("prerelease"), "prerelease");

/** Clients that say nothing know nothing of SemVer 2. */
export function readSemVer2(given: Given): boolean {
  const text = given("semVerLevel");
  if (!text) return false;
  const level = parseVersion(text);
  if (!level) return invalid(`semVerLevel must be a version such as 2.0.0, not "${text.slice(0, 50)}".`);
  return compareVersions(level, parseVersion("2.0.0")!) >= 0;
}

function flag(text: string | undefined, name: string): boolean {
  const lower = text?.toLowerCase();
  if (lower === undefined || lower === "" || lower === "false") return false;
  return lower === "true" || invalid(`${name} must be true or false, not "${lower.slice(0, 50)}".`);
}

function count(text: string | undefined, name: string, standard: number, most: number): number {
  if (text === undefined || text === "") return standard;
  if (!/^\d{1,15}$/.test(text) || Number(text) > most)
    invalid(`${name} must be a whole number${most < 1e6 ? ` up to ${most}` : ""}, not "${text.slice(0, 50)}".`);
  return Number(text);
}

/** Words and quoted phrases, each perhaps with a field before it. */
export function termsOf(q: string): Term[] {
  const terms: Term[] = [];
  for (const [, name, phrase, bare] of q.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const known = name === undefined ? undefined : fields[name.toLowerCase()];
    const text = phrase ?? bare ?? "";
    const word = lowerId(name !== undefined && known === undefined ? `${name}:${text}` : text).trim();
    if (word !== "") terms.push({ field: known ?? "any", word });
  }
  return terms.slice(0, TERMS_MOST);
}
