/** Every call to an upstream: within its budgets, with the right credential, and closed for the whole fleet when it asks us to wait. */
import type { Clock } from "../clock.ts";
import type { Answer, FetchRequest, Upstream } from "../contract.ts";
import { asTidemarkError, hasCode, TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { OutboundAnswer } from "../outbound/call.ts";
import { Outbound } from "../outbound/client.ts";
import { HostSlots } from "../outbound/host-slots.ts";
import type { HostTokens } from "../secrets.ts";
import type { Db } from "../store/db.ts";
import { judge, makeAnswer, type Verdict, withoutQuery } from "./answer.ts";
import { tell } from "./breaker-row.ts";
import { Credentials } from "./credential.ts";
import { Grants } from "./grant.ts";
import { Admission, type Admitted } from "./upstream-admission.ts";
import { Flights } from "./upstream-flights.ts";
import { Listening } from "./upstream-listening.ts";
import { Notices } from "./upstream-notices.ts";

const TIMEOUT_MS = 30_000;
/** Calls to one host at once from one process; those beyond wait before they take anything from a budget. */
const CALLS_PER_HOST = 32;
/** How many credentials one call tries at most. */
const CREDENTIALS_TRIED = 20;
/** How often a success is written down, and how often while somebody says that the upstream fails. */
const WELL_EVERY_MS = 10_000;
const WELL_DOUBTED_MS = 250;
/** A success that was not written down is, when a failure comes so soon after it. */
const WELL_LATELY_MS = 1_000;

export interface UpstreamParts {
  db: Db;
  clock: Clock;
  events: Events;
  user_agent: string;
  /** Private addresses or CIDRs that may be called. */
  allow_private?: readonly string[];
  /** Tokens by the host that they are for. */
  tokens?: HostTokens;
}

/** One call on its way. */
interface Trip {
  upstream: Upstream;
  target: URL;
  request: FetchRequest;
  signal: AbortSignal;
  /** On whose behalf; 0 outside of pulls. */
  resource: bigint;
}

export class Upstreams {
  readonly #parts: UpstreamParts;
  readonly #outbound: Outbound;
  readonly #slots = new HostSlots(CALLS_PER_HOST);
  readonly #grants: Grants;
  readonly #admission: Admission;
  readonly #credentials: Credentials;
  readonly #flights: Flights;
  readonly #listening: Listening;
  readonly #notices: Notices;
  readonly #well_ms = new Map<string, number>();
  readonly #untold = new Map<string, { resource: bigint; at_ms: number }>();

  constructor(parts: UpstreamParts) {
    const { db, clock, events, user_agent, allow_private = [], tokens = {} } = parts;
    this.#parts = parts;
    this.#outbound = new Outbound({ clock, user_agent, allow_private, connections_per_host: CALLS_PER_HOST });
    this.#grants = new Grants({
      db,
      clock,
      probe: async (upstream) => (await this.#tell(upstream, "asked", 0n, true, "")).next?.state === "probing",
      leave: async (upstream) => void (await this.#tell(upstream, "left", 0n, true, "")),
    });
    this.#admission = new Admission({ db, clock, grants: this.#grants });
    this.#credentials = new Credentials({ db, clock, events, tokens });
    this.#flights = new Flights(db, clock);
    this.#notices = new Notices(db, (name) => this.#grants.void(name));
    this.#listening = new Listening({ db, clock, events, grants: this.#grants, notices: this.#notices });
  }

  async close(): Promise<void> {
    this.#flights.close();
    await this.#notices.close();
    await this.#grants.close();
    await this.#outbound.close();
  }

  async fetch(
    upstream: Upstream,
    url: string,
    request: FetchRequest,
    signal: AbortSignal,
    resource = 0n,
  ): Promise<Answer> {
    if (!URL.canParse(url)) throw new TidemarkError("InputInvalid", `"${withoutQuery(url)}" is not an address.`);
    const trip = { upstream, target: new URL(url), request, signal, resource };
    this.#notices.listen();
    const leave = await this.#slots.take(trip.target.host, signal);
    try {
      return await this.#travel(trip);
    } finally {
      leave();
    }
  }

  /** An answer that is about the credential alone says nothing about the next one: refused ones drop out, until none is left. */
  async #travel(trip: Trip): Promise<Answer> {
    const { upstream, target, request, signal } = trip;
    for (let tries = 1; ; tries += 1) {
      const pool = await this.#credentials.pool(upstream, target, (at, header) => this.#askWith(trip, at, header));
      if (pool?.length === 0) throw await this.#refuse(trip, false);
      let admitted: Admitted;
      try {
        admitted = await this.#admission.admit(upstream, target, request, pool, signal);
      } catch (thrown) {
        if (hasCode(thrown, "UpstreamBusy")) await this.#listening.closeBehind(upstream, request, thrown);
        throw thrown;
      }
      try {
        return await this.#call(trip, admitted);
      } catch (thrown) {
        if (!(thrown instanceof AnotherCredential)) throw thrown;
        if (tries >= CREDENTIALS_TRIED) throw thrown.instead;
      }
    }
  }

  async #call(trip: Trip, admitted: Admitted): Promise<Answer> {
    const { upstream, signal, resource, request } = trip;
    const { permit, wish } = admitted;
    const { clock, events } = this.#parts;
    const begun = clock.elapsed_ms();
    let sent: OutboundAnswer | null = null;
    try {
      sent = await this.#flights.during(permit.flights, signal, (until) => this.#send(trip, admitted, until));
      const answer = makeAnswer(upstream.name, sent.status, sent.headers, sent.bytes);
      const verdict = judge(upstream.name, sent, request.answers);
      const answered = verdict.verdict === "answer";
      if (answered || verdict.verdict === "forbidden" || verdict.verdict === "busy") await this.#well(trip, admitted);
      // What a source reads its cost from is there only where it got its answer.
      await this.#listening.settle(answered ? request.settle : undefined, admitted, answer, sent.record);
      if (answered) return answer;
      throw await this.#consequence(trip, admitted, verdict, sent);
    } catch (thrown) {
      if (signal.aborted && permit.probe) await this.#tell(upstream.name, "left", resource, true, "");
      if (sent !== null || !hasCode(thrown, "UpstreamDown") || signal.aborted) throw thrown;
      throw await this.#down(trip, admitted, thrown.message, thrown);
    } finally {
      const { status = 0, bytes } = sent ?? {};
      const cost = wish.costs[0] ?? request.cost ?? 1;
      const ms = clock.elapsed_ms() - begun;
      const wait_ms = permit.waited_ms;
      events.emit("upstream_call", { upstream: upstream.name, status, bytes: bytes?.length ?? 0, ms, cost, wait_ms });
    }
  }

  #send({ target, request }: Trip, { credential }: Admitted, signal: AbortSignal): Promise<OutboundAnswer> {
    const { method, headers, body, bytes_max, timeout_ms = TIMEOUT_MS, redirects = "none" } = request;
    return this.#outbound.call(target.href, {
      headers: { ...headers, ...credential?.header },
      // A header that the source chose may hold a credential of its own.
      secret_headers: [
        ...Object.keys(credential?.header ?? {}),
        ...Object.keys(headers ?? {}).filter((name) => /auth|token|key|cookie|secret|pass|session/i.test(name)),
      ],
      redirects: { follow: redirects },
      timeouts: { headers_ms: timeout_ms, whole_ms: timeout_ms },
      signal,
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body }),
      ...(bytes_max === undefined ? {} : { bytes_max }),
    });
  }

  /** What follows from an answer that is none. */
  async #consequence(
    trip: Trip,
    admitted: Admitted,
    verdict: Exclude<Verdict, { verdict: "answer" }>,
    { status }: OutboundAnswer,
  ): Promise<Error> {
    const { upstream } = trip;
    const { sentence } = verdict;
    const details = { upstream: upstream.name, status, url: withoutQuery(trip.target.href) };
    switch (verdict.verdict) {
      case "busy": {
        const wait_ms = await this.#listening.close(upstream, admitted, verdict);
        const error = new TidemarkError("UpstreamBusy", sentence, { details, wait_ms });
        return admitted.credential ? new AnotherCredential(error) : error;
      }
      case "down":
        return this.#down(trip, admitted, sentence, undefined, details);
      case "forbidden":
        return new TidemarkError("UpstreamForbids", sentence, { details });
      case "refused":
        if (!admitted.credential || !upstream.credentials) return this.#refuse(trip, admitted.permit.probe, sentence);
        await this.#credentials.revoke(upstream.credentials.host, admitted.credential);
        if (admitted.permit.probe) await this.#tell(upstream.name, "left", trip.resource, true, "");
        return new AnotherCredential(
          new TidemarkError("UpstreamForbids", sentence, { details, charged: false, wait_ms: 60_000 }),
        );
    }
  }

  /** Nobody gets in with what we have: that is no resource's fault. */
  async #refuse({ upstream, resource }: Trip, probe: boolean, said?: string): Promise<TidemarkError> {
    const sentence = said ?? `${upstream.name} refuses every credential that we have. Check the tokens for that host.`;
    const { wait_ms } = await this.#tell(upstream.name, "refused", resource, probe, sentence);
    return new TidemarkError("UpstreamForbids", sentence, { charged: false, wait_ms: Math.max(wait_ms, 1_000) });
  }

  async #down(
    { upstream, resource }: Trip,
    { permit }: Admitted,
    sentence: string,
    cause?: unknown,
    details?: Record<string, unknown>,
  ): Promise<TidemarkError> {
    const untold = this.#untold.get(upstream.name);
    this.#untold.delete(upstream.name);
    // Or three that fail now and then among thousands would look as if nobody had succeeded between them.
    if (untold && this.#parts.clock.elapsed_ms() - untold.at_ms < WELL_LATELY_MS)
      await this.#tell(upstream.name, "succeeded", untold.resource, false, "");
    const { charged, wait_ms } = await this.#tell(upstream.name, "failed", resource, permit.probe, sentence);
    return new TidemarkError("UpstreamDown", sentence, {
      charged,
      ...(charged ? {} : { wait_ms }),
      ...(cause === undefined ? {} : { cause }),
      details: details ?? asTidemarkError(cause).details,
    });
  }

  async #well({ upstream, resource }: Trip, { permit }: Admitted): Promise<void> {
    const now_ms = this.#parts.clock.elapsed_ms();
    const passed_ms = now_ms - (this.#well_ms.get(upstream.name) ?? Number.NEGATIVE_INFINITY);
    if (this.#untold.size > 10_000) this.#untold.clear();
    this.#untold.set(upstream.name, { resource, at_ms: now_ms });
    if (!permit.probe && passed_ms < (permit.failing > 0 ? WELL_DOUBTED_MS : WELL_EVERY_MS)) return;
    this.#untold.delete(upstream.name);
    if (this.#well_ms.size > 10_000) this.#well_ms.clear();
    this.#well_ms.set(upstream.name, now_ms);
    await this.#tell(upstream.name, "succeeded", resource, permit.probe, "");
  }

  async #tell(
    upstream: string,
    event: "succeeded" | "failed" | "refused" | "asked" | "left",
    resource: bigint,
    probe: boolean,
    reason: string,
  ) {
    const change = await tell(this.#parts.db, this.#parts.events, upstream, event, { resource, probe }, reason);
    if (change.next && change.next.state !== "closed") {
      this.#grants.void(upstream);
      await this.#notices.tell(upstream);
    }
    return change;
  }

  /** A call outside of budgets, to learn whose a token is; it comes once for each token. */
  async #askWith({ upstream, target, signal }: Trip, at: string, header: Record<string, string>): Promise<Answer> {
    const url = new URL(at, target);
    if (url.origin !== target.origin)
      throw new TidemarkError("InputInvalid", `A token for ${target.host} is not sent to ${url.host}.`);
    const sent = await this.#outbound.call(url.href, { headers: header, signal, timeouts: { whole_ms: TIMEOUT_MS } });
    const verdict = judge(upstream.name, sent);
    if (verdict.verdict === "answer") return makeAnswer(upstream.name, sent.status, sent.headers, sent.bytes);
    throw new TidemarkError(verdict.verdict === "refused" ? "UpstreamForbids" : "UpstreamDown", verdict.sentence);
  }
}

/** The answer was about the credential: another one may do better. */
class AnotherCredential extends Error {
  readonly instead: TidemarkError;

  constructor(instead: TidemarkError) {
    super(instead.message);
    this.instead = instead;
  }
}
