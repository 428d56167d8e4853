/** What tests of calls stand on: processes that call a pretend upstream on one database, all on a virtual clock. */
import { type UpstreamParts, Upstreams } from "../../src/engine/upstream.ts";
import { type EventFields, Events } from "../../src/events.ts";
import type { Answer, FetchRequest, TidemarkError, Upstream } from "../../src/index.ts";
import type { HostTokens } from "../../src/secrets.ts";
import type { Db } from "../../src/store/db.ts";
import { type Asked, type PretendUpstream, pretendUpstream, type Reply } from "../../src/testing/upstream.ts";
import { setDatabaseClock, VirtualClock } from "../../src/testing/virtual-clock.ts";
import { wipe } from "../../src/testing/wipe.ts";

export const codeOf = (result: Answer | TidemarkError): string => (result instanceof Error ? result.code : "answer");

export class CallRig {
  readonly #store: Db;
  db: Db;
  clock = new VirtualClock();
  events = new Events();
  /** What every process of the fleet says. */
  said: { name: string; fields: Record<string, unknown> }[] = [];
  upstream!: PretendUpstream;
  answer: (asked: Asked) => Reply = () => ({ body: "well" });
  /** Where calls go instead of the pretend upstream's own address. */
  origin: string | null = null;
  #fleet: Upstreams[] = [];

  constructor(store: Db) {
    this.#store = store;
    this.db = store;
  }

  async reset(processes = 1, tokens: HostTokens = {}): Promise<void> {
    await wipe(this.#store);
    this.clock = new VirtualClock();
    this.db = await setDatabaseClock(this.#store, this.clock);
    this.events = new Events();
    this.said = [];
    this.events.onAny((name, fields) => this.said.push({ name, fields: fields as Record<string, unknown> }));
    this.answer = () => ({ body: "well" });
    this.origin = null;
    this.upstream = await pretendUpstream(this.clock, (asked) => this.answer(asked));
    this.#fleet = Array.from({ length: processes }, () => this.process(tokens));
  }

  /** One process; on a database of its own where that behaves otherwise. */
  process(tokens: HostTokens, db = this.db, outbound: UpstreamParts["outbound"] = {}): Upstreams {
    const { clock, events } = this;
    return new Upstreams({ db, clock, events, user_agent: "test", tokens, allow_private: ["127.0.0.1"], outbound });
  }

  /** Every process ends and begins anew, with other tokens or another way to the database. */
  async restart(tokens: HostTokens = {}, db = this.db, outbound: UpstreamParts["outbound"] = {}): Promise<void> {
    for (const one of this.#fleet) await one.close();
    this.#fleet = this.#fleet.map(() => this.process(tokens, db, outbound));
  }

  /** One process of the fleet ends and begins anew with tokens of its own. */
  async restartOne(process: number, tokens: HostTokens): Promise<void> {
    await this.#fleet[process]!.close();
    this.#fleet[process] = this.process(tokens);
  }

  barred(process: number, upstream: string): boolean {
    return this.#fleet[process]!.barred(upstream);
  }

  async end(): Promise<void> {
    for (const one of this.#fleet) await one.close();
    await this.upstream.close();
    await this.clock.settle();
  }

  /** Begins a call; only the test moves the clock. */
  begin(upstream: Upstream, request: FetchRequest = {}, resource = 1n, process = 0): Promise<Answer | TidemarkError> {
    const path = request.group ? `/${request.group}` : "/";
    return this.#fleet[process]!.fetch(
      upstream,
      `${this.origin ?? this.upstream.url}${path}?secret=1`,
      request,
      new AbortController().signal,
      resource,
    ).catch((error: TidemarkError) => error);
  }

  /** Lets time pass until all of this has ended. */
  async ended<T>(...all: Promise<T>[]): Promise<T[]> {
    let ended = false;
    const ending = Promise.all(all).finally(() => {
      ended = true;
    });
    await this.clock.until(() => ended, 3600_000);
    return ending;
  }

  /** One call to its end: its answer, or what was thrown. */
  async call(...given: Parameters<CallRig["begin"]>): Promise<Answer | TidemarkError> {
    return (await this.ended(this.begin(...given)))[0]!;
  }

  /** The code of what was thrown; "answer" when nothing was. */
  async outcome(...given: Parameters<CallRig["call"]>): Promise<string> {
    return codeOf(await this.call(...given));
  }

  events_named<N extends keyof EventFields>(name: N): EventFields[N][] {
    return this.said.filter((s) => s.name === name).map((s) => s.fields as EventFields[N]);
  }

  get calls(): number {
    return this.upstream.requests.length;
  }
}
