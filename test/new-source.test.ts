/** Keeps docs/new-source.md true: what it shows of the example is the example's own text. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");

it("every piece of code in the walk-through is in the example, letter by letter", () => {
  const code = read("examples/bookmarks/source.js");
  const blocks = [...read("docs/new-source.md").matchAll(/```js\n([\s\S]*?)```/g)].map(([, text]) => text!);
  const shown = blocks.filter((text) => !text.includes("tidemark/testing"));
  expect(shown.length).toBeGreaterThan(6);
  for (const text of shown) expect(code).toContain(text);
});

it("the piece of a page that it shows is that of go-modules, letter by letter", () => {
  const page = read("src/sources/go-modules/page.tsx");
  const blocks = [...read("docs/new-source.md").matchAll(/```tsx\n([\s\S]*?)```/g)].map(([, text]) => text!);
  expect(blocks).toHaveLength(1);
  expect(page).toContain(blocks[0]);
});
