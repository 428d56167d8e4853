/** Checks that versions are read, normalised and ordered as NuGet does it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareVersions, fullVersion, isSemVer2, normalised, parseVersion, sortKey, versionKey } from "./version.ts";
import { hasSemVer2, readRange, writeRange } from "./version-range.ts";

const read = (text: string) => parseVersion(text)!;

describe("D19: versions", () => {
  it("stand in NuGet's order", () => {
    const in_order = [
      ...["0.9", "1.0.0-0", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta"],
      ...[
        "1.0.0-beta.2",
        "1.0.0-beta.10",
        "1.0.0-beta-1",
        "1.0.0-beta10",
        "1.0.0-beta2",
        "1.0.0-rc",
        "1.0.0",
        "1.0.0.1",
      ],
      ...["1.0.1-a", "1.0.1", "1.2", "1.10", "01.11", "2.0", "10.0"],
    ];
    const sorted = in_order.toReversed().sort((a, b) => compareVersions(read(a), read(b)));
    expect(sorted).toEqual(in_order);
  });

  it.each([
    ["1.0", "1.0.0.0"],
    ["01.2", "1.2.0"],
    ["1.0.0-ALPHA", "1.0.0-alpha"],
    ["1.0.0+one", "1.0.0+two"],
    ["1.0.0-a.01", "1.0.0-a.1"],
  ])("%s and %s are equal", (a, b) => {
    expect(compareVersions(read(a), read(b))).toBe(0);
  });

  it.each([
    ["1", "1.0.0"],
    ["1.2.3.0", "1.2.3"],
    ["1.2.3.4-RC+99", "1.2.3.4-RC"],
    [" 1.022-Beta ", "1.22.0-Beta"],
    ["1.0.0-beta.X+m", "1.0.0-beta.X"],
  ])("%j is shown as %s", (text, shown) => {
    expect(normalised(read(text))).toBe(shown);
    expect(versionKey(read(text))).toBe(shown.toLowerCase());
  });

  it("keep their metadata where all of it is wanted", () => {
    expect(fullVersion(read("1.2+Build.5"))).toBe("1.2.0+Build.5");
  });

  it.each([
    "",
    "a",
    "1.2.3.4.5",
    "1..2",
    "1.2.",
    "1.0-",
    "1.0+",
    "1.0-a..b",
    "1.0-ä",
    "1.2147483648",
    "-1",

    "1 0",
  ])("%j is none", (text) => {
    expect(parseVersion(text)).toBeNull();
  });

  it("with parts up to an int's end sort by size", () => {
    expect(compareVersions(read("1.0.2147483647"), read("1.0.99999"))).toBe(1);
  });

  it("compare like their sort keys, whatever they are", () => {
    const label = fc.stringMatching(/^[0-9A-Za-z-]{1,12}$/);
    const version = fc
      .tuple(fc.array(fc.nat(2_147_483_647), { minLength: 1, maxLength: 4 }), fc.array(label, { maxLength: 3 }))
      .map(([numbers, labels]) => read(`${numbers.join(".")}${labels.length ? `-${labels.join(".")}` : ""}`));
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)));
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        expect(sortKey(a) === sortKey(b)).toBe(reference(a, b) === 0);
        expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(reference(a, b)));
      }),
      { numRuns: 500 },
    );
  });
});

/** The rules of SemVer with NuGet's fourth number, written once more, in the plain way. */
function reference(a: ReturnType<typeof read>, b: ReturnType<typeof read>): number {
  for (const [i, n] of a.numbers.entries()) if (n !== b.numbers[i]) return n - b.numbers[i]!;
  if (a.labels.length === 0 || b.labels.length === 0)
    return b.labels.length === a.labels.length ? 0 : a.labels.length === 0 ? 1 : -1;
  for (let i = 0; i < Math.max(a.labels.length, b.labels.length); i += 1) {
    const [x, y] = [a.labels[i], b.labels[i]];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
    const [m, n] = [x, y].map((l) => (/^\d+$/.test(l) && Number(l) <= 2_147_483_647 ? Number(l) : null));
    if (m !== null && n !== null && m !== undefined && n !== undefined) {
      if (m !== n) return m - n;
    } else if ((m === null) !== (n === null)) return m === null ? 1 : -1;
    else {
      const [p, q] = [x.toLowerCase(), y.toLowerCase()];
      if (p !== q) return p < q ? -1 : 1;
    }
  }
  return 0;
}

describe("D20: SemVer 2", () => {
  it("is a dotted prerelease, or metadata", () => {
    expect(["1.0.0", "1.0.0-beta", "1.0.0.0-rc-1"].map((v) => isSemVer2(read(v)))).toEqual([false, false, false]);
    expect(["1.0.0-beta.1", "1.0.0+m"].map((v) => isSemVer2(read(v)))).toEqual([true, true]);
  });

  it("is in a range with such a bound", () => {
    expect(hasSemVer2(readRange("[1.0.0-a.b, )"))).toBe(true);
    expect(hasSemVer2(readRange("[1.0.0, 2.0.0+x)"))).toBe(true);
    expect(hasSemVer2(readRange("[1.0.0, 2.0.0)"))).toBe(false);
  });
});

describe("D14: a range", () => {
  it.each([
    ["1.0", "[1.0.0, )"],
    ["[1.0, 2.0)", "[1.0.0, 2.0.0)"],
    ["(,2.0]", "(, 2.0.0]"],
    ["[1.5]", "[1.5.0, 1.5.0]"],
    ["(1.0, )", "(1.0.0, )"],
    ["1.*", "[1.0.0, )"],
  ])("%j is %s", (given, written) => {
    expect(writeRange(readRange(given))).toBe(written);
  });

  it.each([[[]], [""], [undefined], [null], ["x"], ["(1.0)"], ["[1.0"], [7]])("%j allows everything", (given) => {
    expect(writeRange(readRange(given))).toBe("(, )");
  });

  it("in a list counts by its first", () => {
    expect(writeRange(readRange(["[2.0.0, )", "[1.0.0, )"]))).toBe("[2.0.0, )");
  });
});
