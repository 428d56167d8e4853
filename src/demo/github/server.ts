/** The pretend GitHub on a port of its own, for whoever wants to try things out without the real one. */
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { GitHub } from "./hub.ts";

export interface ServedGitHub {
  url: string;
  close(): Promise<void>;
}

/** Listens on loopback; `now_ms` is the time of day. With a certificate and its key it is https. */
export async function serveGitHub(
  hub: GitHub,
  now_ms: () => number,
  port = 0,
  secure?: { cert: string; key: string },
): Promise<ServedGitHub> {
  const listener: RequestListener = async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { pathname } = new URL(request.url ?? "/", "http://pretend");
    const call = { at_ms: now_ms(), method: request.method ?? "GET", path: pathname, headers };
    const reply = await hub.answer({ ...call, body: Buffer.concat(parts).toString() });
    response.writeHead(reply.status, { "content-type": "application/json; charset=utf-8", ...reply.headers });
    response.end(JSON.stringify(reply.body));
  };
  const server = secure ? createSecureServer(secure, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `${secure ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
