// Compiles src into dist, carries over the SQL that sits beside the code, and builds the dashboard.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { buildDashboard } from "./dashboard.mjs";

const root = path.resolve(import.meta.dirname, "..");
rmSync(path.join(root, "dist"), { recursive: true, force: true });
const built = spawnSync("npx", ["--no-install", "tsc", "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
cpSync(path.join(root, "src"), path.join(root, "dist"), {
  recursive: true,
  filter: (from) =>
    !path.basename(from).includes(".") ||
    from.endsWith(".sql") ||
    from.endsWith("domain64.json") ||
    from === path.join(root, "src"),
});
await buildDashboard();
