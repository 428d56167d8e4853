/** A pretend git host: real repositories in a folder, written commit by commit, renamed, hidden and taken away. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Contents by path; null takes a file away. Text, or bytes, or where a symbolic link leads. */
export type Files = Record<string, string | Uint8Array | { link: string } | null>;

export interface Commit {
  files: Files;
  message?: string;
  author?: string;
  at_s: number;
  branch?: string;
  /** Without a parent: what was there before is no longer reached. */
  anew?: boolean;
}

/** What is answered for a repository instead of it. */
export type Mood = { is: "private" } | { is: "forbidden" } | { is: "moved"; to: string };

export class GitHost {
  readonly folder: string;
  readonly moods = new Map<string, Mood>();
  /** Every answer is this status while it is set. */
  down: number | null = null;
  /** What was asked: the repository, and whether for refs or for objects. */
  readonly log: { repository: string; what: "refs" | "objects" | "other" }[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<GitHost> {
    return new GitHost(await mkdtemp(path.join(tmpdir(), "tidemark-git-host-")));
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #at(repository: string): string {
    return path.join(this.folder, `${repository}.git`);
  }

  async create(repository: string, branch = "main"): Promise<void> {
    const at = this.#at(repository);
    await mkdir(path.dirname(at), { recursive: true });
    await git(this.folder, ["init", "-q", "--bare", `--initial-branch=${branch}`, at]);
    await git(at, ["config", "uploadpack.allowFilter", "true"]);
    await git(at, ["config", "uploadpack.allowAnySHA1InWant", "true"]);
  }

  /** Writes commits, the oldest first, and gives the id of the last. */
  async push(repository: string, ...commits: Commit[]): Promise<string> {
    const at = this.#at(repository);
    await git(at, ["fast-import", "--quiet", "--force"], streamOf(commits, await this.heads(repository)));
    const branch = commits.at(-1)?.branch ?? "main";
    return (await git(at, ["rev-parse", `refs/heads/${branch}`])).trim();
  }

  /** The branches there are. */
  async heads(repository: string): Promise<Set<string>> {
    const said = await git(this.#at(repository), ["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    return new Set(said.split("\n").filter(Boolean));
  }

  /** Runs git there, for what has no word here. */
  git(repository: string, words: string[]): Promise<string> {
    return git(this.#at(repository), words);
  }

  /** Its old name leads to the new one, until something else has it. */
  async move(from: string, to: string): Promise<void> {
    await mkdir(path.dirname(this.#at(to)), { recursive: true });
    await rename(this.#at(from), this.#at(to));
    this.moods.set(from, { is: "moved", to });
  }

  async remove(repository: string): Promise<void> {
    await rm(this.#at(repository), { recursive: true, force: true });
  }
}

/** Nothing of this machine's own settings. */
export const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

function git(cwd: string, words: string[], input: Uint8Array = new Uint8Array()): Promise<string> {
  const child = spawn("git", words, { cwd, env: environment });
  const out: Buffer[] = [];
  let said = "";
  child.stdout.on("data", (part: Buffer) => out.push(part));
  child.stderr.on("data", (part: Buffer) => {
    said += part.toString();
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(out).toString());
      else reject(new Error(`git ${words[0]} failed: ${said.slice(0, 500)}`));
    });
  });
}

/** What git fast-import reads. */
function streamOf(commits: Commit[], heads: Set<string>): Uint8Array {
  const parts: Uint8Array[] = [];
  const say = (text: string) => parts.push(Buffer.from(text));
  const data = (bytes: Uint8Array) => {
    say(`data ${bytes.length}\n`);
    parts.push(bytes);
    say("\n");
  };
  for (const {
    files,
    message = "Change it",
    author = "Ann Example <ann@example.com>",
    at_s,
    branch = "main",
    anew = false,
  } of commits) {
    if (anew) say(`reset refs/heads/${branch}\n\n`);
    say(`commit refs/heads/${branch}\ncommitter ${author} ${at_s} +0000\n`);
    data(Buffer.from(message));
    // A branch that this very stream made goes on by itself.
    if (heads.delete(branch) && !anew) say(`from refs/heads/${branch}^0\n`);
    for (const [file, content] of Object.entries(files)) {
      if (content === null) {
        say(`D ${file}\n`);
        continue;
      }
      const link = typeof content === "object" && "link" in content ? content.link : null;
      say(`M ${link === null ? "100644" : "120000"} inline ${JSON.stringify(file)}\n`);
      data(
        link === null
          ? typeof content === "string"
            ? Buffer.from(content)
            : (content as Uint8Array)
          : Buffer.from(link),
      );
    }
    say("\n");
  }
  return Buffer.concat(parts);
}
