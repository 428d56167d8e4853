/** Doctor says whether git is there, and new enough. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkGit } from "./doctor-git.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-doctor-"));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ["git version 2.36.0", "yes", "Git 2.36."],
  ["git version 2.50.1 (Apple Git-155)", "yes", "Git 2.50."],
  ["git version 2.20.1", "warning", "too old"],
  ["git version 1.9", "warning", "too old"],
])("says of %s whether it will do", async (said, well, words) => {
  const program = path.join(folder, "git");
  await writeFile(program, `#!/bin/sh\necho "${said}"\n`);
  await chmod(program, 0o755);
  const [finding] = await checkGit(program);
  expect(finding).toMatchObject({ what: "git", well });
  expect(finding!.sentence).toContain(words);
});

it("says what to do where there is none", async () => {
  const [finding] = await checkGit(path.join(folder, "none"));
  expect(finding).toMatchObject({ well: "warning", sentence: expect.stringContaining("Install git") });
});
