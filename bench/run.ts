/** Runs one benchmark by its name, with the peers it needs, and leaves nothing behind. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { endAll, node } from "./team.ts";

export interface Options {
  quick: boolean;
  /** What has to be done at the end, however it comes. */
  atEnd(work: () => Promise<void>): void;
}

interface Benchmark {
  /** Prints for people as it goes, and returns what is printed last for programs. */
  run(options: Options): Promise<object>;
}

const names = ["engine", "budget", "go-modules", "nuget", "github-issues", "web", "http"];
const [name = "", ...given] = process.argv.slice(2);
const unknown = given.find((option) => option !== "--quick");
if (!names.includes(name) || unknown !== undefined) {
  process.stderr.write(`npm run bench -- <${names.join("|")}> [--quick]\n`);
  process.exit(2);
}

if (!existsSync(node)) {
  process.stdout.write("Installing the peers into bench/node_modules (once)…\n");
  const { status } = spawnSync("npm", ["ci", "--prefix", import.meta.dirname, "--loglevel=error"], {
    stdio: "inherit",
  });
  if (status !== 0 || !existsSync(node)) {
    process.stderr.write("The peers could not be installed.\n");
    process.exit(1);
  }
}

const ends: (() => Promise<void>)[] = [];
let ending: Promise<void> | null = null;

/** The processes first, then what they used. */
function end(): Promise<void> {
  ending ??= (async () => {
    endAll();
    for (const work of ends.toReversed()) await work().catch((error) => process.stderr.write(`${String(error)}\n`));
  })();
  return ending;
}

function endEarly(code: number, sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  void end().then(() => process.exit(code));
}

/** However it ends. What packages do at such moments would end this process before it has cleaned up. */
function watch(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => endEarly(130, "\nStopping and cleaning up…"));
  }
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => endEarly(1, String(error.stack)));
  // Nobody reads what it prints any more.
  process.stdout.on("error", () => void end().then(() => process.exit(1)));
}

try {
  const { run } = (await import(path.join(import.meta.dirname, `${name}.ts`))) as Benchmark;
  watch();
  const begun_ms = performance.now();
  const result = await run({ quick: given.includes("--quick"), atEnd: (work) => ends.push(work) });
  await end();
  process.stdout.write(`It took ${Math.round((performance.now() - begun_ms) / 1000)} s.\n`);
  process.stdout.write(`${JSON.stringify(result)}\n`);
} catch (error) {
  if (ending === null) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  await end();
  process.exit(1);
}
