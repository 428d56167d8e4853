/** Serves a pretend git host over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerGit } from "./backend.ts";
import type { GitHost } from "./host.ts";

export async function serveGit(host: GitHost): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(host, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(host: GitHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
  const given = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const { status, headers, body } = await answerGit(host, {
    method: request.method ?? "GET",
    path: pathname,
    query: searchParams.toString(),
    headers: Object.fromEntries(given),
    body: Buffer.concat(parts),
  });
  response.writeHead(status, headers).end(body);
}
