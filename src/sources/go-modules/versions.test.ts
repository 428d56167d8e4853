/** Tests of which versions follow from tags and go.mod files: the pitfalls, one by one. */
import { describe, expect, it } from "vitest";
import { type Tag, versionsOf } from "./versions.ts";

const root = "github.com/acme/x";

/** Tags, each with the go.mod files at it by directory; what is not named is absent. */
type Repository = Record<string, Record<string, string>>;

const tagsOf = (repository: Repository): Tag[] =>
  Object.keys(repository).map((name) => ({ name, commit_oid: `c ${name}` }));

const gomods = (repository: Repository) => (commit_oid: string, dir: string) => {
  const module_path = repository[commit_oid.slice(2)]![dir];
  return module_path === undefined ? null : { module_path };
};

/** What is seen of it, as path@version. */
function seen(repository: Repository, at = root, options = {}): string[] {
  const { needs, versions } = versionsOf(tagsOf(repository), gomods(repository), at, options);
  expect(needs).toEqual([]);
  return versions.map(({ path, version }) => `${path}@${version}`);
}

/** Where it would look. */
const needed = (...names: string[]): string[] => {
  const tags = names.map((name) => ({ name, commit_oid: name }));
  return versionsOf(tags, () => undefined, root).needs.map(({ commit_oid, dir }) => `${commit_oid}:${dir}`);
};

describe("tags at the root", () => {
  it("are versions of the path that their go.mod declares (A11)", () => {
    expect(seen({ "v1.0.0": { "": root } })).toEqual([`${root}@v1.0.0`]);
    expect(seen({ "v1.0.0": { "": "go.acme.example/x" } })).toEqual(["go.acme.example/x@v1.0.0"]);
    expect(seen({ "v1.0.0": { "": "github.com/old/name" } })).toEqual(["github.com/old/name@v1.0.0"]);
    expect(seen({ "v1.0.0": { "": root }, "v1.1.0": { "": "go.acme.example/x" } })).toEqual([
      `${root}@v1.0.0`,
      "go.acme.example/x@v1.1.0",
    ]);
  });

  it("keep the capitals of the declared path, or of the repository where nothing is declared (A21)", () => {
    expect(seen({ "v1.0.0": { "": "github.com/Acme/X" } })).toEqual(["github.com/Acme/X@v1.0.0"]);
    expect(seen({ "v1.0.0": {} }, "github.com/Acme/X")).toEqual(["github.com/Acme/X@v1.0.0"]);
  });

  it("are versions only if they are written in full (A8)", () => {
    const names = [
      "1.2.3",
      "v1",
      "v1.2",
      "v01.2.3",
      "v1.2.3+meta",
      "v0.0.0-20200101000000-abcdefabcdef",
      "release-1",
      "V1.2.3",
    ];
    expect(seen(Object.fromEntries(["v1.2.3", ...names].map((name) => [name, { "": root }])))).toEqual([
      `${root}@v1.2.3`,
    ]);
    expect(needed(...names)).toEqual([]);
  });

  it("without go.mod are versions of the repository's path; unless they are not to count", () => {
    expect(seen({ "v0.1.0": {}, "v1.0.0": {} })).toEqual([`${root}@v0.1.0`, `${root}@v1.0.0`]);
    expect(seen({ "v0.1.0": {}, "v1.0.0": { "": root } }, root, { without_gomod: false })).toEqual([`${root}@v1.0.0`]);
  });

  it("are no versions where the go.mod declares no valid path, or one that leads elsewhere in this repository", () => {
    for (const path of ["", "x", "github.com/acme/../x", "github.com/acme/x y", `${root}/sub`, `${root}/v1`])
      expect(seen({ "v1.0.0": { "": path } }), path).toEqual([]);
  });

  it("without go.mod are no versions where the repository's name is no valid path", () => {
    expect(seen({ "v1.0.0": {}, "v1.1.0": { "": "go.acme.example/x" } }, "github.com/acme/.x")).toEqual([
      "go.acme.example/x@v1.1.0",
    ]);
    expect(seen({ "v2.0.0": {} }, "github.com/acme/v2")).toEqual([]);
  });
});

describe("major versions from 2 on (A10)", () => {
  it("are found at the root, when its go.mod says so", () => {
    expect(seen({ "v2.0.0": { "": `${root}/v2` } })).toEqual([`${root}/v2@v2.0.0`]);
    expect(seen({ "v12.0.0": { "": `${root}/v12` } })).toEqual([`${root}/v12@v12.0.0`]);
  });

  it("are found in a directory of their own", () => {
    expect(seen({ "v2.0.0": { "": root, v2: `${root}/v2` } })).toEqual([`${root}/v2@v2.0.0`]);
    expect(seen({ "sub/v2.0.0": { sub: `${root}/sub`, "sub/v2": `${root}/sub/v2` } })).toEqual([
      `${root}/sub/v2@v2.0.0`,
    ]);
  });

  it("are no versions when both claim them, or when the directory claims something else", () => {
    expect(seen({ "v2.0.0": { "": `${root}/v2`, v2: `${root}/v2` } })).toEqual([]);
    expect(seen({ "v2.0.0": { "": `${root}/v2`, v2: root } })).toEqual([]);
  });

  it("do not match another version's go.mod", () => {
    expect(seen({ "v1.0.0": { "": `${root}/v2` } })).toEqual([]);
    expect(seen({ "v3.0.0": { "": `${root}/v2` } })).toEqual([]);
    expect(seen({ "v2.0.0": { "": root } })).toEqual([]);
  });

  it("of gopkg.in end in .vN, at the root only", () => {
    expect(seen({ "v2.4.0": { "": "gopkg.in/yaml.v2" } })).toEqual(["gopkg.in/yaml.v2@v2.4.0"]);
    expect(seen({ "v1.0.0": { "": "gopkg.in/yaml.v1" }, "v3.0.0": { "": "gopkg.in/yaml.v2" } })).toEqual([
      "gopkg.in/yaml.v1@v1.0.0",
    ]);
    expect(seen({ "v2.4.0": { "": "gopkg.in/yaml.v2", v2: "else" } })).toEqual(["gopkg.in/yaml.v2@v2.4.0"]);
    expect(seen({ "yaml/v2.4.0": { yaml: "gopkg.in/yaml.v2" } })).toEqual([]);
  });
});

describe("+incompatible (A10)", () => {
  it("are later versions without any go.mod", () => {
    expect(seen({ "v1.0.0": {}, "v2.0.0": {}, "v3.1.0": {} })).toEqual([
      `${root}@v1.0.0`,
      `${root}@v2.0.0+incompatible`,
      `${root}@v3.1.0+incompatible`,
    ]);
  });

  it("are hidden when the latest of v0 and v1 has a go.mod, whatever it says", () => {
    expect(seen({ "v1.0.0": { "": root }, "v2.0.0": {} })).toEqual([`${root}@v1.0.0`]);
    expect(seen({ "v0.9.0": {}, "v1.0.0": { "": "garbage" }, "v2.0.0": {} })).toEqual([`${root}@v0.9.0`]);
    expect(seen({ "v1.0.0": {}, "v1.1.0-rc.1": { "": root }, "v2.0.0": {} })).toEqual([
      `${root}@v1.0.0`,
      `${root}@v1.1.0-rc.1`,
    ]);
  });

  it("are not hidden when only an earlier one has", () => {
    expect(seen({ "v1.0.0": { "": root }, "v1.10.0": {}, "v2.0.0": {} })).toEqual([
      `${root}@v1.0.0`,
      `${root}@v1.10.0`,
      `${root}@v2.0.0+incompatible`,
    ]);
  });

  it("of one major version are hidden when its latest has a go.mod; others are not", () => {
    expect(seen({ "v2.0.0": {}, "v2.10.0": { "": `${root}/v2` }, "v2.9.0": {}, "v3.0.0": {} })).toEqual([
      `${root}@v3.0.0+incompatible`,
      `${root}/v2@v2.10.0`,
    ]);
  });

  it("are not made of a version whose own commit has a go.mod", () => {
    expect(seen({ "v2.0.0": { "": root }, "v2.1.0": {} })).toEqual([`${root}@v2.1.0+incompatible`]);
  });

  it("are not made in directories, nor of tags that say so themselves", () => {
    expect(seen({ "sub/v2.0.0": {}, "v2.0.0+incompatible": {} })).toEqual([]);
  });
});

describe("modules in directories (A9)", () => {
  it("are tagged dir/v1.2.3, and need a go.mod there", () => {
    expect(seen({ "sub/v1.0.0": { sub: `${root}/sub` } })).toEqual([`${root}/sub@v1.0.0`]);
    expect(seen({ "a/b/v0.1.0": { "a/b": `${root}/a/b` } })).toEqual([`${root}/a/b@v0.1.0`]);
    expect(seen({ "sub/v1.0.0": {} })).toEqual([]);
    expect(seen({ "sub/v1.0.0": { "": root } })).toEqual([]);
  });

  it("declare a path that leads there", () => {
    expect(seen({ "sub/v1.0.0": { sub: "go.acme.example/x/sub" } })).toEqual(["go.acme.example/x/sub@v1.0.0"]);
    expect(seen({ "sub/v1.0.0": { sub: "go.acme.example/x" } })).toEqual([]);
    expect(seen({ "sub/v1.0.0": { sub: root } })).toEqual([]);
    expect(seen({ "sub/v1.0.0": { sub: `${root}/a/sub` } })).toEqual([]);
    expect(seen({ "sub/v1.0.0": { sub: `${root}/Sub` } })).toEqual([]);
  });

  it("are one module if two claim the same path: the one nearer to the root has it", () => {
    const repository = {
      "a/sub/v1.0.0": { "a/sub": "acme.example/a/sub" },
      "sub/v1.0.0": { sub: "acme.example/a/sub" },
    };
    for (const tags of [tagsOf(repository), tagsOf(repository).reverse()])
      expect(versionsOf(tags, gomods(repository), root).versions).toEqual([
        { path: "acme.example/a/sub", version: "v1.0.0", tag: "sub/v1.0.0", commit_oid: "c sub/v1.0.0" },
      ]);
  });
});

describe("what has to be read", () => {
  it("is one go.mod for each commit and directory, two for later major versions", () => {
    expect(needed("v1.0.0", "sub/v1.0.0")).toEqual(["sub/v1.0.0:sub", "v1.0.0:"]);
    expect(needed("v2.0.0", "sub/v3.0.0")).toEqual(["sub/v3.0.0:sub", "sub/v3.0.0:sub/v3", "v2.0.0:", "v2.0.0:v2"]);
    const same = ["v1.0.0", "v1.0.1", "sub/v1.0.0"].map((name) => ({ name, commit_oid: "c" }));
    expect(versionsOf(same, () => undefined, root).needs).toEqual([
      { commit_oid: "c", dir: "" },
      { commit_oid: "c", dir: "sub" },
    ]);
  });

  it("is nothing for tags that nobody could ask for", () => {
    expect(
      needed("sub/v1.0.0+meta", "a b/v1.0.0", "../v1.0.0", "a/../b/v1.0.0", "/v1.0.0", "a//v1.0.0", ".hidden/v1.0.0"),
    ).toEqual([]);
    // The module in x/v2 is tagged x/v2.0.0.
    expect(needed("x/v2/v1.0.0", "v1/v1.0.0", "v2/v0.1.0", "ü/v1.0.0", "con/v1.0.0")).toEqual([]);
  });

  it("is nothing that is known, and what is known is told at once", () => {
    const repository: Repository = { "v1.0.0": { "": root }, "v2.0.0": {} };
    const gomodAt = (oid: string, dir: string) => (oid === "c v1.0.0" ? gomods(repository)(oid, dir) : undefined);
    const { needs, versions } = versionsOf(tagsOf(repository), gomodAt, root);
    expect(needs.map(({ dir }) => dir)).toEqual(["", "v2"]);
    expect(versions.map(({ version }) => version)).toEqual(["v1.0.0"]);
  });

  it("of an +incompatible version decides before it is told", () => {
    const tags = tagsOf({ "v1.0.0": {}, "v2.0.0": {} });
    const gomodAt = (oid: string) => (oid === "c v1.0.0" ? undefined : null);
    expect(versionsOf(tags, gomodAt, root).versions).toEqual([]);
  });
});

describe("tags as they are found in the wild", () => {
  it("of etcd: modules of the third major version in directories, and what only looks like a version", () => {
    const etcd = "go.etcd.io/etcd";
    const names = [
      "0",
      "v3.2.0+git",
      "v3.2.10_plus_git",
      "v2.3.8",
      "v3.5.0",
      "api/v3.5.0-alpha.0",
      "client/pkg/v3.5.0",
    ];
    const declared: Repository = {
      ...Object.fromEntries(names.map((name) => [name, {}])),
      "v3.5.0": { "": `${etcd}/v3` },
      "api/v3.5.0-alpha.0": { api: `${etcd}/api/v3` },
      "client/pkg/v3.5.0": { "client/pkg": `${etcd}/client/pkg/v3` },
    };
    expect(seen(declared, "github.com/etcd-io/etcd")).toEqual([
      "github.com/etcd-io/etcd@v2.3.8+incompatible",
      `${etcd}/api/v3@v3.5.0-alpha.0`,
      `${etcd}/client/pkg/v3@v3.5.0`,
      `${etcd}/v3@v3.5.0`,
    ]);
  });

  it("of others: notes, other languages, four numbers, no v", () => {
    const names = [
      "v0.2.1.1",
      "py/1.33.10",
      "ent-changelog-1.14.11",
      "last-go-modable",
      "tags/old-stable-website",
      "0.0.5",
    ];
    expect(needed(...names)).toEqual([]);
    expect(needed("bridge/opencensus/examples/bridge/v0.14.0")).toHaveLength(1);
  });
});
