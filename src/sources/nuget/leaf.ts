/** What a leaf of the catalog says of one version, read from whatever shape it has: snapshots of ten years, not all of them tidy. */
import { z } from "zod";
import { lowerId } from "./package-id.ts";
import { yearOf } from "./stamp.ts";
import { isSemVer2, parseVersion, versionKey } from "./version.ts";
import { hasSemVer2, readRange, writeRange } from "./version-range.ts";

/** A text, or nothing: some feeds write numbers, lists or null where a text belongs. */
function word(given: unknown): string | null {
  if (typeof given === "string") return given;
  if (Array.isArray(given)) return given.filter((part) => typeof part === "string").join(", ");
  return typeof given === "number" || typeof given === "boolean" ? String(given) : null;
}

function words(given: unknown): string[] {
  if (typeof given === "string") return given.split(/[\s,;]+/).filter(Boolean);
  return Array.isArray(given) ? given.filter((part): part is string => typeof part === "string") : [];
}

/** One or many: JSON-LD drops the list around a single one. */
function many(given: unknown): Record<string, unknown>[] {
  const list = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null);
}

/** Any object is a leaf; what it says is read field by field. */
export const Leaf = z.record(z.string(), z.unknown()).transform((given) => ({
  id: word(given.id),
  version: word(given.version),
  verbatimVersion: word(given.verbatimVersion),
  listed: given.listed,
  published: word(given.published),
  authors: word(given.authors),
  description: word(given.description),
  summary: word(given.summary),
  title: word(given.title),
  tags: words(given.tags),
  iconUrl: word(given.iconUrl),
  language: word(given.language),
  licenseUrl: word(given.licenseUrl),
  licenseExpression: word(given.licenseExpression),
  minClientVersion: word(given.minClientVersion),
  projectUrl: word(given.projectUrl),
  requireLicenseAcceptance: given.requireLicenseAcceptance,
  dependencyGroups: many(given.dependencyGroups),
  packageTypes: many(given.packageTypes),
  deprecation: given.deprecation,
  vulnerabilities: many(given.vulnerabilities),
}));
export type Leaf = z.infer<typeof Leaf>;

/** Not listed where it says so; where it does not say, the year 1900 does. */
export function isListed({ listed, published }: Pick<Leaf, "listed" | "published">): boolean {
  if (typeof listed === "boolean") return listed;
  if (listed === "true" || listed === "false") return listed === "true";
  return published === null || yearOf(published) !== 1900;
}

export interface DependencyGroup {
  targetFramework?: string;
  dependencies?: { id: string; range: string }[];
}

export function dependencyGroups(leaf: Leaf): DependencyGroup[] {
  return leaf.dependencyGroups.map((group) => {
    const { targetFramework } = group;
    const dependencies = many(group.dependencies).flatMap(({ id, range }) =>
      typeof id === "string" && id !== "" ? [{ id, range: writeRange(readRange(range)) }] : [],
    );
    return {
      ...(typeof targetFramework === "string" ? { targetFramework } : {}),
      ...(dependencies.length > 0 ? { dependencies } : {}),
    };
  });
}

/** By its own version, or by a bound of what it needs: either way old clients could not use it. */
export function needsSemVer2(leaf: Leaf, version: string): boolean {
  const own = [version, leaf.verbatimVersion, leaf.version].some((text) => {
    const parsed = text === null ? null : parseVersion(text);
    return parsed !== null && isSemVer2(parsed);
  });
  return (
    own ||
    leaf.dependencyGroups.some((group) => many(group.dependencies).some(({ range }) => hasSemVer2(readRange(range))))
  );
}

/** The types by name; a package that names none is something to depend on. */
export function packageTypes(leaf: Leaf): string[] {
  const names = leaf.packageTypes.flatMap(({ name }) => (typeof name === "string" && name !== "" ? [name] : []));
  return names.length > 0 ? [...new Set(names)] : ["Dependency"];
}

export interface Deprecation {
  message?: string;
  reasons: string[];
  alternatePackage?: { id: string; range: string };
}

function deprecationOf(given: unknown): Deprecation | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { message, reasons, alternatePackage } = given as Record<string, unknown>;
  const other = alternatePackage as { id?: unknown; range?: unknown } | undefined;
  return {
    ...(typeof message === "string" ? { message } : {}),
    reasons: words(reasons),
    ...(typeof other?.id === "string"
      ? { alternatePackage: { id: other.id, range: other.range === "*" ? "*" : writeRange(readRange(other.range)) } }
      : {}),
  };
}

function vulnerabilitiesOf(leaf: Leaf): { advisoryUrl: string; severity: string }[] {
  return leaf.vulnerabilities.flatMap(({ advisoryUrl, severity }) =>
    typeof advisoryUrl === "string" ? [{ advisoryUrl, severity: String(severity ?? "0") }] : [],
  );
}

/** What registration and search show of a version, and nothing that they do not. */
export interface Details {
  authors?: string;
  description?: string;
  summary?: string;
  title?: string;
  tags?: string[];
  iconUrl?: string;
  language?: string;
  licenseUrl?: string;
  licenseExpression?: string;
  minClientVersion?: string;
  projectUrl?: string;
  requireLicenseAcceptance?: boolean;
  dependencyGroups?: DependencyGroup[];
  packageTypes?: string[];
  deprecation?: Deprecation;
  vulnerabilities?: { advisoryUrl: string; severity: string }[];
}

const plain = [
  ...(["authors", "description", "summary", "title", "iconUrl", "language"] as const),
  ...(["licenseUrl", "licenseExpression", "minClientVersion", "projectUrl"] as const),
];
/** A description may be a book; a search shows a part of it and finds it by its beginning. */
const TEXT_MOST = 20_000;

export function detailsOf(leaf: Leaf): Details {
  const details: Details = {};
  for (const field of plain) if (leaf[field]) details[field] = leaf[field].slice(0, TEXT_MOST);
  if (leaf.tags.length > 0) details.tags = leaf.tags.slice(0, 500);
  if (leaf.requireLicenseAcceptance === true || leaf.requireLicenseAcceptance === "true")
    details.requireLicenseAcceptance = true;
  const groups = dependencyGroups(leaf);
  if (groups.length > 0) details.dependencyGroups = groups;
  const deprecation = deprecationOf(leaf.deprecation);
  if (deprecation) details.deprecation = deprecation;
  const vulnerabilities = vulnerabilitiesOf(leaf);
  if (vulnerabilities.length > 0) details.vulnerabilities = vulnerabilities;
  return details;
}

/** Whether a leaf is of the package and version that its page said; an edge of a CDN may have given another's. */
export function isOf(leaf: Leaf, lower_id: string, version_key: string): boolean {
  const key = leaf.version === null ? version_key : keyOf(leaf.version);
  return (leaf.id === null || lowerId(leaf.id) === lower_id) && key === version_key;
}

/** A version's key, also of one that NuGet would not take: then as it is written. */
export function keyOf(text: string): string {
  const version = parseVersion(text);
  return version ? versionKey(version) : text.trim().toLowerCase();
}
