/** The pretend NuGet feed on a port of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NuGetFeed } from "./feed.ts";

/** Listens on loopback, on that port or, where another program has it, on a free one. */
export async function serveNuGet(feed: NuGetFeed, port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { pathname } = new URL(request.url ?? "/", "http://pretend");
    const reply = feed.answer(pathname, headers);
    response.writeHead(reply.status, { "content-type": "application/json; charset=utf-8", ...reply.headers });
    response.end(reply.body);
  });
  await new Promise<void>((resolve) => {
    server.once("error", () => server.listen(0, "127.0.0.1", resolve));
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
