/** Serves a pretend git host over HTTP: git's own server program, with the answers that hosts give before it. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { GitHost } from "./host.ts";

export async function serveGit(host: GitHost, port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => serve(host, request, response));
  await listen(server, port);
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** At this port where it is free, and at any other where it is not. */
function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE" || port === 0) return reject(error);
      server.listen(0, "127.0.0.1", resolve);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

function serve(host: GitHost, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://host");
  const [, repository, rest] = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(pathname) ?? [];
  if (repository === undefined) return plain(response, 404, "There is no such page.");
  if (host.down !== null) return plain(response, host.down, "The host is down.");
  const mood = host.moods.get(repository);
  // As the large hosts do: who may not see it is asked for a password, as if it were not there.
  if (mood?.is === "private") return plain(response, 401, "Who are you?", { "www-authenticate": 'Basic realm="git"' });
  if (mood?.is === "forbidden") return plain(response, 451, "Not shown for legal reasons.");
  if (mood?.is === "moved") return plain(response, 301, "Moved.", { location: `/${mood.to}.git/${rest}${search}` });
  run(host, repository, rest!, search.slice(1), request, response);
}

function plain(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "text/plain", ...headers }).end(`${text}\n`);
}

/** git http-backend speaks CGI. */
function run(
  host: GitHost,
  repository: string,
  rest: string,
  query: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: host.folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: request.headers["git-protocol"]?.toString() ?? "",
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: `/${repository}.git/${rest}`,
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  child.on("error", () => plain(response, 500, "git is not there."));
  let asked = "";
  request.on("data", (part: Buffer) => {
    if (asked.length < 1_000) asked += part.toString("latin1");
  });
  request.on("end", () => {
    const what = asked.includes("command=ls-refs") ? "refs" : asked.includes("command=fetch") ? "objects" : "other";
    host.log.push({ repository, what });
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  response.on("close", () => child.kill("SIGKILL"));
  answer(child.stdout, response);
}

/** The head that a CGI program prints, then its body as it comes. */
function answer(out: NodeJS.ReadableStream, response: ServerResponse): void {
  let head: Buffer | null = Buffer.alloc(0);
  out.on("data", (part: Buffer) => {
    if (head === null) return void response.write(part);
    head = Buffer.concat([head, part]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    const lines = head.toString("latin1", 0, end).split("\r\n");
    const body = head.subarray(end + 4);
    head = null;
    let status = 200;
    for (const line of lines) {
      const [name = "", value = ""] = line.split(/:\s*(.*)/s);
      if (/^status$/i.test(name)) status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    if (body.length > 0) response.write(body);
  });
  out.on("end", () => {
    if (head !== null) plain(response, 500, "git said nothing.");
    else response.end();
  });
}
