/** A pretend server of embeddings that speaks like OpenAI's: limits of calls and tokens in a minute, headers that tell of them, and refusals. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hashed } from "./hashing.ts";

const MINUTE_MS = 60_000;
const INPUTS_MOST = 2_048;
const INPUT_TOKENS_MOST = 8_192;
const TOKENS_MOST = 300_000;

export interface EmbeddingsOptions {
  requests_per_minute?: number;
  tokens_per_minute?: number;
  dimensions?: number;
  /** How long a call takes, by its tokens, and how to wait for that. */
  latency_ms?(tokens: number): number;
  wait?(ms: number): Promise<void>;
}

export interface EmbeddingsCall {
  at_ms: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface EmbeddingsReply {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

interface Asked {
  model?: unknown;
  input?: unknown;
  dimensions?: unknown;
  encoding_format?: unknown;
}

export class Embeddings {
  readonly #options: EmbeddingsOptions;
  #minute = { resets_ms: 0, requests: 0, tokens: 0 };
  #closed_until_ms = 0;
  /** Every text that was embedded, in order; a text that was paid for twice is here twice. */
  readonly texts: string[] = [];
  /** Calls that were answered with vectors, with when and how much. */
  readonly calls: { at_ms: number; inputs: number; tokens: number; model: string }[] = [];
  /** Refused, whatever else is in the call. */
  refuses: (text: string) => boolean = () => false;
  /** Vectors in another order than they were asked for: their indexes tell. */
  shuffles = false;
  key: string | null = null;

  constructor(options: EmbeddingsOptions = {}) {
    this.#options = options;
  }

  /** Answers 429 until then. */
  closeUntil(at_ms: number): void {
    this.#closed_until_ms = at_ms;
  }

  async answer(call: EmbeddingsCall): Promise<EmbeddingsReply> {
    if (this.key !== null && call.headers.authorization !== `Bearer ${this.key}`)
      return wrong(401, "Incorrect API key provided.");
    if (call.method !== "POST" || !call.path.endsWith("/embeddings")) return wrong(404, "Not found.");
    if (call.at_ms < this.#closed_until_ms) return this.#busy(call.at_ms, this.#closed_until_ms - call.at_ms);
    const asked = JSON.parse(call.body) as Asked;
    const input = Array.isArray(asked.input) ? (asked.input as string[]) : [String(asked.input)];
    const tokens = input.map((text) => Math.ceil(text.length / 4));
    const sum = tokens.reduce((a, b) => a + b, 0);
    const refused = this.#refusal(input, tokens, sum);
    if (refused) return refused;
    if (!this.#take(call.at_ms, sum)) return this.#busy(call.at_ms, this.#minute.resets_ms - call.at_ms);
    const { wait, latency_ms, dimensions } = this.#options;
    await wait?.(latency_ms?.(sum) ?? 0);
    this.texts.push(...input);
    const model = String(asked.model);
    this.calls.push({ at_ms: call.at_ms, inputs: input.length, tokens: sum, model });
    const size = typeof asked.dimensions === "number" ? asked.dimensions : dimensions;
    const data = input.map((text, index) => ({ object: "embedding", index, embedding: hashed(text, model, size) }));
    if (this.shuffles) data.reverse();
    const usage = { prompt_tokens: sum, total_tokens: sum };
    return { status: 200, headers: this.#headers(call.at_ms), body: { object: "list", data, model, usage } };
  }

  #refusal(input: string[], tokens: number[], sum: number): EmbeddingsReply | null {
    if (input.length > INPUTS_MOST) return wrong(400, `'$.input' is invalid: ${INPUTS_MOST} inputs at most.`);
    if (sum > TOKENS_MOST) return wrong(400, `Requested ${sum} tokens, max ${TOKENS_MOST} tokens per request.`);
    const at = input.findIndex((text, i) => text === "" || tokens[i]! > INPUT_TOKENS_MOST || this.refuses(text));
    return at < 0 ? null : wrong(400, `'$.input[${at}]' is invalid.`);
  }

  #take(at_ms: number, tokens: number): boolean {
    const { requests_per_minute = 3_000, tokens_per_minute = 1_000_000 } = this.#options;
    if (at_ms >= this.#minute.resets_ms) this.#minute = { resets_ms: at_ms + MINUTE_MS, requests: 0, tokens: 0 };
    const { requests, tokens: spent } = this.#minute;
    if (requests + 1 > requests_per_minute || spent + tokens > tokens_per_minute) return false;
    this.#minute.requests += 1;
    this.#minute.tokens += tokens;
    return true;
  }

  #headers(at_ms: number): Record<string, string> {
    const { requests_per_minute = 3_000, tokens_per_minute = 1_000_000 } = this.#options;
    const { resets_ms, requests, tokens } = this.#minute;
    const reset = `${Math.max(0, resets_ms - at_ms)}ms`;
    return {
      "x-ratelimit-limit-requests": String(requests_per_minute),
      "x-ratelimit-remaining-requests": String(requests_per_minute - requests),
      "x-ratelimit-reset-requests": reset,
      "x-ratelimit-limit-tokens": String(tokens_per_minute),
      "x-ratelimit-remaining-tokens": String(tokens_per_minute - tokens),
      "x-ratelimit-reset-tokens": reset,
    };
  }

  #busy(at_ms: number, wait_ms: number): EmbeddingsReply {
    const reply = wrong(429, "Rate limit reached.");
    return { ...reply, headers: { ...this.#headers(at_ms), "retry-after": String(Math.ceil(wait_ms / 1000)) } };
  }
}

const wrong = (status: number, message: string): EmbeddingsReply => ({
  status,
  headers: {},
  body: { error: { message, type: "invalid_request_error" } },
});

/** Listens on loopback. */
export async function serveEmbeddings(
  embeddings: Embeddings,
  now_ms: () => number,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const call = { at_ms: now_ms(), method: request.method ?? "GET", path: request.url ?? "/", headers };
    const reply = await embeddings.answer({ ...call, body: Buffer.concat(parts).toString() });
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
