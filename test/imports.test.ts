/** Tests of the arrows: who may import whom, in every way there is to import. */
import { describe, expect, it } from "vitest";
import { forbiddenArrows, importCycles, importsOf } from "./imports.ts";

const wrong = (from: string, specifier: string): boolean =>
  forbiddenArrows([{ path: from, text: `import type { A } from "${specifier}";` }]).length > 0;

describe("the arrows", () => {
  it.each([
    ["src/main.ts", "./sources/web/source.ts"],
    ["src/cli/up.ts", "../engine/worker.ts"],
    ["src/server/app.ts", "../mirror/feed.ts"],
    ["src/server/app.ts", "./metrics.ts"],
    ["src/engine/commit.ts", "../store/db.ts"],
    ["src/engine/commit.ts", "../contract.ts"],
    ["src/mirror/table.ts", "../errors.ts"],
    ["src/sources/web/source.ts", "tidemark"],
    ["src/sources/web/source.ts", "./robots.ts"],
    ["src/sources/web/robots/parse.ts", "../hosts.ts"],
    ["src/sources/web/source.ts", "robots-parser"],
    ["src/sources/index.ts", "./web/source.ts"],
    ["src/index.ts", "./mirror/table.ts"],
    ["src/dashboard/page.tsx", "preact"],
    ["src/dashboard/page.tsx", "../duration.ts"],
    ["src/sources/web/page.tsx", "preact/hooks"],
    ["src/sources/web/page.tsx", "tidemark/dashboard"],
    ["src/sources/web/page.tsx", "./page/hosts.tsx"],
    ["src/demo/github.ts", "node:http"],
    ["src/sources/web/source.test.ts", "../../engine/worker.ts"],
    ["bench/claims.ts", "../src/engine/lease.ts"],
  ])("let %s import %s", (from, specifier) => {
    expect(wrong(from, specifier)).toBe(false);
  });

  it.each([
    ["src/engine/worker.ts", "../sources/web/source.ts"],
    ["src/engine/worker.ts", "../cli/up.ts"],
    ["src/engine/worker.ts", "../server/app.ts"],
    ["src/engine/worker.ts", "tidemark"],
    ["src/engine/worker.ts", "../main.ts"],
    ["src/mirror/table.ts", "../engine/lease.ts"],
    ["src/store/open.ts", "../mirror/table.ts"],
    ["src/store/open.ts", "../contract.ts"],
    ["src/errors.ts", "./engine/lease.ts"],
    ["src/server/app.ts", "../sources/web/source.ts"],
    ["src/cli/up.ts", "../server/app.ts"],
    ["src/sources/web/source.ts", "../../index.ts"],
    ["src/sources/web/source.ts", "../nuget/source.ts"],
    ["src/sources/web/source.ts", "../../store/db.ts"],
    ["src/dashboard/page.ts", "../server/app.ts"],
    ["src/dashboard/page.tsx", "../sources/web/page.tsx"],
    ["src/sources/web/page.tsx", "tidemark"],
    ["src/sources/web/page.tsx", "../../dashboard/parts.ts"],
    ["src/sources/web/page/hosts.tsx", "../../nuget/page.tsx"],
    ["src/sources/web/source.ts", "tidemark/dashboard"],
    ["src/sources/web/source.ts", "./page.tsx"],
    ["src/demo/github.ts", "../errors.ts"],
    ["src/brand-new/thing.ts", "../errors.ts"],
    ["src/engine/worker.ts", "../../test/clock.ts"],
    ["src/engine/worker.ts", "./lease.test.ts"],
    ["src/engine/worker.ts", "./lease.js"],
  ])("do not let %s import %s", (from, specifier) => {
    expect(wrong(from, specifier)).toBe(true);
  });
});

it("sees imports in every form, over several lines, and none in strings or comments", () => {
  const text = `
    import a from "./a.ts";
    import {
      b,
    } from './b.ts';
    import "./c.ts";
    export * from "./d.ts";
    const e = await import("./e.ts");
    let f: import("./f.ts").F;
    // import g from "./g.ts";
    const h = 'import h from "./h.ts"';
    const i = Array.from("./i.ts");
  `;
  const found = importsOf({ path: "src/x/y.ts", text }).map(({ specifier }) => specifier);
  expect(found).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"]);
});

it("follows the package's own name into a circle", () => {
  const files = [
    { path: "src/index.ts", text: 'export { web } from "./sources/web/source.ts";' },
    { path: "src/sources/web/source.ts", text: 'import { table } from "tidemark";' },
  ];
  expect(importCycles(files)).toEqual(["src/index.ts → src/sources/web/source.ts → src/index.ts"]);
});
