/** Keeps two processes from opening the same data directory, where the embedded database would silently lose rows. */
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { TidemarkError } from "../errors.ts";

/** Who holds a lock, as its file says. */
interface Holder {
  pid: number;
  /** When the process started, so that a number given to another process is not taken for the same one. */
  started: string | undefined;
  host: string;
  /** Tells every lock that was ever taken from every other. */
  token: string;
}

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Creates the directory if need be, and takes its lock or says who has it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = path.resolve(directory, "lock");
  const me: Holder = {
    pid: process.pid,
    started: await startOf(process.pid),
    host: os.hostname(),
    token: randomUUID(),
  };
  const mine = `${file}.${me.token}`;
  await writeFile(mine, `${JSON.stringify(me)}\n`, { mode: 0o600 });
  try {
    while (!(await take(file, mine))) {
      // Whoever held it let go, or somebody else was faster: look again.
    }
  } finally {
    await rm(mine, { force: true });
  }
  return {
    release: async () => {
      if ((await holderOf(file))?.token === me.token) await rm(file, { force: true });
    },
  };
}

/**
 * One attempt. A dead holder's lock is replaced only by whoever first links the file named after that holder's
 * token, and only while that lock is still in place; so of many that find it dead one wins, and nobody replaces
 * the winner. A winner that dies half-way leaves its claim, which is succeeded in the same manner.
 */
async function take(file: string, mine: string): Promise<boolean> {
  if (await linked(mine, file)) return true;
  const dead = await holderOf(file);
  if (dead === undefined) return false;
  await refuseIfAlive(dead, file);
  const claims = [`${file}.after.${dead.token}`];
  while (!(await linked(mine, claims.at(-1)!))) {
    const claimant = await holderOf(claims.at(-1)!);
    if (claimant === undefined) return false;
    await refuseIfAlive(claimant, file);
    claims.push(`${file}.after.${claimant.token}`);
  }
  const won = (await holderOf(file))?.token === dead.token;
  if (won) await rename(mine, file);
  for (const claim of won ? claims : claims.slice(-1)) await rm(claim, { force: true });
  return won;
}

async function refuseIfAlive(holder: Holder, file: string): Promise<void> {
  const elsewhere = holder.host !== os.hostname();
  if (!elsewhere && !(await isAlive(holder))) return;
  const directory = path.dirname(file);
  const who = `process ${holder.pid}${elsewhere ? ` on ${holder.host}` : ""}`;
  const remedy = elsewhere
    ? `stop it there; if that machine is gone, delete ${file}`
    : "use that one over HTTP, or stop it first";
  throw new TidemarkError("StoreLocked", `The data directory ${directory} is in use by ${who}: ${remedy}.`, {
    details: { pid: holder.pid, host: holder.host, directory },
  });
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = await startOf(pid);
  return found === undefined || started === undefined ? found !== "dead" : found === started;
}

/** When a process started, in ticks since which boot; "dead" for one that only waits to be buried; unknown without /proc. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets and may itself hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return "dead";
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
    return `${boot.trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Files appear whole, by link or rename; one that cannot be read as a holder is nobody's to remove but a person's. */
async function holderOf(file: string): Promise<Holder | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Holder;
  } catch {
    throw new TidemarkError(
      "StoreLocked",
      `${file} is not a lock of Tidemark's: look at it, and delete it if nothing runs.`,
    );
  }
}
