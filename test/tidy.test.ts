/** Keeps the house in order: each wall holds for the whole repository, and each is shown to catch what it is for. */
import { describe, expect, it } from "vitest";
import { forbiddenArrows, importCycles, undeclaredPackages } from "./imports.ts";
import { filesOf } from "./tree.ts";
import * as walls from "./walls.ts";

const code = filesOf(["src", "test", "bench"], [".ts", ".tsx"]);
const sql = filesOf(["migrations", "src"], [".sql"]);
const prose = filesOf(["docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"], [".md"]);
const locks = filesOf(["package-lock.json", "bench/package-lock.json", ".npmrc"], ["package-lock.json", ".npmrc"]);
const manifest = JSON.parse(filesOf(["package.json"], [".json"])[0]!.text) as Record<string, Record<string, string>>;
const declared = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((group) =>
  Object.keys(manifest[group] ?? {}),
);

/** Files that may use real time, each with its reason. */
const may_use_real_time: Record<string, string> = {
  "src/testing/virtual-clock.ts": "it waits for turns of the event loop, to know that everything sleeps",
};

/** Files besides the settings that may read the environment, each with its reason. */
const may_read_environment: Record<string, string> = {};

interface Wall {
  promise: string;
  check: (files: walls.SourceFile[]) => string[];
  files: walls.SourceFile[];
  /** A made-up file that breaks the rule, and one that looks alike and does not. */
  caught: walls.SourceFile[];
  fine: walls.SourceFile[];
}

const ts = (text: string, path = "src/engine/made-up.ts"): walls.SourceFile[] => [{ path, text }];
const lines = (count: number): string => "x;\n".repeat(count);
const star = ["select", "*"].join(" ");

const all: Wall[] = [
  {
    promise: "imports follow the arrows between folders",
    check: forbiddenArrows,
    files: code,
    caught: ts('import type { A } from "../sources/web/source.ts";'),
    fine: ts('import { put } from "../mirror/table.ts";\nimport { z } from "zod";'),
  },
  {
    promise: "no files import each other in a circle, not even types",
    check: importCycles,
    files: code,
    caught: [
      ...ts('import type { B } from "./b.ts";', "src/engine/a.ts"),
      ...ts('export * from "./c.ts";', "src/engine/b.ts"),
      ...ts('const a = await import("./a.ts");', "src/engine/c.ts"),
    ],
    fine: [
      ...ts('import "./b.ts"; import "./c.ts";', "src/engine/a.ts"),
      ...ts('import "./c.ts";', "src/engine/b.ts"),
      ...ts('// import "./a.ts"', "src/engine/c.ts"),
    ],
  },
  {
    promise: "shipped code imports only packages that are installed with it",
    check: (files) => undeclaredPackages(files, declared),
    files: code,
    caught: ts('import { it } from "vitest";'),
    fine: ts('import { it } from "vitest";', "src/engine/made-up.test.ts"),
  },
  {
    promise: "no file is longer than 300 lines",
    check: walls.longFiles,
    files: code,
    caught: ts(lines(301)),
    fine: ts(lines(300)),
  },
  {
    promise: "no function is longer than 70 lines",
    check: walls.longFunctions,
    files: code,
    caught: ts(`export function f(a: string): Promise<void> {\n${lines(69)}}\n`),
    fine: ts(`export function f(a: string): Promise<void> {\n${lines(68)}}\n`),
  },
  {
    promise: "every file opens with one sentence that says what it is for",
    check: walls.missingOpenings,
    files: [...code, ...sql],
    caught: ts("const a = 1;\n/** Says it too late. */"),
    fine: ts("#!/usr/bin/env node\n/** Runs one role. */"),
  },
  {
    promise: "no file or folder has a name that says nothing",
    check: walls.emptyNames,
    files: [...code, ...sql],
    caught: ts("", "src/engine/lease-manager.ts"),
    fine: ts("", "src/sources/nuget/service-index.ts"),
  },
  {
    promise: "time passes only through the clock",
    check: (files) => walls.realTime(files, may_use_real_time),
    files: code,
    caught: ts("const at = Date.now();"),
    fine: ts('// Date.now() would lie.\nconst at = new Date(text); log("setTimeout");'),
  },
  {
    promise: "only the settings read the environment",
    check: (files) => walls.environmentReads(files, may_read_environment),
    files: code,
    caught: ts("const home = process.env.HOME;"),
    fine: ts("process.exitCode = config.env;"),
  },
  {
    promise: "SQL names its columns",
    check: walls.starSelects,
    files: [...code, ...sql],
    caught: ts(`const q = sql\`${star} from tidemark.due\`;`),
    fine: ts("const q = sql`select count(*) from tidemark.due`;"),
  },
  {
    promise: "nothing is left for later",
    check: walls.leftForLater,
    files: [...code, ...sql, ...prose],
    caught: ts(`// ${["TO", "DO"].join("")}: finish`),
    fine: ts("const todos = 1;"),
  },
  {
    promise: "nothing has the type any",
    check: walls.anyTypes,
    files: code,
    caught: ts("const a = b as any;"),
    fine: ts("expect(a).toEqual(expect.any(String)); const q = sql`= any(array(x))`; const c = d ? e : any(f);"),
  },
  {
    promise: "every test runs",
    check: walls.sleepingTests,
    files: code,
    caught: ts('it.only("x", () => {});'),
    fine: ts('it("x", () => {}); list.skip(3); it.each([1])("y", () => {});'),
  },
  {
    promise: "no lint rule is silenced without a reason",
    check: walls.silencedRules,
    files: code,
    caught: ts(`// ${["@ts", "ignore"].join("-")}\nconst a = 1;`),
    fine: ts("// biome-ignore lint/style/useConst: the callback sets it\nlet a = 1;"),
  },
  {
    promise: "lock files do not say where packages are downloaded from",
    check: walls.lockedHosts,
    files: locks,
    caught: ts('{ "resolved": "https://example.com/a.tgz" }', "package-lock.json"),
    fine: ts('{ "version": "1.0.0", "integrity": "sha512-x" }', "package-lock.json"),
  },
];

describe.each(all)("the wall that $promise", ({ check, files, caught, fine }) => {
  it("holds for the repository", () => {
    expect(files.length).toBeGreaterThan(0);
    expect(check(files)).toEqual([]);
  });

  it("catches what it is for", () => {
    expect(check(caught)).toHaveLength(1);
  });

  it("lets through what only looks alike", () => {
    expect(check(fine)).toEqual([]);
  });
});

it("excuses only files that are there and that need it", () => {
  const excused = (allowed: Record<string, string>) => code.filter(({ path }) => path in allowed);
  expect(excused(may_use_real_time).map(({ path }) => path)).toEqual(Object.keys(may_use_real_time).sort());
  expect(excused(may_read_environment).map(({ path }) => path)).toEqual(Object.keys(may_read_environment).sort());
  for (const file of excused(may_use_real_time)) expect(walls.realTime([file], {}), file.path).not.toEqual([]);
  for (const file of excused(may_read_environment))
    expect(walls.environmentReads([file], {}), file.path).not.toEqual([]);
});
