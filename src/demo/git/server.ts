/** Serves a pretend git host over HTTP: git's own server program, with the answers that hosts give before it. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { environment, type GitHost } from "./host.ts";

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
      if (error.code !== "EADDRINUSE" || port === 0) reject(error);
      else server.listen(0, "127.0.0.1", resolve);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

function serve(host: GitHost, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://host");
  const [, repository, rest] = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(pathname) ?? [];
  const said =
    repository === undefined
      ? ({ status: 404, text: "There is no such page." } as Said)
      : before(host, repository, rest!, search);
  if (said) plain(response, said);
  else run(host, repository!, rest!, search.slice(1), request, response);
}

interface Said {
  status: number;
  text: string;
  headers?: Record<string, string>;
}

/** What is answered before git is asked; null where it is. */
function before(host: GitHost, repository: string, rest: string, search: string): Said | null {
  if (host.down !== null) return { status: host.down, text: "The host is down." };
  const mood = host.moods.get(repository);
  switch (mood?.is) {
    // As the large hosts do: who may not see it is asked for a password, as if it were not there.
    case "private":
      return { status: 401, text: "Who are you?", headers: { "www-authenticate": 'Basic realm="git"' } };
    case "forbidden":
      return { status: 451, text: "Not shown for legal reasons." };
    case "moved":
      return { status: 301, text: "Moved.", headers: { location: `/${mood.to}.git/${rest}${search}` } };
    default:
      return null;
  }
}

function plain(response: ServerResponse, { status, text, headers = {} }: Said): void {
  response.writeHead(status, { "content-type": "text/plain", ...headers }).end(`${text}
`);
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
      ...environment,
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
  child.on("error", () => plain(response, { status: 500, text: "git is not there." }));
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
    if (head === null) {
      response.write(part);
      return;
    }
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
    if (head !== null) plain(response, { status: 500, text: "git said nothing." });
    else response.end();
  });
}
