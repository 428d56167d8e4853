/** The tests that are found in files of each framework, against what a person found in them. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { languageOf } from "../../../src/sources/repositories/languages.ts";
import { testsIn } from "../../../src/sources/repositories/tests/inventory.ts";

const folder = new URL("./labelled/", import.meta.url);

interface Labelled {
  path: string;
  framework: string | null;
  expected: string[];
  text: string;
}

/** A path, a framework, a line for each test from the outside in, and the file itself. */
function read(name: string): Labelled {
  const whole = readFileSync(new URL(name, folder), "utf8");
  const cut = whole.indexOf("---\n");
  const lines = whole.slice(0, cut).split("\n");
  const said = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? null;
  const expected = lines.filter((line) => line.startsWith("= ")).map((line) => line.slice(2));
  return { path: said("path")!, framework: said("framework"), expected, text: whole.slice(cut + 4) };
}

function found({ path, text }: Labelled): { framework: string | null; cases: string[]; lines: number[] } {
  const language = languageOf(path, Buffer.from(text))!;
  const tests = testsIn(path, language, text);
  const cases = (tests?.cases ?? []).map(({ suites, name, status, parameterised }) => {
    const marks = [status === "active" ? "" : status, parameterised ? "many" : ""].filter(Boolean).join(", ");
    return `${[...suites, name].join(" > ")}${marks === "" ? "" : ` | ${marks}`}`;
  });
  return { framework: tests?.framework ?? null, cases, lines: (tests?.cases ?? []).map(({ line }) => line) };
}

const names = readdirSync(folder).sort();

describe("the tests in a file", () => {
  it.each(names)("are those that a person found: %s", (name) => {
    const labelled = read(name);
    const { cases, framework } = found(labelled);
    expect({ framework, cases: cases.toSorted() }).toEqual({
      framework: labelled.framework,
      cases: labelled.expected.toSorted(),
    });
  });

  it("are found with precision and recall of at least 0.95 over all frameworks", () => {
    const all = names
      .map(read)
      .map((labelled) => ({ expected: new Set(labelled.expected), got: new Set(found(labelled).cases) }));
    const hits = all.reduce((sum, { expected, got }) => sum + [...got].filter((one) => expected.has(one)).length, 0);
    const given = all.reduce((sum, { got }) => sum + got.size, 0);
    const wanted = all.reduce((sum, { expected }) => sum + expected.size, 0);
    expect(wanted).toBeGreaterThan(80);
    expect(hits / given).toBeGreaterThanOrEqual(0.95);
    expect(hits / wanted).toBeGreaterThanOrEqual(0.95);
  });

  it("have the line that they begin on", () => {
    const labelled = read("jest.txt");
    const lines = labelled.text.split("\n");
    for (const line of found(labelled).lines) expect(lines[line - 1]).toMatch(/\b(x?it|test)\b/);
  });

  it("are none where a file is nested deeper than people write", () => {
    const deep = `import { it } from "vitest";\n${"[".repeat(200_000)}`;
    expect(() => testsIn("a.test.ts", "TypeScript", deep)).not.toThrow();
  });
});
