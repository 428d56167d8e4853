/** Module paths by Go's rules: which are valid, which major versions they may have, and how proxies spell them. */
import { canonical, parseSemver, type Semver } from "./semver.ts";

/** What Windows does not let a file be called, whatever follows a dot. */
const reserved = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

/** What is wrong with a module path, as a sentence; null when it is valid. */
export function pathFault(path: string): string | null {
  if (path === "") return "It is empty.";
  const elements = path.split("/");
  for (const element of elements) {
    const fault = elementFault(element);
    if (fault !== null) return fault;
  }
  const host = elements[0]!;
  if (!/^[a-z0-9.-]+$/.test(host) || host.startsWith("-"))
    return `"${host}" is not a host: it may have small letters, digits, dots and dashes, and no dash first.`;
  if (!host.includes(".")) return `"${host}" is not a host: it has no dot.`;
  return splitPath(path) === null ? "The version at its end is not one that a module path may have." : null;
}

export function isModulePath(path: string): boolean {
  return pathFault(path) === null;
}

function elementFault(element: string): string | null {
  if (element === "") return "It has an empty part: a slash too many.";
  if (!/^[A-Za-z0-9._~-]+$/.test(element)) return `"${element}" has characters besides letters, digits and - . _ ~`;
  if (element.startsWith(".") || element.endsWith(".")) return `"${element}" begins or ends with a dot.`;
  const short = element.split(".")[0]!;
  if (reserved.test(short)) return `"${element}" is a name that Windows keeps for itself.`;
  if (/~[0-9]+$/.test(short)) return `"${element}" looks like a short name of Windows.`;
  return null;
}

export interface SplitPath {
  prefix: string;
  /** `/v2`, for gopkg.in `.v2` or `.v2-unstable`; empty where there is none. */
  major: string;
}

/** A path without its major version, and that; null where what looks like one cannot be: `/v0`, `/v1`, `/v02`, `/v2.1`. */
export function splitPath(path: string): SplitPath | null {
  if (path.startsWith("gopkg.in/")) {
    const [major] = /\.v(0|[1-9][0-9]*(-unstable)?)$/.exec(path) ?? [];
    return major === undefined ? null : { prefix: path.slice(0, -major.length), major };
  }
  const [major] = /\/v[0-9.]+$/.exec(path) ?? [];
  if (major === undefined) return { prefix: path, major: "" };
  return /^\/v([2-9]|[1-9][0-9]+)$/.test(major) ? { prefix: path.slice(0, -major.length), major } : null;
}

/** Whether a module whose path ends in this major may have that version: none means v0 and v1, and what is `+incompatible`. */
export function majorAllows(major: string, v: Semver): boolean {
  if (major === "") return v.major === "0" || v.major === "1" || v.build === "+incompatible";
  const wanted = major.slice(2).replace(/-unstable$/, "");
  // Pseudo-versions that an early Go tool made for .v1, and that are still required somewhere.
  const early = major.startsWith(".") && wanted === "1" && v.prerelease !== "" && canonical(v).startsWith("v0.0.0-");
  return v.major === wanted || early;
}

/** Whether there can be such a version of such a module. */
export function isModuleVersion(path: string, version: string): boolean {
  const split = isModulePath(path) ? splitPath(path) : null;
  const v = parseSemver(version);
  return split !== null && v !== null && majorAllows(split.major, v);
}

/** A path as proxies spell it, for file systems that do not know capitals: `!a` for `A`. */
export function escapePath(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);
}
