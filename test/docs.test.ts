/** Keeps the documents true: what they list is what the code has, and their links lead somewhere. */
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { catalogue } from "../src/errors.ts";
import { filesOf } from "./tree.ts";
import type { SourceFile } from "./walls.ts";

const root = path.resolve(import.meta.dirname, "..");
const at_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
const documents = filesOf(["docs", ...at_root], [".md"]);
const document = (file: string): string => documents.find((found) => found.path === file)?.text ?? "";

/** The rows of the errors' tables: code, retry, meaning. */
function listedErrors(text: string): Record<string, { retry: string; says: string }> {
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \|$/gm)];
  return Object.fromEntries(rows.map(([, code, retry, says]) => [code, { retry, says }])) as ReturnType<
    typeof listedErrors
  >;
}

/** Links to files that are not there. */
function brokenLinks(files: readonly SourceFile[], exists: (file: string) => boolean): string[] {
  return files.flatMap((file) => {
    const links = [...file.text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    return links
      .filter((link) => !/^(https?:|mailto:|#)/.test(link))
      .filter((link) => !exists(path.posix.join(path.posix.dirname(file.path), link.split("#")[0]!)))
      .map((link) => `${file.path} leads to ${link}, which is not there`);
  });
}

describe("docs/errors.md", () => {
  it("lists exactly the errors of the catalogue, in its words", () => {
    expect(listedErrors(document("docs/errors.md"))).toEqual(catalogue);
  });

  it("is read well enough to see a changed word", () => {
    expect(listedErrors("| `StoreDown` | later | It is down. |\n")).toEqual({
      StoreDown: { retry: "later", says: "It is down." },
    });
  });
});

describe("links", () => {
  it("lead to files that are there", () => {
    expect(brokenLinks(documents, (file) => existsSync(path.join(root, file)))).toEqual([]);
  });

  it("are seen when they lead nowhere", () => {
    const made_up = [{ path: "docs/a.md", text: "[b](b.md#there) [c](../c.md) [d](https://example.com)" }];
    expect(brokenLinks(made_up, (file) => file === "docs/b.md")).toEqual([
      "docs/a.md leads to ../c.md, which is not there",
    ]);
  });
});

describe("decision records", () => {
  const records = documents.filter(({ path: file }) => file.startsWith("docs/adr/"));

  it.each(records)("$path says what was decided, what it cost and what would change it", ({ path: file, text }) => {
    const number = Number(path.posix.basename(file).slice(0, 4));
    expect(text).toMatch(new RegExp(`^# ${number}\\. \\S`));
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Context", "Decision", "What we gave up", "What would make us reconsider"]);
  });

  it("are numbered without gaps", () => {
    const numbers = records.map(({ path: file }) => Number(path.posix.basename(file).slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  });
});
