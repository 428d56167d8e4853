/** Real processes of the command line, for tests: started, listened to, stopped with a signal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { environmentWith } from "../../src/config.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Running {
  out: string;
  err: string;
  /** Resolves when what it has written to stderr holds this. */
  says(text: string): Promise<void>;
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  ended: Promise<number | null>;
}

/** What was built, where it is as new as the sources: it starts in a fifth of the time. */
function programWords(): string[] {
  const built = path.join(root, "dist/main.js");
  const changed_ms = (folder: string): number =>
    Math.max(
      ...readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (name) => statSync(path.join(root, folder, name)).mtimeMs,
      ),
    );
  const fresh = existsSync(built) && statSync(built).mtimeMs > Math.max(changed_ms("src"), changed_ms("migrations"));
  return fresh ? [built] : ["--import", "tsx", "src/main.ts"];
}
const program = programWords();

/** Starts `tidemark …`, with these settings and none of our own. */
export function tidemark(words: string[], settings: Record<string, string>): Running {
  const inherited = Object.entries(environmentWith()).filter(
    ([name]) => !/^(TIDEMARK_|DATABASE_URL|GITHUB_|EMBEDDINGS_|VITEST|NODE_OPTIONS)/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), NO_COLOR: "1", ...settings } as NodeJS.ProcessEnv;
  const child = spawn(process.execPath, [...program, ...words], { cwd: root, env });
  const listeners = new Set<() => void>();
  const running: Running = {
    out: "",
    err: "",
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!running.err.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void running.ended.then((code) =>
          reject(new Error(`ended with ${code} before saying "${text}":\n${running.err}`)),
        );
      }),
    signal: (name) => child.kill(name),
    ended: once(child, "close").then(([code]) => code as number | null),
  };
  child.stdout.on("data", (chunk) => {
    running.out += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    running.err += String(chunk);
    for (const look of [...listeners]) look();
  });
  return running;
}

/** Runs a command to its end. */
export async function finished(
  words: string[],
  settings: Record<string, string>,
): Promise<{ code: number | null; out: string; err: string }> {
  const running = tidemark(words, settings);
  const code = await running.ended;
  return { code, out: running.out, err: running.err };
}
