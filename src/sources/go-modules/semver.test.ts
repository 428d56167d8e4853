/** Tests of versions as Go writes and orders them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "./fixtures/vectors.json" with { type: "json" };
import { canonical as canonicalOf, compareSemver, isPseudoVersion, parseSemver, versionOfTag } from "./semver.ts";

const canonical = (text: string): string => {
  const v = parseSemver(text);
  return v ? canonicalOf(v) : "";
};

describe("a version", () => {
  it.each(vectors.versions)("$in is $canonical in full", ({ in: text, canonical: full }) => {
    expect(canonical(text)).toBe(full);
  });

  it.each([
    "",
    "v",
    "1.2.3",
    "V1.2.3",
    "v01.2.3",
    "v1.02.3",
    "v1.2.03",
    "v1.2.3-01",
    "v1.2.3-",
    "v1.2.3-a..b",
    "v1.2.3+",
    "v1.2.3 ",
    " v1.2.3",
    "v1.2.3\n",
    "v-1.2.3",
    "v1.2.3.4",
    "v1.2.3-é",
  ])("%j is none", (text) => {
    expect(parseSemver(text)).toBeNull();
  });

  it("is ordered as in the specification of semantic versions", () => {
    const ascending = [
      "v0.9.9",
      "v1.0.0-1",
      "v1.0.0-2",
      "v1.0.0-11",
      "v1.0.0--",
      "v1.0.0-a",
      "v1.0.0-alpha",
      "v1.0.0-alpha.1",
      "v1.0.0-alpha.beta",
    ];
    ascending.push(
      "v1.0.0-beta",
      "v1.0.0-beta.2",
      "v1.0.0-beta.11",
      "v1.0.0-rc.1",
      "v1.0.0",
      "v1.2.0",
      "v1.10.0",
      "v2.0.0",
    );
    ascending.push("v10.0.0", "v99999999999999999999.0.0", "v100000000000000000000.0.0");
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries())
        expect(Math.sign(compareSemver(parseSemver(a)!, parseSemver(b)!)), `${a} and ${b}`).toBe(Math.sign(i - j));
  });

  it("is not ordered by its build metadata", () => {
    expect(compareSemver(parseSemver("v1.0.0+a")!, parseSemver("v1.0.0+b")!)).toBe(0);
  });

  it("in full is itself in full, and the same version", () => {
    const part = fc.nat({ max: 20 }).map(String);
    const word = fc.stringMatching(/^(0|[1-9][0-9]?|[a-c-]{1,3})$/);
    const version = fc
      .record({
        numbers: fc.array(part, { minLength: 1, maxLength: 3 }),
        words: fc.array(word, { maxLength: 3 }),
        build: fc.boolean(),
      })
      .map(({ numbers, words, build }) =>
        numbers.length < 3
          ? `v${numbers.join(".")}`
          : `v${numbers.join(".")}${words.length ? `-${words.join(".")}` : ""}${build ? "+x" : ""}`,
      );
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [x, y] = [parseSemver(a)!, parseSemver(b)!];
        expect(canonical(canonical(a))).toBe(canonical(a));
        expect(compareSemver(x, parseSemver(canonical(a))!)).toBe(0);
        expect(Math.sign(compareSemver(x, y)) + Math.sign(compareSemver(y, x))).toBe(0);
        expect(compareSemver(x, y) === 0).toBe(canonical(a) === canonical(b));
      }),
    );
  });
});

describe("a pseudo-version", () => {
  it.each([
    "v0.0.0-20200101000000-abcdefabcdef",
    "v4.0.0-20200101000000-abcdefabcdef",
    "v1.2.4-0.20200101000000-abcdefabcdef",
    "v1.2.3-pre.0.20200101000000-abcdefabcdef",
    "v2.0.1-0.20200101000000-abcdefabcdef+incompatible",
  ])("is %s", (text) => {
    expect(isPseudoVersion(text)).toBe(true);
  });

  it.each([
    "v1.2.3",
    "v1.2.3-20200101000000-abcdefabcdef",
    "v0.0.0-2020010100000-abcdefabcdef",
    "v1.2.3-pre.20200101000000-abc",
    "v0.0.0-20200101000000",
  ])("is not %s", (text) => {
    expect(isPseudoVersion(text)).toBe(false);
  });
});

describe("a tag (A8)", () => {
  it.each(["v1.2.3", "v0.0.0", "v1.2.3-rc.1", "v10.20.30", "v2.0.0"])("%s names a version", (tag) => {
    expect(versionOfTag(tag)).not.toBeNull();
  });

  it.each([
    "1.2.3",
    "v1",
    "v1.2",
    "v01.2.3",
    "v1.2.3+meta",
    "v2.0.0+incompatible",
    "v0.0.0-20200101000000-abcdefabcdef",
    "release-1",
    "V1.2.3",
    "",
    "v1.2.3/",
  ])("%j names none", (tag) => {
    expect(versionOfTag(tag)).toBeNull();
  });
});
