/** The system's git, kept from everything but one folder of objects: it calls nobody, runs nothing and writes no file of a repository. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { TidemarkError } from "tidemark";
import { packOf } from "./git-protocol.ts";

/** What git says when it fails is kept up to this, for the log. */
const SAID_MAX = 2_000;

/** No setting of this machine or this user, no prompt, no protocol, no hook, no lazy fetch. */
const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin",
  LC_ALL: "C",
  TZ: "UTC",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  SSH_ASKPASS: "/bin/false",
  GIT_ALLOW_PROTOCOL: "",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_OPTIONAL_LOCKS: "0",
};

const settings = [
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "credential.helper="],
  // Objects above this are read piece by piece and never held whole; one thread, because workers run several of these.
  ...["core.bigFileThreshold=1m", "pack.threads=1", "core.packedGitLimit=64m", "core.deltaBaseCacheLimit=32m"],
].flatMap((setting) => ["-c", setting]);

/** A place for the objects of one repository, gone when its work is over. */
export class ObjectStore {
  readonly folder: string;
  readonly #signal: AbortSignal;

  constructor(folder: string, signal: AbortSignal) {
    this.folder = folder;
    this.#signal = signal;
  }

  /** Takes a pack out of the saved answer of a server. `bytes_max` bounds the pack. */
  async take(saved: string, bytes_max: number): Promise<void> {
    const shallow: string[] = [];
    const child = this.#start(["index-pack", "--stdin", `--max-input-size=${bytes_max}`]);
    child.stdout.resume();
    const ended = this.#ended(child);
    const pack = packOf(createReadStream(saved), (oid) => shallow.push(oid));
    await Promise.all([
      pipeline(pack, child.stdin).catch((thrown: unknown) => {
        // It ended before it had read all: then how it ended says why.
        if (!isClosedPipe(thrown)) throw thrown;
      }),
      ended,
    ]);
    await writeFile(path.join(this.folder, "shallow"), shallow.map((oid) => `${oid}\n`).join(""));
  }

  /** What a command prints, as it comes; `input` is what it reads. */
  async *read(words: string[], input = ""): AsyncGenerator<Buffer> {
    const child = this.#start(words);
    const ended = this.#ended(child);
    ended.catch(() => undefined);
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    yield* child.stdout;
    await ended;
  }

  /** All that a command prints, which is bounded by the caller's question. */
  async text(words: string[], bytes_max: number, input = ""): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of this.read(words, input)) {
      size += part.length;
      if (size > bytes_max) throw tooLarge(`has more than ${bytes_max} bytes of names`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  #start(words: string[]): ChildProcessWithoutNullStreams {
    return spawn("git", [...settings, `--git-dir=${this.folder}`, ...words], {
      cwd: this.folder,
      env: environment,
      signal: this.#signal,
      killSignal: "SIGKILL",
    });
  }

  #ended(child: ChildProcessWithoutNullStreams): Promise<void> {
    let said = "";
    child.stderr.on("data", (part: Buffer) => {
      if (said.length < SAID_MAX) said += part.toString("utf8");
    });
    return new Promise((resolve, reject) => {
      child.on("error", (cause: NodeJS.ErrnoException) => {
        if (this.#signal.aborted) return reject(this.#signal.reason);
        const sentence =
          cause.code === "ENOENT"
            ? "There is no git on this machine; install it (2.36 or newer)."
            : "git could not be run.";
        reject(new TidemarkError("Unexpected", sentence, { cause }));
      });
      child.on("close", (code) => {
        if (this.#signal.aborted) reject(this.#signal.reason);
        else if (code === 0) resolve();
        else if (/exceeds maximum allowed size|too large/.test(said)) reject(tooLarge("has a pack above the limit"));
        else reject(new TidemarkError("UpstreamChanged", `git could not read what the server sent: ${plain(said)}.`));
      });
    });
  }
}

export function tooLarge(what: string): TidemarkError {
  return new TidemarkError("UpstreamChanged", `The repository ${what}, and is not analysed.`, {
    details: { why: "too large" },
  });
}

/** Gives the work an empty place, and takes it away whatever becomes of the work. */
export async function withObjects<T>(
  format: "sha1" | "sha256",
  signal: AbortSignal,
  work: (objects: ObjectStore, folder: string) => Promise<T>,
): Promise<T> {
  await sweepOnce();
  const folder = await mkdtemp(path.join(tmpdir(), `${FOLDER}${process.pid}-`));
  try {
    const git = path.join(folder, "git");
    for (const part of ["objects/info", "objects/pack", "refs/heads"])
      await mkdir(path.join(git, part), { recursive: true });
    const extension = format === "sha256" ? "[extensions]\n\tobjectformat = sha256\n" : "";
    const version = format === "sha256" ? 1 : 0;
    // Made by hand: `git init` would copy the templates of this machine, hooks among them.
    await writeFile(
      path.join(git, "config"),
      `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extension}`,
    );
    await writeFile(path.join(git, "HEAD"), "ref: refs/heads/none\n");
    return await work(new ObjectStore(git, signal), folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** How the folders begin, and then whose they are, so that what a killed process left can be found. */
export const FOLDER = "tidemark-repository-";

let swept: Promise<void> | null = null;

/** What processes left that were killed, removed once by each that comes after them. */
function sweepOnce(): Promise<void> {
  swept ??= sweep(tmpdir());
  return swept;
}

export async function sweep(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = name.startsWith(FOLDER) ? Number.parseInt(name.slice(FOLDER.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    await rm(path.join(place, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

const isClosedPipe = (thrown: unknown): boolean =>
  ["EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET"].includes((thrown as NodeJS.ErrnoException)?.code ?? "");

const plain = (text: string): string =>
  text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 300);
