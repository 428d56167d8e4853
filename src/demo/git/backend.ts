/** What a git host answers: by git's own server program, with what hosts say before it. */
import { spawn } from "node:child_process";
import { environment, type GitHost } from "./host.ts";

export interface GitQuestion {
  method: string;
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string;
}

export interface GitReply {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

const says = (status: number, text: string, headers: Record<string, string> = {}): GitReply => ({
  status,
  headers: { "content-type": "text/plain", ...headers },
  body: Buffer.from(`${text}\n`),
});

export async function answerGit(host: GitHost, question: GitQuestion): Promise<GitReply> {
  const { path, query } = question;
  const [, repository, rest] = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(path) ?? [];
  if (repository === undefined || rest === undefined) return says(404, "There is no such page.");
  const text = String(question.body).slice(0, 1_000);
  const what = text.includes("command=ls-refs") ? "refs" : text.includes("command=fetch") ? "objects" : "other";
  host.log.push({ repository, what });
  return (
    before(host, repository, `${rest}${query === "" ? "" : `?${query}`}`) ??
    run(host, `/${repository}.git/${rest}`, question)
  );
}

/** What is answered before git is asked; null where it is. */
function before(host: GitHost, repository: string, rest: string): GitReply | null {
  if (host.down !== null) return says(host.down, "The host is down.");
  const mood = host.moods.get(repository);
  switch (mood?.is) {
    // As the large hosts do: who may not see it is asked for a password, as if it were not there.
    case "private":
      return says(401, "Who are you?", { "www-authenticate": 'Basic realm="git"' });
    case "forbidden":
      return says(451, "Not shown for legal reasons.");
    case "moved":
      return says(301, "Moved.", { location: `/${mood.to}.git/${rest}` });
    default:
      return null;
  }
}

/** git http-backend speaks CGI. */
async function run(host: GitHost, at: string, { method, query, headers, body }: GitQuestion): Promise<GitReply> {
  const child = spawn("git", ["http-backend"], {
    env: {
      ...environment,
      GIT_PROJECT_ROOT: host.folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: headers["git-protocol"] ?? "",
      REQUEST_METHOD: method,
      PATH_INFO: at,
      QUERY_STRING: query,
      CONTENT_TYPE: headers["content-type"] ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(body);
  const parts: Buffer[] = [];
  for await (const part of child.stdout) parts.push(part as Buffer);
  return readCgi(Buffer.concat(parts));
}

/** The head that a CGI program prints, and its body. */
function readCgi(printed: Buffer): GitReply {
  const end = printed.indexOf("\r\n\r\n");
  if (end < 0) return says(500, "git said nothing.");
  const reply: GitReply = { status: 200, headers: {}, body: printed.subarray(end + 4) };
  for (const line of printed.toString("latin1", 0, end).split("\r\n")) {
    const [name = "", value = ""] = line.split(/:\s*(.*)/s);
    if (/^status$/i.test(name)) reply.status = Number.parseInt(value, 10);
    else reply.headers[name.toLowerCase()] = value;
  }
  return reply;
}
