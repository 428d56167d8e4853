/** Real servers on loopback for the outbound client: of HTTP, and of whatever bytes a test likes. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer, type ServerOptions as SecureServerOptions } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, realClock } from "../../src/clock.ts";
import type { TidemarkError } from "../../src/errors.ts";
import { Outbound, type OutboundParts } from "../../src/outbound/client.ts";

const closing: (() => Promise<void>)[] = [];

/** To be called after each test: ends what the test opened. */
export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export interface Opened {
  port: number;
  url: string;
  /** Connections that were made, each with the bytes it brought. */
  connections: { socket: Socket; received: () => number }[];
}

async function opened(server: Server, host: string): Promise<Opened> {
  const connections: Opened["connections"] = [];
  server.on("connection", (socket: Socket) => {
    connections.push({ socket, received: () => socket.bytesRead });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  closing.push(async () => {
    for (const { socket } of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, connections };
}

/** A server of HTTP that remembers what it was asked. */
export async function webServer(
  serve: RequestListener = (_, response) => void response.end("ok"),
  host = "127.0.0.1",
): Promise<Opened & { requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    serve(request, response);
  });
  return { ...(await opened(server, host)), requests };
}

/** A server that says what the test says, once it has heard a whole head; `n` counts connections from 0. */
export async function rawServer(answer: (socket: Socket, n: number) => void): Promise<Opened> {
  let n = 0;
  const server = createTcpServer((socket) => {
    const mine = n++;
    let heard = "";
    socket.on("data", (part) => {
      heard += part.toString("latin1");
      if (!heard.includes("\r\n\r\n")) return;
      heard = "";
      answer(socket, mine);
    });
  });
  return opened(server, "127.0.0.1");
}

/** What a proxy was asked for. */
export interface Asked {
  target: string;
  authorization: string | undefined;
}

/** A real proxy that leads every name to `port` here; with a certificate, one that is spoken to through TLS. */
export async function proxyTo(port: number, tls?: SecureServerOptions): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = tls ? createSecureServer(tls) : createServer();
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    asked.push({ target: request.url!, authorization: request.headers["proxy-authorization"] });
    const behind: Socket = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n");
      socket.pipe(behind).pipe(socket);
    });
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
    }
  });
  const { url } = await opened(server, "127.0.0.1");
  return { url: tls ? url.replace("http:", "https:") : url, asked };
}

/** A client that may call loopback, unless the test says otherwise. */
export function client(parts: Partial<OutboundParts> = {}, clock: Clock = realClock): Outbound {
  const made = new Outbound({ clock, user_agent: "tidemark/test", allow_private: ["127.0.0.0/8", "::1"], ...parts });
  closing.push(() => made.close());
  return made;
}

/** What a call throws; that it throws nothing is an error too. */
export async function failureOf(call: Promise<unknown>): Promise<TidemarkError> {
  const outcome = await call.then(
    (answer) => ({ answer }),
    (error: TidemarkError) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`the call was answered: ${JSON.stringify(outcome.answer)}`);
}
