/** Tests of versions against a model that asks as the Go tool does: from a module path to the repository, and not the other way. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { majorAllows, splitPath } from "./module-path.ts";
import { compareSemver, parseSemver, versionOfTag } from "./semver.ts";
import { versionsOf } from "./versions.ts";

const root = "github.com/acme/x";

/** Tags, each with the go.mod files at it by directory; what is not named is absent. */
type Repository = Record<string, Record<string, string>>;

const tagsOf = (repository: Repository) => Object.keys(repository).map((name) => ({ name, commit_oid: name }));

const gomods = (repository: Repository) => (commit_oid: string, dir: string) => {
  const module_path = repository[commit_oid]![dir];
  return module_path === undefined ? null : { module_path };
};

/** The same question from the Go tool's side: given a module path, which versions of it does this repository have? */
function askedFor(path: string, repository: Repository): string[] {
  const { prefix, major } = splitPath(path)!;
  const dir = path === root ? "" : prefix.slice(root.length + 1);
  const list: string[] = [];
  const later: string[] = [];
  for (const name of Object.keys(repository)) {
    const version = dir === "" ? name : name.startsWith(`${dir}/`) ? name.slice(dir.length + 1) : "";
    const v = versionOfTag(version);
    if (!v) continue;
    if (majorAllows(major, v)) list.push(version);
    else if (dir === "" && major === "") later.push(version);
  }
  const files = (version: string) => repository[dir === "" ? version : `${dir}/${version}`]!;
  const sorted = (versions: string[]) => versions.sort((a, b) => compareSemver(parseSemver(a)!, parseSemver(b)!));
  const found = list.filter((version) => {
    const of = (file: string | undefined) => file !== undefined && splitPath(file)?.major === major;
    const own = files(version)[dir];
    const apart = major === "" ? undefined : files(version)[dir === "" ? major.slice(1) : `${dir}${major}`];
    if (apart !== undefined) return !(of(own) && of(apart)) && apart === path;
    return own === undefined ? dir === "" && major === "" : own === path;
  });
  const latest = sorted(list).at(-1);
  if (latest !== undefined && files(latest)[dir] !== undefined) return found;
  for (const version of later) {
    const same = sorted(later.filter((other) => parseSemver(other)!.major === parseSemver(version)!.major));
    if (files(same.at(-1)!)[""] === undefined && files(version)[""] === undefined)
      found.push(`${version}+incompatible`);
  }
  return found;
}

describe("whatever the repository", () => {
  const dirs = ["", "sub", "v2", "sub/v2", "sub/v3"];
  const paths = ["", "/v2", "/v3", "/sub", "/sub/v2", "/sub/v3"].map((end) => root + end);
  const tag = fc
    .record({
      dir: fc.constantFrom("", "sub/", "sub/v2/"),
      numbers: fc.tuple(fc.nat(3), fc.nat(2)),
      pre: fc.constantFrom("", "", "-rc.1"),
    })
    .map(({ dir, numbers, pre }) => `${dir}v${numbers[0]}.${numbers[1]}.0${pre}`);
  const files = fc.dictionary(fc.constantFrom(...dirs), fc.constantFrom(...paths, "garbage"), {
    noNullPrototype: true,
  });
  const repositories = fc.dictionary(tag, files, { maxKeys: 8, noNullPrototype: true });

  it("the versions are those that the Go tool finds when it is asked for each path", () => {
    fc.assert(
      fc.property(repositories, (repository) => {
        const asked = paths.flatMap((path) => askedFor(path, repository).map((version) => `${path}@${version}`));
        const { versions } = versionsOf(tagsOf(repository), gomods(repository), root);
        expect(versions.map(({ path, version }) => `${path}@${version}`).sort()).toEqual(asked.sort());
      }),
      { numRuns: 2_000 },
    );
  });

  it("the order of the tags does not matter, no version is told twice, and one round of reading is enough", () => {
    fc.assert(
      fc.property(repositories, fc.infiniteStream(fc.nat()), (repository, dice) => {
        const tags = tagsOf(repository);
        const shuffled = tags
          .map((t) => ({ t, at: dice.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ t }) => t);
        const gomodAt = gomods(repository);
        const whole = versionsOf(tags, gomodAt, root);
        expect(versionsOf(shuffled, gomodAt, root)).toEqual(whole);
        const told = whole.versions.map(({ path, version }) => `${path}@${version}`);
        expect(new Set(told).size).toBe(told.length);
        const { needs } = versionsOf(shuffled, () => undefined, root);
        const read = new Set(needs.map(({ commit_oid, dir }) => `${commit_oid}:${dir}`));
        const asRead = (oid: string, dir: string) => (read.has(`${oid}:${dir}`) ? gomodAt(oid, dir) : undefined);
        expect(versionsOf(tags, asRead, root)).toEqual(whole);
      }),
    );
  });

  it("what is told before everything is read stays true", () => {
    fc.assert(
      fc.property(repositories, fc.func(fc.boolean()), (repository, isRead) => {
        const gomodAt = gomods(repository);
        const some = (oid: string, dir: string) => (isRead(oid, dir) ? gomodAt(oid, dir) : undefined);
        const whole = versionsOf(tagsOf(repository), gomodAt, root).versions;
        for (const one of versionsOf(tagsOf(repository), some, root).versions) expect(whole).toContainEqual(one);
      }),
    );
  });
});
