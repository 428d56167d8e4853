/** The README's commands, on a fresh copy of what is in the repository. */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, inject, it } from "vitest";
import { environmentWith } from "../../src/config.ts";

const root = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Everything that is under version control, and the packages that `npm ci` brought: it ran before the tests did. */
async function freshCopy(): Promise<string> {
  const folder = path.join(inject("scratch"), "fresh copy");
  const { stdout } = await run("git", ["ls-files", "-z"], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  for (const file of stdout.split("\0").filter(Boolean)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await cp(path.join(root, file), path.join(folder, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  await run("npm", ["run", "-s", "build"], { cwd: folder, env: environmentWith() });
  return folder;
}

/** Runs a command of the README as it stands there until it greets; then Ctrl-C. Gives what it said, and its page. */
function greeted(command: string, folder: string): Promise<{ said: string; answer: string }> {
  const shell = spawn("bash", ["-c", `exec ${command}`], {
    cwd: folder,
    env: environmentWith({ TIDEMARK_PORT: "0", DATABASE_URL: "", TIDEMARK_DATA: "", TIDEMARK_LOG_LEVEL: "warn" }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let answer = "";
  let greeting = false;
  const listen = async (text: unknown) => {
    said += String(text);
    const look = /Look: +(http:\/\/[\d.:]+)/.exec(said);
    if (greeting || !look || !said.includes("Ctrl-C")) return;
    greeting = true;
    answer = await (await fetch(`${look[1]}/`)).text();
    // The whole group, as a terminal does it.
    process.kill(-shell.pid!, "SIGINT");
  };
  shell.stdout.on("data", (text) => void listen(text));
  shell.stderr.on("data", (text) => void listen(text));
  return new Promise((resolve) => shell.on("close", () => resolve({ said, answer })));
}

it("start everything, and the demo, from a fresh copy, and stop with Ctrl-C", { timeout: 600_000 }, async () => {
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  const commands = [...readme.matchAll(/^npm ci && (npm .+)$/gm)].map(([, command]) => command!);
  expect(commands).toEqual(["npm start", "npm run demo", "npm test"]);
  const folder = await freshCopy();
  // The third is what runs this.
  for (const command of commands.slice(0, 2)) {
    const { said, answer } = await greeted(command, folder);
    expect(answer).toContain("<title>Tidemark");
    expect(said).toContain("go-modules");
    // npm itself ends by the signal; what it ran has put everything away.
    const data = command.includes("demo") ? ".tidemark-demo" : ".tidemark";
    expect([existsSync(path.join(folder, data)), existsSync(path.join(folder, data, "lock"))]).toEqual([true, false]);
  }
});
