// Compiles src into dist and carries over the SQL and JSON that sit beside the code.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
rmSync(path.join(root, "dist"), { recursive: true, force: true });
const built = spawnSync("npx", ["--no-install", "tsc", "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
cpSync(path.join(root, "src"), path.join(root, "dist"), {
  recursive: true,
  filter: (from) => !path.basename(from).includes(".") || from.endsWith(".sql") || from === path.join(root, "src"),
});
