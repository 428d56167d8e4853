/** What the container image is made of is enough to run, and what it sets are settings. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { describeConfig, environmentWith, readConfig } from "../../src/config.ts";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFile(path.join(root, file), "utf8");
const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-image-"));

afterAll(() => rm(folder, { recursive: true, force: true }));

it("runs from the files that the last stage copies, as its entry point starts it", async () => {
  const last = (await read("Dockerfile")).split(/^FROM /m).at(-1)!;
  const copied = [...last.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map(([, name]) => name!);
  for (const name of copied)
    if (name === "node_modules") await symlink(path.join(root, name), path.join(folder, name));
    else await cp(path.join(root, name), path.join(folder, name), { recursive: true });
  const [program, ...words] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(last)![1]!) as string[];
  const { stdout } = await promisify(execFile)(program!, [...words, "migrate"], {
    cwd: folder,
    env: environmentWith({ DATABASE_URL: "", TIDEMARK_DATA: path.join(folder, "data") }),
  });
  expect(stdout).toContain("go-modules");
});

it("sets and asks for nothing that is not a setting", async () => {
  const known = describeConfig(readConfig({})).map(({ name }) => name);
  const text = `${await read("Dockerfile")}\n${await read("compose.yaml")}`;
  const named = new Set(
    [...text.matchAll(/\b(?:TIDEMARK|GITHUB|EMBEDDINGS)_[A-Z_]+|\bDATABASE_URL\b/g)].map(([n]) => n),
  );
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
  expect(named.size).toBeGreaterThan(5);
});

it("does not run as root", async () => {
  expect((await read("Dockerfile")).split(/^FROM /m).at(-1)).toMatch(/^USER node$/m);
});
