/** Listens on a port and stops listening: the only part of the server that knows about sockets. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";

export interface Listening {
  /** Where a browser on this machine finds it. */
  url: string;
  port: number;
  /** Takes no more requests, and lets those under way finish for a moment. */
  close(): Promise<void>;
}

const CLOSE_MS_MAX = 2_000;

export async function listen(app: OpenAPIHono, host: string, port: number, clock: Clock): Promise<Listening> {
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: { requestTimeout: 60_000 } }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${reachable(host)}:${bound}`,
    port: bound,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await Promise.race([closed, clock.sleep(CLOSE_MS_MAX)]);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An address that stands for all of them is reached through loopback. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): TidemarkError {
  const why: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program: set TIDEMARK_PORT to another one, or to 0 for any that is free.`,
    EACCES: `This user may not listen on port ${port}: set TIDEMARK_PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}: set TIDEMARK_HOST to one that it has.`,
    ENOTFOUND: `There is no address for "${host}": set TIDEMARK_HOST to an address of this machine.`,
  };
  const sentence = why[error.code ?? ""] ?? `The server cannot listen on ${host}:${port}: ${error.message}.`;
  return new TidemarkError("ConfigInvalid", sentence, { cause: error, details: { code: error.code } });
}
