/** Tests of what a go.mod says it is. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { declaredPath } from "./gomod-file.ts";

describe("a go.mod declares", () => {
  it.each([
    ["a word", "module example.com/x\n\ngo 1.22\n"],
    ["without a line end", "module example.com/x"],
    ["with line ends of Windows", "module example.com/x\r\n\r\ngo 1.22\r\n"],
    ["indented", "\t module\t example.com/x  \n"],
    ["after comments", "// module example.com/wrong\n\n//module example.com/wrong\nmodule example.com/x\n"],
    ["before a comment", 'module example.com/x // import "example.com/wrong"\n'],
    ["before a comment that touches it", "module example.com/x//y\n"],
    ["in double quotes", 'module "example.com/x" // why not\n'],
    ["in back quotes", "module `example.com/x`\n"],
    ["in a block", "module (\n\t// this one\n\n\texample.com/x\n)\n"],
    ["in a block that touches the word", 'module(\n"example.com/x"\n)\n'],
    ["after other directives", "go 1.22\n\nrequire (\n\texample.com/y v1.0.0\n)\n\nmodule example.com/x\n"],
    ["first of two", "module example.com/x\nmodule example.com/y\n"],
    ["after words that begin alike", "modules example.com/y\nmodule-path example.com/z\nmodule example.com/x\n"],
    ["in spite of garbage elsewhere", "}{ what\nmodule example.com/x\n<<<<<<< HEAD\n"],
  ])("its path, %s", (_, text) => {
    expect(declaredPath(text)).toBe("example.com/x");
  });

  it.each([
    ["is empty", ""],
    ["has only other directives", "go 1.22\n"],
    ["has the word alone", "module\n"],
    ["has only a comment", "// module example.com/x\n"],
    ["has two words", "module example.com/x v1\n"],
    ["has a quote that does not end", 'module "example.com/x\n'],
    ["has something after the quote", 'module "example.com/x" y\n'],
    ["has nothing in quotes", 'module ""\n'],
    ["has an empty block", "module (\n)\nmodule example.com/x\n"],
    ["has no space before the quote", 'module"example.com/x"\n'],
    ["begins with a byte order mark, which the Go tool refuses", "\uFEFFmodule example.com/x\n"],
    ["begins with one and a comment", "\uFEFF// x\nmodule example.com/x\n"],
    ["is binary", "\0\u0001\u0002module"],
  ])("nothing when it %s", (_, text) => {
    expect(declaredPath(text)).toBe("");
  });

  it("one word without spaces, whatever the file has in it", () => {
    const piece = fc.constantFrom(
      "module",
      " ",
      "\n",
      "\t",
      "(",
      ")",
      '"',
      "`",
      "//",
      "x.com/y",
      "\r",
      "\uFEFF",
      "\\",
      "ü",
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(declaredPath(pieces.join(""))).toMatch(/^[^\n\r]*$/);
      }),
    );
  });
});
