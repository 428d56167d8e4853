/** Keeps the list of breakages in step with the code: each still finds the text that it changes. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mutants } from "./mutants.ts";

describe.each(mutants)("the breakage «$name»", ({ edits }) => {
  it("finds what it changes exactly once", () => {
    for (const { file, find } of edits)
      expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").split(find), file).toHaveLength(2);
  });
});
