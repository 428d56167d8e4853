/** Starts a real process that runs a TypeScript file of these tests, to be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import readline from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child {
  pid: number;
  /** The next line that it prints; fails when it ends instead. */
  line(): Promise<string>;
  /** Ends it without any chance to tidy up, and waits until it is gone; gives what it had still printed. */
  kill(): Promise<string[]>;
}

export function startChild(file: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const root = fileURLToPath(new URL("..", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", path, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const lines = readline.createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    pid: child.pid!,
    async line() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${file} ended`);
      return value;
    },
    async kill() {
      child.kill("SIGKILL");
      await exit;
      const rest: string[] = [];
      for (let next = await lines.next(); !next.done; next = await lines.next()) rest.push(next.value);
      return rest;
    },
  };
}
