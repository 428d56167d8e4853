/** A pretend upstream: real HTTP on loopback, answers given by the author, every call remembered, trouble on demand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type VirtualClock, wall_ms } from "./virtual-clock.ts";

/** One call, as it arrived. */
export interface Asked {
  /** Milliseconds of the clock. */
  at_ms: number;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: string;
  /** What went wrong with it on purpose. */
  trouble: Trouble | null;
}

export interface Reply {
  /** 200 unless said. */
  status?: number;
  headers?: Record<string, string>;
  /** Text and bytes go as they are, everything else as JSON. */
  body?: unknown;
}

export type Trouble =
  | { trouble: "busy"; retry_after: string }
  | { trouble: "error"; status: number }
  /** No answer at all, until the caller gives up. */
  | { trouble: "hang" }
  /** The connection ends in the middle of the body. */
  | { trouble: "cut" }
  /** A whole answer with half a body. */
  | { trouble: "truncated" }
  /** A whole answer with another body. */
  | { trouble: "malformed"; body: string };

export type Route = (asked: Asked) => Reply | Promise<Reply>;

export class PretendUpstream {
  readonly #clock: VirtualClock;
  readonly #route: Route;
  readonly #server: Server;
  #unwatch: () => void = () => undefined;
  readonly requests: Asked[] = [];
  /** Whether an answer ever said when an allowance begins anew. */
  tells_resets = false;
  /** Decides for each call, by its place in line from 0, what goes wrong with it. */
  trouble: (asked: Asked, n: number) => Trouble | null = () => null;

  constructor(clock: VirtualClock, route: Route) {
    this.#clock = clock;
    this.#route = route;
    this.#server = createServer((request, response) => void clock.during(() => this.#serve(request, response)));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<this> {
    this.#unwatch = this.#clock.watchCalls();
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    this.#unwatch();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await this.#receive(request);
    asked.trouble = this.trouble(asked, this.requests.length);
    this.requests.push(asked);
    response.sendDate = false;
    response.setHeader("date", new Date(wall_ms(this.#clock)).toUTCString());
    const { trouble } = asked;
    if (trouble?.trouble === "hang") return this.#hang(response);
    const { status = 200, headers = {}, body } = await this.#reply(asked);
    const bytes = body === undefined || status === 304 ? Buffer.alloc(0) : bytesOf(body);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    this.tells_resets ||= Object.keys(headers).some((name) => /ratelimit-reset/i.test(name));
    if (typeof body === "object" && !(body instanceof Uint8Array) && !headers["content-type"])
      response.setHeader("content-type", "application/json");
    response.statusCode = status;
    const half = bytes.subarray(0, Math.floor(bytes.length / 2));
    if (trouble?.trouble === "truncated") return end(response, half);
    if (trouble?.trouble !== "cut") return end(response, bytes);
    response.setHeader("content-length", bytes.length + 1);
    await new Promise<void>((resolve) => response.write(half.length > 0 ? half : " ", () => resolve()));
    response.destroy();
  }

  async #reply(asked: Asked): Promise<Reply> {
    const { trouble } = asked;
    if (trouble?.trouble === "busy") return { status: 429, headers: { "retry-after": trouble.retry_after } };
    if (trouble?.trouble === "error") return { status: trouble.status, body: "trouble" };
    if (trouble?.trouble === "malformed") return { body: trouble.body };
    return this.#route(asked);
  }

  async #receive(request: IncomingMessage): Promise<Asked> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? "/", "http://pretend");
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
    return {
      at_ms: this.#clock.elapsed_ms(),
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      headers,
      body: Buffer.concat(parts).toString(),
      trouble: null,
    };
  }

  /** Both ends wait for the clock: the caller under way and the answer that does not come. */
  async #hang(response: ServerResponse): Promise<void> {
    const gone = new Promise((resolve) => response.on("close", resolve));
    await Promise.all([this.#clock.waiting(gone), this.#clock.waiting(gone, "call")]);
  }
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function end(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => response.end(bytes, () => resolve()));
}

/** Starts one; `close` it at the end. */
export function pretendUpstream(clock: VirtualClock, route: Route): Promise<PretendUpstream> {
  return new PretendUpstream(clock, route).open();
}
