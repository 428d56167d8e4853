/** Tells a second terminal where the process that holds the embedded database answers. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

export interface ServerFile {
  url: string;
  pid: number;
}

const fileIn = (data: string): string => path.resolve(data, "server.json");

/** Appears whole; only its owner can read it. */
export async function writeServerFile(data: string, server: ServerFile): Promise<() => Promise<void>> {
  const file = fileIn(data);
  await writeFile(`${file}.new`, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return async () => {
    if ((await readServerFile(data))?.pid === server.pid) await rm(file, { force: true });
  };
}

/** What the file says; null where there is none that can be read. It may be of a process that was killed. */
export async function readServerFile(data: string): Promise<ServerFile | null> {
  try {
    const { url, pid } = JSON.parse(await readFile(fileIn(data), "utf8")) as Partial<ServerFile>;
    return typeof url === "string" && typeof pid === "number" ? { url, pid } : null;
  } catch {
    return null;
  }
}
