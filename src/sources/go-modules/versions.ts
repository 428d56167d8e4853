/** Which versions of which modules the Go tool sees in a repository: a pure function of its tags and of the go.mod files at them. */
import { isModulePath, majorAllows, splitPath } from "./module-path.ts";
import { compareSemver, type Semver, versionOfTag } from "./semver.ts";

export interface Tag {
  name: string;
  /** The commit that the tag stands for, peeled. */
  commit_oid: string;
}

/** Where a go.mod may be; the directory has no slash at its ends and is empty for the root. */
export interface Place {
  commit_oid: string;
  dir: string;
}

/** What was found there: a go.mod with its declared path (empty if it has none), null for no go.mod, undefined if nobody looked yet. */
export type GomodAt = (commit_oid: string, dir: string) => { module_path: string } | null | undefined;

export interface ModuleVersion {
  path: string;
  version: string;
  tag: string;
  commit_oid: string;
}

export interface Versions {
  /** What has to be read before the versions are known; each place once. */
  needs: Place[];
  /** What is known so far: all of it once nothing is needed. By path, then oldest version first. */
  versions: ModuleVersion[];
}

export interface VersionsOptions {
  /**
   * Whether a commit without go.mod counts as a module, as the Go tool has it: every repository does, even one without any Go. Say no for
   * repositories that never had Go in them.
   */
  without_gomod?: boolean;
}

/** A tag that names a version, taken apart. */
interface Candidate extends Tag {
  dir: string;
  version: string;
  v: Semver;
}

interface Found extends ModuleVersion {
  v: Semver;
}

function found({ name, commit_oid, v }: Candidate, path: string, version: string): Found {
  return { path, version, tag: name, commit_oid, v };
}

/**
 * The versions of all modules of a repository. Call it, read the go.mod files that it needs, and call it again: one round is enough, and
 * a tag that cannot name a version costs no reading at all.
 */
export function versionsOf(
  tags: readonly Tag[],
  gomodAt: GomodAt,
  root: string,
  { without_gomod = true }: VersionsOptions = {},
): Versions {
  const paths = new Paths(root);
  const candidates = tags.flatMap((tag) => candidatesOf(tag, paths));
  const needs = new Map<string, Place>();
  const known = candidates.filter((c) => {
    const unread = placesOf(c).filter((at) => gomodAt(at.commit_oid, at.dir) === undefined);
    for (const at of unread) needs.set(`${at.commit_oid}:${at.dir}`, at);
    return unread.length === 0;
  });
  const declared = known.flatMap((c) => declaredVersion(c, gomodAt, paths));
  const bare = without_gomod ? bareVersions(candidates, gomodAt, root) : [];
  return { needs: [...needs.values()].sort(byPlace), versions: onlyOnce([...declared, ...bare]) };
}

/** `dir/v1.2.3`, if a module in that directory could have that version; what could not is not looked for. */
function candidatesOf({ name, commit_oid }: Tag, paths: Paths): Candidate[] {
  const slash = name.lastIndexOf("/");
  const [dir, version] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  const v = versionOfTag(version);
  if (!v || slash === 0 || (dir !== "" && !paths.areFound(dir, needsMajor(v) ? `/v${v.major}` : ""))) return [];
  return [{ name, commit_oid, dir, version, v }];
}

const needsMajor = (v: Semver): boolean => v.major !== "0" && v.major !== "1";

/** The directory of major versions from 2 on: `v2` beside the code of v1, or the module's own directory on a branch. */
const majorDir = ({ dir, v }: Candidate): string => (dir === "" ? `v${v.major}` : `${dir}/v${v.major}`);

/** Where its go.mod may be. Both, for both have to be known: if both claim the major version, the Go tool takes neither. */
function placesOf(c: Candidate): Place[] {
  const { commit_oid, dir } = c;
  return needsMajor(c.v)
    ? [
        { commit_oid, dir },
        { commit_oid, dir: majorDir(c) },
      ]
    : [{ commit_oid, dir }];
}

/** The version under the path that its go.mod declares, if that path can be found by the Go tool in this directory. */
function declaredVersion(c: Candidate, gomodAt: GomodAt, paths: Paths): Found[] {
  const claimed = (dir: string): string | null => {
    const path = gomodAt(c.commit_oid, dir)?.module_path ?? "";
    const major = path === "" ? null : paths.majorOf(path);
    return major !== null && majorAllows(major, c.v) ? path : null;
  };
  const give = (path: string | null) => (path !== null && paths.leads(path, c.dir) ? [found(c, path, c.version)] : []);
  const own = claimed(c.dir);
  // gopkg.in knows no directories of major versions.
  if (!needsMajor(c.v) || own?.startsWith("gopkg.in/")) return give(own);
  const apart = claimed(majorDir(c));
  if (apart !== null) return own === null ? give(apart) : [];
  // A go.mod in that directory that claims something else spoils the version.
  return gomodAt(c.commit_oid, majorDir(c)) === null ? give(own) : [];
}

/** Questions about paths in one repository, each answered once: there may be 80,000 tags of a few hundred modules. */
class Paths {
  readonly #root: string;
  readonly #found = new Map<string, boolean>();
  readonly #majors = new Map<string, string | null>();
  readonly #leads = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Whether the Go tool would look for modules with that major version in that directory. The major version at a path's end is not part of
   * the directory: so `x/v2/v1.0.0` is nobody's tag, and the module in x/v2 is tagged `x/v2.0.0`. The repository's name need not be a valid
   * path, because modules may be declared under another.
   */
  areFound(dir: string, major: string): boolean {
    return once(this.#found, `${dir} ${major}`, () => {
      const named = isModulePath(this.#root) && !this.#root.startsWith("gopkg.in/");
      const below = `${named ? this.#root : "example.com"}/${dir}`;
      return isModulePath(below + major) && splitPath(below + major)?.prefix === below;
    });
  }

  /** The major version that a path ends in, empty where there is none; null where what looks like one cannot be. */
  majorOf(path: string): string | null {
    return once(this.#majors, path, () => splitPath(path)?.major ?? null);
  }

  /**
   * Whether a path is valid and can lead to a directory of this repository. The path of the repository is known; any other name may have been
   * given to its root, so that only the end can be compared. gopkg.in names roots only.
   */
  leads(path: string, dir: string): boolean {
    return once(this.#leads, `${path} ${dir}`, () => {
      if (!isModulePath(path)) return false;
      if (path.startsWith("gopkg.in/")) return dir === "";
      const { prefix } = splitPath(path)!;
      const [low, low_root] = [prefix.toLowerCase(), this.#root.toLowerCase()];
      // Hosts of repositories do not tell capitals apart.
      if (low === low_root) return dir === "";
      if (low.startsWith(`${low_root}/`)) return prefix.slice(this.#root.length + 1) === dir;
      return dir === "" || prefix.endsWith(`/${dir}`);
    });
  }
}

function once<T>(answers: Map<string, T>, question: string, answer: () => T): T {
  const known = answers.get(question);
  if (known !== undefined) return known;
  const found = answer();
  answers.set(question, found);
  return found;
}

/**
 * Versions of commits without go.mod, which only the root can have: v0 and v1 as they are, later ones as `+incompatible`. Those are hidden when
 * the latest of v0 and v1 has a go.mod, and those of one major version when its latest has.
 */
function bareVersions(candidates: Candidate[], gomodAt: GomodAt, root: string): Found[] {
  const split = isModulePath(root) ? splitPath(root) : null;
  if (split === null || split.major !== "") return [];
  const at_root = candidates.filter((c) => c.dir === "").sort((a, b) => compareSemver(a.v, b.v));
  const gomod = (c: Candidate | undefined) => (c ? gomodAt(c.commit_oid, "") : null);
  const compatible = at_root.filter((c) => !needsMajor(c.v));
  const bare = compatible.filter((c) => gomod(c) === null).map((c) => found(c, root, c.version));
  if (gomod(compatible.at(-1)) !== null) return bare;
  const latest = new Map(at_root.filter((c) => needsMajor(c.v)).map((c) => [c.v.major, c]));
  const incompatible = at_root
    .filter((c) => needsMajor(c.v) && gomod(latest.get(c.v.major)) === null && gomod(c) === null)
    .map((c) => found(c, root, `${c.version}+incompatible`));
  return [...bare, ...incompatible];
}

/** One tag for each version of a path: of several directories that claim it, the one nearest to the root. */
function onlyOnce(all: Found[]): ModuleVersion[] {
  const modules = new Map<string, Map<string, Found>>();
  for (const one of all) {
    const kept = modules.get(one.path) ?? new Map<string, Found>();
    modules.set(one.path, kept);
    const other = kept.get(one.version);
    if (!other || byNearness(one, other) < 0) kept.set(one.version, one);
  }
  const paths = [...modules.keys()].sort(compareText);
  return paths.flatMap((path) =>
    [...modules.get(path)!.values()]
      .sort((a, b) => compareSemver(a.v, b.v) || compareText(a.version, b.version))
      .map(({ version, tag, commit_oid }) => ({ path, version, tag, commit_oid })),
  );
}

function byNearness(a: Found, b: Found): number {
  const depth = ({ tag }: Found) => tag.split("/").length;
  return depth(a) - depth(b) || compareText(a.tag, b.tag) || compareText(a.commit_oid, b.commit_oid);
}

const byPlace = (a: Place, b: Place): number => compareText(a.commit_oid, b.commit_oid) || compareText(a.dir, b.dir);

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
