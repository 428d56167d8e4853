/** The one HTTP client: everything that Tidemark calls goes through here, guarded at every hop and bounded in every direction. */
import { createWriteStream } from "node:fs";
import { isIP } from "node:net";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../clock.ts";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import {
  BYTES_MAX,
  type Call,
  type Found,
  type OutboundAnswer,
  type StreamedAnswer,
  type StreamedBody,
  TIMEOUTS,
} from "./call.ts";
import { makeConnector } from "./connector.ts";
import { decoded, encodingsOf } from "./decode.ts";
import { Exchange } from "./exchange.ts";
import { Guard, type GuardParts, type Way } from "./guard.ts";
import { HostSlots } from "./host-slots.ts";
import { Journey } from "./journey.ts";
import { type Line, Lines } from "./lines.ts";
import { readProxy } from "./proxy.ts";
import { nextHop, type Sent } from "./redirect.ts";
import { sentHeaders } from "./sent-headers.ts";
import { hostOf, readTarget } from "./target.ts";
import { withinTime } from "./time-limit.ts";

const CONNECTIONS_PER_HOST = 16;
/** The body of a redirect is read to its end when it is as short as this, so that its connection can be used again. */
const DISCARDED_BYTES_MAX = 64 * 1024;
/** Sending these twice does what sending them once does (RFC 9110, 9.2.2). */
const repeatable_methods = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"]);

export interface OutboundParts extends GuardParts {
  clock: Clock;
  /** Who we are and how to reach us. */
  user_agent: string;
  /** Calls to one host at once, 16 unless said; more wait in line. */
  connections_per_host?: number;
  /** A certificate to trust in the place of the usual ones. */
  ca?: string;
  /** The proxy to the open Internet, as a URL; what the environment says of proxies to others is not read. */
  proxy?: string | null;
}

export class Outbound {
  readonly #parts: OutboundParts;
  readonly #guard: Guard;
  readonly #slots: HostSlots;
  readonly #lines: Lines;
  /** What this client checked itself; anything else that is handed to it is looked up. */
  readonly #found = new WeakSet<Found>();

  constructor(parts: OutboundParts) {
    const { clock, connections_per_host = CONNECTIONS_PER_HOST, ca, proxy } = parts;
    this.#parts = parts;
    this.#guard = new Guard(parts);
    this.#slots = new HostSlots(connections_per_host);
    const checkAddress = (address: string, host: string) => this.#guard.checkAddress(address, host);
    const trusted = ca === undefined ? {} : { ca };
    const connector = makeConnector({ clock, checkAddress, ...trusted, ...(proxy ? { proxy: readProxy(proxy) } : {}) });
    this.#lines = new Lines(connector, connections_per_host);
  }

  /** Ends every call under way, and every connection. */
  async close(): Promise<void> {
    await this.#lines.close();
  }

  /** Looks a host up and checks what it finds, for a call that follows at once: so that nothing is waited for in between. */
  async find(text: string, signal: AbortSignal): Promise<Found> {
    const url = readTarget(text);
    const way = await this.#check(url, signal, TIMEOUTS.connect_ms);
    const found = { origin: url.origin, ...way };
    this.#found.add(found);
    return found;
  }

  /** The answer with its whole body. Every status is an answer; what is thrown is a TidemarkError with the record in its details. */
  async call(url: string, call: Call = {}): Promise<OutboundAnswer> {
    const { journey, exchange, sent } = await this.#travel(url, call);
    const { status, headers } = exchange;
    const parts: Uint8Array[] = [];
    const body = this.#read(journey, exchange, sent);
    if (call.save_to !== undefined && status === 200)
      await pipeline(body, createWriteStream(call.save_to, { flags: "wx" }));
    else for await (const part of body) parts.push(part);
    return { status, headers, url: sent.url.href, bytes: Buffer.concat(parts), record: journey.record };
  }

  /** The answer with its body still to come, under the same limits. */
  async stream(url: string, call: Call = {}): Promise<StreamedAnswer> {
    const { journey, exchange, sent } = await this.#travel(url, call);
    const reading = this.#read(journey, exchange, sent);
    const body: StreamedBody = {
      [Symbol.asyncIterator]: () => reading,
      cancel: () => exchange.cancel(),
    };
    const { status, headers } = exchange;
    return { status, headers, url: sent.url.href, body, record: () => journey.record };
  }

  /** From the first request to the head of the last answer. */
  async #travel(text: string, call: Call): Promise<{ journey: Journey; exchange: Exchange; sent: Sent }> {
    const url = readTarget(text);
    const headers = sentHeaders(call.headers ?? {}, this.#parts.user_agent);
    let sent: Sent = { url, method: (call.method ?? "GET").toUpperCase(), headers, body: call.body ?? null };
    const { redirects: policy = { follow: "none" }, secret_headers = [] } = call;
    const journey = new Journey(url.host, call, this.#parts.clock);
    let exchange: Exchange | null = null;
    try {
      for (;;) {
        exchange = await this.#send(sent, journey);
        const hop = { policy, taken: journey.redirects, secret_headers };
        const next = nextHop(sent, exchange.status, exchange.headers.location, hop);
        if (next === null) {
          // Also where nobody reads: what has failed or arrived in full needs no watch any more.
          void exchange.over.then(() => journey.end());
          return { journey, exchange, sent };
        }
        await discard(exchange);
        sent = next;
        journey.redirects += 1;
        journey.goTo(next.url.host);
      }
    } catch (thrown) {
      const failure = journey.failure(thrown);
      exchange?.cancel();
      journey.end();
      throw failure;
    }
  }

  /** Once more where a kept connection was closed before anything of an answer came, and twice can do no harm. */
  async #send(sent: Sent, journey: Journey): Promise<Exchange> {
    const exchange = await this.#open(sent, journey);
    try {
      await exchange.head;
      return exchange;
    } catch (thrown) {
      const harmless = journey.call.repeatable ?? repeatable_methods.has(sent.method);
      if (!harmless || !exchange.unlucky || journey.repeated) throw thrown;
      journey.repeated = true;
      return this.#send(sent, journey);
    }
  }

  /** Checks where it goes, waits for its turn, and sends it. */
  async #open(sent: Sent, journey: Journey): Promise<Exchange> {
    const { url } = sent;
    const { signal } = journey;
    const { found } = journey.call;
    const known = journey.sent === 0 && found?.origin === url.origin && this.#found.has(found);
    const way = known ? found : await this.#check(url, signal, journey.timeouts.connect_ms);
    const giveBack = await this.#slots.take(url.hostname, signal);
    try {
      const line = await this.#line(url, way, journey);
      const exchange = this.#begin(sent, journey, line);
      void exchange.over.then(giveBack);
      return exchange;
    } catch (thrown) {
      giveBack();
      throw thrown;
    }
  }

  /** First a connection, then leave to send: the other way round, what was allowed would be sent when its time is over. */
  async #line(url: URL, { addresses, through_proxy }: Way, journey: Journey): Promise<Line> {
    const { signal, timeouts, call, sent } = journey;
    const checked = { addresses, through_proxy, connect_ms: timeouts.connect_ms };
    for (;;) {
      const line = this.#lines.take(url, checked, journey.repeated);
      try {
        await line.open(signal);
        await call.admit?.({ url, sent, signal });
        if (signal.aborted) throw asTidemarkError(signal.reason);
      } catch (thrown) {
        this.#lines.drop(line);
        throw thrown;
      }
      if (line.alive) return line;
      // It was closed while we waited for leave.
      this.#lines.drop(line);
    }
  }

  #begin({ url, method, headers, body }: Sent, journey: Journey, line: Line): Exchange {
    const { clock } = this.#parts;
    const { signal, timeouts, call } = journey;
    const wire_bytes_max = call.wire_bytes_max ?? BYTES_MAX;
    const exchange = new Exchange({ host: url.host, line, clock, timeouts, wire_bytes_max });
    const hurry = () => exchange.fail(asTidemarkError(signal.reason));
    signal.addEventListener("abort", hurry, { once: true });
    void exchange.over.then(() => {
      signal.removeEventListener("abort", hurry);
      if (exchange.complete) this.#lines.giveBack(line);
      else this.#lines.drop(line);
    });
    journey.through(exchange);
    journey.sent += 1;
    const { as_host } = call;
    const named = as_host === undefined || journey.redirects > 0 ? headers : { ...headers, host: as_host };
    line.client.dispatch({ path: `${url.pathname}${url.search}`, method, headers: named, body }, exchange);
    return exchange;
  }

  /** An address needs no resolver, and so no waiting. */
  #check(url: URL, signal: AbortSignal, ms: number): Promise<Way> {
    const checking = this.#parts.proxy
      ? this.#guard.checkWithProxy(url)
      : this.#guard.check(url).then((addresses) => ({ addresses, through_proxy: false }));
    if (isIP(hostOf(url))) return checking;
    const late = () => new TidemarkError("UpstreamDown", `No address was found for ${url.hostname} within ${ms} ms.`);
    return withinTime(checking, { clock: this.#parts.clock, ms, late, signal });
  }

  /** The body as its reader gets it; however the reading ends, the connection is given back or closed. */
  async *#read(journey: Journey, exchange: Exchange, { method, url }: Sent): AsyncGenerator<Uint8Array, void> {
    const { bytes_max = BYTES_MAX, wire_bytes_max = BYTES_MAX } = journey.call;
    const { host } = url;
    try {
      const empty = method === "HEAD" || exchange.status === 204 || exchange.status === 304;
      if (!empty && Number(exchange.headers["content-length"] ?? 0) > wire_bytes_max)
        throw new TidemarkError("UpstreamChanged", `${host} wants to send more than ${wire_bytes_max} bytes.`);
      const encodings = empty ? [] : encodingsOf(exchange.headers["content-encoding"], host);
      for await (const part of decoded(exchange.body(), encodings, { host, bytes_max })) {
        if (journey.received(part.length) > bytes_max)
          throw new TidemarkError("UpstreamChanged", `${host} sent more than ${bytes_max} bytes.`);
        yield part;
      }
    } catch (thrown) {
      throw journey.failure(thrown);
    } finally {
      // What undoes an encoding may be waiting for more, and cannot be called back from there.
      exchange.cancel();
    }
  }
}

/** Nobody reads the body of a redirect; what becomes of it hinders nothing. */
async function discard(exchange: Exchange): Promise<void> {
  const length = Number(exchange.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  if (!(length <= DISCARDED_BYTES_MAX)) return exchange.cancel();
  try {
    for await (const _ of exchange.body());
  } catch {
    exchange.cancel();
  }
}
