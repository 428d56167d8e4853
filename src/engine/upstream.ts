/** Every call to an upstream: within its budgets, with the right credential, and closed for the whole fleet when it asks us to wait. */
import type { Clock } from "../clock.ts";
import type { Answer, FetchRequest, Upstream } from "../contract.ts";
import { hasCode, TidemarkError } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Found, OutboundAnswer } from "../outbound/call.ts";
import { Outbound, type OutboundParts } from "../outbound/client.ts";
import { HostSlots } from "../outbound/host-slots.ts";
import type { HostTokens } from "../secrets.ts";
import type { Db } from "../store/db.ts";
import { judge, makeAnswer, type Verdict, withoutQuery } from "./answer.ts";
import { AnotherCredential, type Credential, Credentials } from "./credential.ts";
import type { Flight } from "./flight-line.ts";
import { Grants } from "./grant.ts";
import { Admission, type Admitted, addressOf, sentTo } from "./upstream-admission.ts";
import { Flights } from "./upstream-flights.ts";
import { Listening } from "./upstream-listening.ts";
import { Notices } from "./upstream-notices.ts";
import { sendingOf } from "./upstream-sending.ts";
import { Telling } from "./upstream-telling.ts";

const TIMEOUT_MS = 30_000;
/** Calls to one host at once from one process; those beyond wait before they take anything from a budget. */
const CALLS_PER_HOST = 32;
/** How many credentials one call tries at most. */
const CREDENTIALS_TRIED = 20;
/** A worker whose tokens are all refused does not claim there for so long, … */
const BARRED_MS = 60_000;
/** … and what it had claimed is due again for the others. */
const HANDED_ON_MS = 1_000;

export interface UpstreamParts {
  db: Db;
  clock: Clock;
  events: Events;
  user_agent: string;
  /** Private addresses or CIDRs that may be called. */
  allow_private?: readonly string[];
  /** The proxy to the open Internet. */
  proxy?: string | null;
  /** Tokens by the host that they are for. */
  tokens?: HostTokens;
  /** In the place of the system's resolver and the usual certificates. */
  outbound?: Pick<OutboundParts, "resolve" | "ca">;
}

/** One call on its way. */
interface Trip {
  upstream: Upstream;
  target: URL;
  as_host: string;
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
  readonly #telling: Telling;
  readonly #barred_ms = new Map<string, number>();

  constructor(parts: UpstreamParts) {
    const { db, clock, events, user_agent, allow_private = [], tokens = {}, outbound = {}, proxy = null } = parts;
    const connections_per_host = CALLS_PER_HOST;
    this.#parts = parts;
    this.#outbound = new Outbound({ clock, user_agent, allow_private, proxy, connections_per_host, ...outbound });
    this.#grants = new Grants({
      db,
      clock,
      probe: async (name) => (await this.#telling.tell(name, "asked", PROBE)).next?.state === "probing",
      leave: async (name) => void (await this.#telling.tell(name, "left", PROBE)),
    });
    this.#admission = new Admission({ db, clock, grants: this.#grants });
    this.#credentials = new Credentials({ db, clock, events, tokens });
    this.#flights = new Flights(db, clock);
    this.#notices = new Notices(db, (name) => this.#grants.void(name));
    const shared = { db, clock, events, grants: this.#grants, notices: this.#notices };
    this.#listening = new Listening(shared);
    this.#telling = new Telling(shared);
  }

  async close(): Promise<void> {
    await this.#flights.close();
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
    const trip = { upstream, ...sentTo(new URL(url), request), request, signal, resource };
    this.#notices.listen();
    this.#telling.know(upstream);
    const leave = await this.#slots.take(trip.target.host, signal);
    try {
      return await this.#travel(trip);
    } finally {
      leave();
    }
  }

  /** Whether nothing of this upstream should be claimed here: others have tokens that it takes, and this process has none. */
  barred(upstream: string): boolean {
    return (this.#barred_ms.get(upstream) ?? 0) > this.#parts.clock.elapsed_ms();
  }

  /** An answer that is about the credential alone says nothing about the next one: refused ones drop out, until none is left. */
  async #travel(trip: Trip): Promise<Answer> {
    const { upstream, target, signal } = trip;
    for (let tries = 1; ; tries += 1) {
      const pool = await this.#credentials.pool(upstream, target, (at, header) => this.#askWith(trip, at, header));
      if (pool?.length === 0) throw await this.#refuse(trip, false);
      // Before it is let go: where a name takes seconds to find, calls that were let go evenly would go out together.
      const found = await this.#outbound.find(target.href, signal).catch((thrown: unknown) => ({ thrown }));
      const flight = await this.#flights.take(upstream, signal);
      try {
        const admitted = await this.#admit(trip, pool, addressOf(found));
        return await this.#call(trip, admitted, flight, found);
      } catch (thrown) {
        if (!(thrown instanceof AnotherCredential)) throw thrown;
        if (tries >= CREDENTIALS_TRIED) throw thrown.instead;
      } finally {
        flight?.line.leave(flight);
      }
    }
  }

  async #admit(
    { upstream, target, request, signal }: Trip,
    pool: Credential[] | null,
    address: string | null,
  ): Promise<Admitted> {
    try {
      return await this.#admission.admit(upstream, target, request, pool, signal, address);
    } catch (thrown) {
      if (hasCode(thrown, "UpstreamBusy")) await this.#listening.closeBehind(upstream, request, thrown);
      throw thrown;
    }
  }

  async #call(
    trip: Trip,
    admitted: Admitted,
    flight: Flight | null,
    found: Found | { thrown: unknown },
  ): Promise<Answer> {
    const { upstream, signal, resource, request } = trip;
    const { probe } = admitted.permit;
    const { clock, events } = this.#parts;
    const begun = clock.elapsed_ms();
    let sent: OutboundAnswer | null = null;
    try {
      // What was not found fails here, as a call that was let go: or nobody would ever test an upstream whose name is gone.
      if ("thrown" in found) throw found.thrown;
      const send = (until: AbortSignal) => this.#send(trip, admitted, found, until);
      sent = await this.#flights.during(flight, admitted.permit, signal, send, request.gap_ms);
      const answer = makeAnswer(upstream.name, sent.status, sent.headers, sent.bytes);
      const verdict = judge(upstream.name, sent, request.answers);
      const answered = verdict.verdict === "answer";
      if (answered || verdict.verdict === "forbidden" || verdict.verdict === "busy")
        await this.#telling.well(upstream.name, resource, admitted.permit);
      // What a source reads its cost from is there only where it got its answer.
      await this.#listening.settle(answered ? request.settle : undefined, admitted, answer);
      if (answered) return answer;
      throw await this.#consequence(trip, admitted, verdict, sent);
    } catch (thrown) {
      const down = sent === null && hasCode(thrown, "UpstreamDown") && !signal.aborted;
      if (down) throw await this.#telling.down(upstream.name, { resource, probe }, thrown.message, thrown);
      if (sent === null && probe) await this.#telling.tell(upstream.name, "left", { resource, probe });
      throw thrown;
    } finally {
      const { status = 0, bytes } = sent ?? {};
      const { permit, wish } = admitted;
      const cost = wish.costs[0] ?? request.cost ?? 1;
      const ms = clock.elapsed_ms() - begun;
      const wait_ms = permit.waited_ms;
      const took = wish.budgets.map((b, k) => ({
        budget: b.budget,
        cost: wish.costs[k]!,
        window: Number(permit.nos[k]),
      }));
      const told = { upstream: upstream.name, status, bytes: bytes?.length ?? 0, ms, cost, wait_ms, took };
      events.emit("upstream_call", told);
    }
  }

  #send(trip: Trip, admitted: Admitted, found: Found, signal: AbortSignal): Promise<OutboundAnswer> {
    const { upstream, target, as_host, request } = trip;
    return this.#outbound.call(target.href, {
      ...sendingOf(request, admitted.credential?.header),
      found,
      as_host,
      admit: (sending) => this.#admission.atTheDoor(upstream, request, admitted, sending),
      signal,
    });
  }

  /** What follows from an answer that is none. */
  async #consequence(
    trip: Trip,
    admitted: Admitted,
    verdict: Exclude<Verdict, { verdict: "answer" }>,
    { status }: OutboundAnswer,
  ): Promise<Error> {
    const { upstream, resource } = trip;
    const { credential, permit } = admitted;
    const { sentence } = verdict;
    const teller = { resource, probe: permit.probe };
    const details = { upstream: upstream.name, status, url: withoutQuery(trip.target.href) };
    switch (verdict.verdict) {
      case "busy": {
        const wait_ms = await this.#listening.close(upstream, admitted, verdict);
        const error = new TidemarkError("UpstreamBusy", sentence, { details, wait_ms });
        return credential ? new AnotherCredential(error) : error;
      }
      case "down":
        return this.#telling.down(upstream.name, teller, sentence, undefined, details);
      case "forbidden":
        return new TidemarkError("UpstreamForbids", sentence, { details });
      case "refused": {
        if (!credential || !upstream.credentials) return this.#refuse(trip, permit.probe, sentence);
        const ask = (at: string) => this.#askWith(trip, at, credential.header);
        if (await this.#credentials.isGood(upstream.credentials, credential, ask)) {
          await this.#telling.well(upstream.name, resource, permit);
          const why = `${upstream.name} does not let us see this (HTTP 401), and takes our token elsewhere.`;
          return new TidemarkError("UpstreamForbids", why, { details });
        }
        if (permit.probe) await this.#telling.tell(upstream.name, "left", teller);
        const error = { details, charged: false, wait_ms: BARRED_MS };
        return new AnotherCredential(new TidemarkError("UpstreamForbids", sentence, error));
      }
    }
  }

  /** Nobody gets in with what we have: that is no resource's fault. Where others of the fleet do get in, it is ours alone. */
  async #refuse({ upstream, resource }: Trip, probe: boolean, said?: string): Promise<TidemarkError> {
    const { name, credentials } = upstream;
    if (credentials && (await this.#credentials.othersWork(credentials.host))) {
      if (probe) await this.#telling.tell(name, "left", { resource, probe });
      if (this.#barred_ms.size > 10_000) this.#barred_ms.clear();
      this.#barred_ms.set(name, this.#parts.clock.elapsed_ms() + BARRED_MS);
      const sentence = `${name} takes none of the tokens that this worker has, and those of others. Check the tokens of this worker.`;
      return new TidemarkError("UpstreamForbids", sentence, { charged: false, wait_ms: HANDED_ON_MS });
    }
    const sentence = said ?? `${name} refuses every credential that we have. Check the tokens for that host.`;
    const { wait_ms } = await this.#telling.tell(name, "refused", { resource, probe }, sentence);
    return new TidemarkError("UpstreamForbids", sentence, { charged: false, wait_ms: Math.max(wait_ms, 1_000) });
  }

  /** A call outside of budgets, to learn whose a token is; it comes once for each token, and not while we were told to wait. */
  async #askWith({ upstream, target, signal }: Trip, at: string, header: Record<string, string>): Promise<Answer> {
    const { name } = upstream;
    const url = new URL(at, target);
    if (url.origin !== target.origin)
      throw new TidemarkError("InputInvalid", `A token for ${target.host} is not sent to ${url.host}.`);
    await this.#listening.requireOpen(name);
    const sent = await this.#outbound.call(url.href, { headers: header, signal, timeouts: { whole_ms: TIMEOUT_MS } });
    const verdict = judge(name, sent);
    switch (verdict.verdict) {
      case "answer":
        return makeAnswer(name, sent.status, sent.headers, sent.bytes);
      case "refused":
        throw new TidemarkError("UpstreamForbids", verdict.sentence);
      case "down":
        throw new TidemarkError("UpstreamDown", verdict.sentence);
      case "forbidden":
        throw new TidemarkError("UpstreamChanged", `${name} does not say whose a token is (HTTP 403).`);
      case "busy": {
        const wait_ms = await this.#listening.closeAll(name, verdict);
        throw new TidemarkError("UpstreamBusy", verdict.sentence, { wait_ms });
      }
    }
  }
}

const PROBE = { resource: 0n, probe: true };
