/** Tests of module paths: which are valid, which versions they may have, how proxies spell them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "./fixtures/vectors.json" with { type: "json" };
import { escapePath, isModulePath, isModuleVersion, majorAllows, pathFault, splitPath } from "./module-path.ts";
import { parseSemver } from "./semver.ts";

describe("a module path", () => {
  it.each([
    "github.com/acme/x",
    "github.com/Acme/X.Y_z~a",
    "example.com",
    "ghe.corp.example/acme/x/sub/v2",
    "gopkg.in/yaml.v2",
    "gopkg.in/yaml.v2-unstable",
    "gopkg.in/check.v0",
    "github.com/acme/v2x",
    "github.com/acme/x/v10",
    "x-y.com/a",
  ])("may be %s", (path) => {
    expect(pathFault(path)).toBeNull();
  });

  it.each([
    ["", /empty/],
    ["/github.com/x", /empty part/],
    ["github.com/x/", /empty part/],
    ["github.com//x", /empty part/],
    ["github.com/../x", /dot/],
    ["github.com/x/..", /dot/],
    ["github.com/./x", /dot/],
    ["github.com/.hidden", /dot/],
    ["github.com/x.", /dot/],
    ["github.com/a b", /characters/],
    ["github.com/a\\b", /characters/],
    ["github.com/ü", /characters/],
    ["github.com/a!b", /characters/],
    ["github.com/a@v1.0.0", /characters/],
    ["github/x", /no dot/],
    ["GitHub.com/x", /host/],
    ["-x.com/y", /host/],
    ["github.com/acme/con", /Windows/],
    ["github.com/acme/NUL.txt", /Windows/],
    ["github.com/acme/progra~1", /short name/],
    ["github.com/acme/x/v1", /version/],
    ["github.com/acme/x/v0", /version/],
    ["github.com/acme/x/v02", /version/],
    ["github.com/acme/x/v2.1", /version/],
    ["gopkg.in/yaml", /version/],
    ["gopkg.in/yaml.v02", /version/],
    ["gopkg.in/yaml.v0-unstable", /version/],
    ["gopkg.in/yaml/v2", /version/],
  ])("may not be %j", (path, why) => {
    expect(pathFault(path)).toMatch(why);
    expect(isModulePath(path)).toBe(false);
  });

  it.each(vectors.modules)("and $version of $path go together: $ok", ({ path, version, ok }) => {
    expect(isModuleVersion(path, version)).toBe(ok);
  });

  it("is told apart from its major version", () => {
    expect(splitPath("github.com/acme/x/v2")).toEqual({ prefix: "github.com/acme/x", major: "/v2" });
    expect(splitPath("github.com/acme/x")).toEqual({ prefix: "github.com/acme/x", major: "" });
    expect(splitPath("gopkg.in/yaml.v2-unstable")).toEqual({ prefix: "gopkg.in/yaml", major: ".v2-unstable" });
  });

  it("that ends in an unstable version allows that version", () => {
    expect(majorAllows(".v2-unstable", parseSemver("v2.0.0")!)).toBe(true);
    expect(majorAllows(".v2-unstable", parseSemver("v1.0.0")!)).toBe(false);
    expect(isModuleVersion("gopkg.in/x.v1-unstable", "v0.0.0-20160102150405-abcdef123456")).toBe(true);
  });

  it("keeps its capitals, which proxies spell !x (A21)", () => {
    expect(escapePath("github.com/BurntSushi/TOML")).toBe("github.com/!burnt!sushi/!t!o!m!l");
    expect(isModulePath("github.com/BurntSushi/TOML")).toBe(true);
  });

  it("is spelled by proxies so that capitals do not matter and nothing is lost", () => {
    const path = fc.stringMatching(/^[a-zA-Z0-9._~/-]{1,30}$/);
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(escapePath(a)).toBe(escapePath(a).toLowerCase());
        expect(escapePath(a).replace(/!([a-z])/g, (_, x: string) => x.toUpperCase())).toBe(a);
        expect(escapePath(a) === escapePath(b)).toBe(a === b);
      }),
    );
  });
});
