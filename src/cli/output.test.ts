/** Tests of what commands print where there is a screen. */
import { expect, it } from "vitest";
import { drawn, outputTo } from "./output.ts";

const written = (isTTY: boolean) => {
  let text = "";
  const out = {
    write: (more: string) => {
      text += more;
    },
    isTTY,
    columns: 10,
    rows: 3,
  };
  outputTo({ out, err: out }, true).frame(["one", "two"]);
  return text;
};

it("draws a frame over the one before in one go, and takes away what is left of it", () => {
  expect(written(true)).toBe("\u001b[Hone\u001b[K\ntwo\u001b[K\n\u001b[J");
});

it("prints a frame after the other where there is no screen", () => {
  expect(written(false)).toBe("one\ntwo\n");
});

it("cuts what is wider or higher than the screen, and counts no colours", () => {
  const coloured = `\u001b[31m${"x".repeat(10)}\u001b[39m`;
  const frame = drawn([coloured, "y".repeat(11), "below"], { columns: 10, rows: 3 });
  expect(frame).toContain(coloured);
  expect(frame).toContain(`${"y".repeat(10)}\u001b[K`);
  expect(frame).not.toContain("y".repeat(11));
  expect(frame).not.toContain("below");
});
