/** Every call to an upstream: within its budget, bounded in time and size, and closed for the whole fleet when it asks us to wait. */
import sql from "sql-template-tag";
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import type { Answer, FetchRequest, Upstream } from "../contract.ts";
import { asTidemarkError, hasCode, TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db, Queryable } from "../store/db.ts";
import { judge, makeAnswer, withoutQuery } from "./answer.ts";
import { take } from "./budget.ts";

const TIMEOUT_MS = 30_000;
const BYTES_MAX = 32 * 1024 * 1024;
/** A longer wait ends the pull with `later` and frees its slot. */
const WAIT_HERE_MS = 250;

export interface UpstreamParts {
  db: Db;
  clock: Clock;
  events: Events;
  user_agent: string;
}

export class Upstreams {
  readonly #parts: UpstreamParts;
  readonly #agent = new Agent({
    connections: 16,
    connect: { timeout: 10_000 },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async fetch(upstream: Upstream, url: string, request: FetchRequest, signal: AbortSignal): Promise<Answer> {
    const { clock, events } = this.#parts;
    const cost = request.cost ?? 1;
    const wait_ms = await this.#wait(upstream, cost, signal);
    const begun = clock.elapsed_ms();
    let status = 0;
    let bytes = 0;
    try {
      const answer = await this.#call(upstream, url, request, signal);
      status = answer.status;
      bytes = answer.bytes.length;
      judge(upstream.name, url, answer.status, answer.headers);
      return answer;
    } catch (error) {
      if (hasCode(error, "UpstreamBusy")) await this.#close(upstream.name, error.wait_ms ?? 0, error.message);
      throw error;
    } finally {
      events.emit("upstream_call", {
        upstream: upstream.name,
        status,
        bytes,
        ms: clock.elapsed_ms() - begun,
        cost,
        wait_ms,
      });
    }
  }

  async #wait(upstream: Upstream, cost: number, signal: AbortSignal): Promise<number> {
    if (!upstream.budget) return 0;
    let waited_ms = 0;
    for (;;) {
      const wait_ms = await take(this.#parts.db, upstream.name, upstream.name, upstream.budget, cost);
      if (wait_ms === 0) return waited_ms;
      if (wait_ms >= WAIT_HERE_MS || waited_ms >= WAIT_HERE_MS)
        throw new TidemarkError("UpstreamBusy", `The allowance for ${upstream.name} is spent.`, { wait_ms });
      await this.#parts.clock.sleep(wait_ms, signal);
      waited_ms += wait_ms;
      if (signal.aborted) throw signal.reason;
    }
  }

  async #call(upstream: Upstream, url: string, request: FetchRequest, signal: AbortSignal): Promise<Answer> {
    const timeout = request.timeout_ms ?? TIMEOUT_MS;
    const time = new AbortController();
    const answered = new AbortController();
    void this.#parts.clock.sleep(timeout, answered.signal).then(() => time.abort());
    try {
      const target = new URL(url);
      if (target.protocol !== "http:" && target.protocol !== "https:")
        throw new TidemarkError("InputInvalid", `Only http and https are called, not ${target.protocol}`);
      const response = await this.#agent.request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: (request.method ?? "GET") as Dispatcher.HttpMethod,
        headers: { "user-agent": this.#parts.user_agent, accept: "*/*", ...request.headers },
        body: request.body ?? null,
        signal: AbortSignal.any([signal, time.signal]),
      });
      const headers = plainHeaders(response.headers);
      const body = await readBody(response.body, request.bytes_max ?? BYTES_MAX, upstream.name);
      return makeAnswer(upstream.name, response.statusCode, headers, body);
    } catch (error) {
      if (signal.aborted || error instanceof TidemarkError)
        throw asTidemarkError(signal.aborted ? signal.reason : error);
      const what = time.signal.aborted
        ? `did not answer within ${timeout} ms`
        : `could not be called: ${(error as Error).message}`;
      throw new TidemarkError("UpstreamDown", `${upstream.name} ${what}.`, {
        cause: error,
        details: { url: withoutQuery(url) },
      });
    } finally {
      answered.abort();
    }
  }

  async #close(upstream: string, wait_ms: number, reason: string): Promise<void> {
    await closeUpstream(this.#parts.db, upstream, wait_ms, reason);
    this.#parts.events.emit("upstream_closed", { upstream, reason, wait_ms, error_code: "UpstreamBusy" });
  }
}

function plainHeaders(given: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  return headers;
}

async function readBody(body: AsyncIterable<Uint8Array>, most: number, upstream: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > most) throw new TidemarkError("UpstreamChanged", `${upstream} sent more than ${most} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Closes an upstream for every worker until the time is over; a longer closing stands. */
export async function closeUpstream(db: Queryable, upstream: string, wait_ms: number, reason: string): Promise<void> {
  await db.query(sql`
    insert into tidemark.upstream (upstream, closed_until, closed_reason, closed_at)
    values (${upstream}, tidemark.now() + ${wait_ms}::float8 * interval '1 millisecond', ${reason}, tidemark.now())
    on conflict (upstream) do update
       set closed_until = excluded.closed_until, closed_reason = excluded.closed_reason, closed_at = excluded.closed_at
     where tidemark.upstream.closed_until is null or tidemark.upstream.closed_until < excluded.closed_until`);
}
