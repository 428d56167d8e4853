/** The pretend web sites as an HTTP server on loopback: which host is meant is said by the request. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sites } from "./sites.ts";

interface Waiting {
  /** How long a host lets one wait. */
  slow_ms(host: string): number;
  sleep(ms: number): Promise<void>;
  now_ms(): number;
}

export async function serveSites(
  sites: Sites,
  waiting: Waiting,
  port = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
    const host = headers.host ?? "";
    const slow_ms = waiting.slow_ms(host);
    if (slow_ms > 0) await waiting.sleep(slow_ms);
    const reply = sites.answer({ host, path: request.url ?? "/", headers, at_ms: waiting.now_ms() });
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(at, "127.0.0.1", () => resolve());
    });
  // Another program may have the port.
  await listen(port).catch(() => listen(0));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
