/** Versions as Go writes and orders them: `v` first, nothing shortened, and no pseudo-versions among tags. */

export interface Semver {
  /** Digits as text: there is no largest number. */
  major: string;
  minor: string;
  patch: string;
  /** With its `-`, or empty. */
  prerelease: string;
  /** With its `+`, or empty. */
  build: string;
}

const number = "(?:0|[1-9][0-9]*)";
const identifier = "(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";
const full = new RegExp(
  `^v(${number})\\.(${number})\\.(${number})(-${identifier}(?:\\.${identifier})*)?(\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
const short = new RegExp(`^v(${number})(?:\\.(${number}))?$`);

/** The parts of a version, or null if it is none; `v1` and `v1.2` are versions, and so stand for `v1.0.0` and `v1.2.0`. */
export function parseSemver(text: string): Semver | null {
  const whole = full.exec(text);
  if (whole) {
    const [, major, minor, patch, prerelease = "", build = ""] = whole;
    return { major: major!, minor: minor!, patch: patch!, prerelease, build };
  }
  const begun = short.exec(text);
  return begun && { major: begun[1]!, minor: begun[2] ?? "0", patch: "0", prerelease: "", build: "" };
}

/** The version in full and without build metadata. */
export function canonical({ major, minor, patch, prerelease }: Semver): string {
  return `v${major}.${minor}.${patch}${prerelease}`;
}

/** By precedence, as numbers however long. Build metadata does not count. */
export function compareSemver(a: Semver, b: Semver): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  );
}

function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A release is later than its pre-releases; numbers come before words; the longer of two that begin alike is later. */
function comparePrereleases(a: string, b: string): number {
  if (a === "" || b === "") return Number(b !== "") - Number(a !== "");
  const [xs, ys] = [a.slice(1).split("."), b.slice(1).split(".")];
  for (let i = 0; i < Math.min(xs.length, ys.length); i += 1) {
    const [x, y] = [xs[i]!, ys[i]!];
    const [x_number, y_number] = [/^[0-9]+$/.test(x), /^[0-9]+$/.test(y)];
    if (x_number !== y_number) return x_number ? -1 : 1;
    const order = x_number ? compareNumbers(x, y) : compareText(x, y);
    if (order !== 0) return order;
  }
  return xs.length - ys.length;
}

const pseudo =
  /^v[0-9]+\.(0\.0-|[0-9]+\.[0-9]+-([^+]*\.)?0\.)[0-9]{14}-[A-Za-z0-9]+(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/** Made by the Go tool out of a commit's time and hash. A tag that looks like one is not a version: it could name another commit. */
export function isPseudoVersion(text: string): boolean {
  return pseudo.test(text) && parseSemver(text) !== null;
}

/**
 * The version that a tag (without its directory) names, or null. It has to be written in full; `+incompatible` is a thing that the
 * Go tool adds, and looks for the tag without it.
 */
export function versionOfTag(text: string): Semver | null {
  const v = parseSemver(text);
  return v !== null && canonical(v) === text && !pseudo.test(text) ? v : null;
}
