/** Breaks the engine on purpose, one breakage at a time in a copy of the tree, and shows that the tests notice each. */
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";

const root = path.resolve(import.meta.dirname, "../..");
const COPIED = [
  "src",
  "test",
  "migrations",
  "examples",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "schema.sql",
];

async function copyTree(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-mutant-"));
  for (const name of COPIED)
    await cp(path.join(root, name), path.join(folder, name), { recursive: true }).catch(() => undefined);
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

async function mutate(folder: string, mutant: Mutant): Promise<void> {
  for (const { file, find, replace } of mutant.edits) {
    const target = path.join(folder, file);
    const text = await readFile(target, "utf8");
    if (text.split(find).length !== 2)
      throw new Error(`"${mutant.name}": ${file} must hold the text to change exactly once`);
    await writeFile(
      target,
      text.replace(find, () => replace),
    );
  }
}

/** Whether the tests went red; what they said is kept for those who ask. */
function goesRed(folder: string, mutant: Mutant): Promise<{ red: boolean; said: string }> {
  return new Promise((resolve) => {
    const args = [
      path.join(folder, "node_modules/vitest/vitest.mjs"),
      "run",
      "--bail=1",
      "--no-color",
      ...mutant.tests,
    ];
    const child = spawn(process.execPath, args, { cwd: folder });
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.stderr.on("data", (part) => (said += part));
    child.on("close", (code) => resolve({ red: code !== 0, said }));
  });
}

/** The first line in which a test says what it saw. */
const noticed = (said: string): string => {
  const lines = stripVTControlCharacters(said).split("\n");
  return (
    lines.find((line) => /^\+\s+"/.test(line))?.replace(/^\+\s+/, "") ??
    lines.find((line) => line.includes("Error:")) ??
    "red"
  );
};

const only = process.argv[2];
let survivors = 0;
for (const mutant of mutants.filter((m) => !only || m.name.includes(only))) {
  const folder = await copyTree();
  try {
    await mutate(folder, mutant);
    const { red, said } = await goesRed(folder, mutant);
    if (!red) survivors += 1;
    console.log(`${red ? "noticed " : "SURVIVED"}  ${mutant.name}${red ? `: ${noticed(said)}` : ""}`);
    if (red && /Transform failed|SyntaxError|Cannot find module/.test(said)) {
      survivors += 1;
      console.log(`          but it did not even run:\n${said.slice(-2000)}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
console.log(survivors === 0 ? "every breakage was noticed" : `${survivors} breakages were not noticed`);
process.exitCode = survivors === 0 ? 0 : 1;
