/** The pretend GitHub: answers calls as GitHub does, with its limits, its refusals and its bad days. */
import { type ExecutionResult, execute, GraphQLError } from "graphql";
import type { Asking } from "./answering.ts";
import type { Issue } from "./issues.ts";
import { type LimitOptions, Limits, standard } from "./limits.ts";
import { type Price, priceOf } from "./points.ts";
import { fieldResolver, typeResolver } from "./resolvers.ts";
import { check, githubSchema } from "./schema.ts";
import { World } from "./world.ts";

/** A call as it arrives. */
export interface Call {
  /** Milliseconds since 1970. */
  at_ms: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** What goes wrong with a call on purpose: no answer in time, or an answer that lacks what stands at some paths. */
export type Mischief = { mischief: "timeout" } | { mischief: "partial"; paths: (string | number)[][] };

export interface HubOptions {
  limits?: Partial<LimitOptions>;
  /** An Enterprise Server: other paths, and no limits unless its administrator set some. */
  enterprise?: boolean;
  /** Answers those who show no token, too, which GitHub does not. */
  anonymous?: boolean;
  /** How long a call takes, each the same or by what it asks, and how to wait for that. */
  latency_ms?: number | ((call: Call) => number);
  wait?(ms: number): Promise<void>;
}

/** A GraphQL call that was answered, for tests to look at. */
export interface Answered {
  at_ms: number;
  viewer: string | null;
  query: string;
  variables: Record<string, unknown>;
  points: number;
  status: number;
}

const TIMEOUT_MS = 10_000;
const SLOW_MOST_MS = 10_000;
/** Processor time of a call, and of each node that it may answer with. */
const CALL_CPU_MS = 5;
const NODE_CPU_MS = 0.02;

export class GitHub extends World {
  readonly #options: HubOptions;
  readonly #limits = new Map<string, Limits>();
  readonly calls: Answered[] = [];
  /** Every call of any kind, refused ones too. */
  count = 0;
  /** How long GitHub needs for a repository, by its id; beyond ten seconds in all, a call times out. */
  readonly slow = new Map<string, number>();
  /** Issues of which GitHub says less than there is, on a page with so many of them. */
  cuts_short: (issue: Issue, wide: number) => boolean = () => false;
  /** Decides for each GraphQL call, numbered from 1, what goes wrong with it. */
  mischief: (no: number, query: string, variables: Record<string, unknown>) => Mischief | null = () => null;

  constructor(options: HubOptions = {}) {
    super();
    this.#options = options;
  }

  /** Points that were spent by all accounts together. */
  get points(): number {
    return this.calls.reduce((sum, call) => sum + call.points, 0);
  }

  async answer(call: Call): Promise<Reply> {
    this.count += 1;
    this.now_ms = Math.max(this.now_ms, call.at_ms);
    const token = /^(?:bearer|token) (.+)$/i.exec(call.headers.authorization ?? "")?.[1];
    const viewer = token === undefined ? null : (this.tokens.get(token) ?? null);
    if (token !== undefined && viewer === null) return refused(401, "Bad credentials");
    const path = this.#options.enterprise ? enterprisePath(call.path) : call.path;
    if (path === null) return refused(404, "Not Found");
    const limits = this.#limitsOf(`${viewer ?? ""} ${path === "/graphql" ? "graphql" : "core"}`);
    const wait_s = limits.secondary(call.at_ms);
    if (wait_s !== null && this.#limited) return secondary(wait_s);
    limits.out += 1;
    try {
      const { latency_ms = 0, wait } = this.#options;
      await wait?.(typeof latency_ms === "number" ? latency_ms : latency_ms(call));
      if (path === "/graphql" && call.method === "POST") return this.#graphql(call, viewer, limits);
      return this.#rest(call, path, viewer, limits);
    } finally {
      limits.out -= 1;
    }
  }

  /** An Enterprise Server has no limits unless it is given some. */
  get #limited(): boolean {
    return !this.#options.enterprise || this.#options.limits !== undefined;
  }

  #limitsOf(account: string): Limits {
    const known = this.#limits.get(account) ?? new Limits({ ...standard, ...this.#options.limits });
    this.#limits.set(account, known);
    return known;
  }

  #rest(call: Call, path: string, viewer: string | null, limits: Limits): Reply {
    if (this.#limited && !limits.take(call.at_ms, 1))
      return { ...refused(403, "API rate limit exceeded"), headers: this.#headers(limits, call.at_ms, "core") };
    const headers = this.#headers(limits, call.at_ms, "core");
    const ok = (body: unknown): Reply => ({ status: 200, headers, body });
    if (path === "/user") return viewer === null ? refused(401, "Requires authentication") : ok({ login: viewer });
    const name = /^\/repos\/([^/]+\/[^/]+)$/.exec(path)?.[1];
    const found = name === undefined ? null : this.find(name);
    if (!found || !this.sees(viewer, found)) return { ...refused(404, "Not Found"), headers };
    const { id, owner, isPrivate, isFork, isArchived, isDisabled } = found;
    return ok({
      node_id: id,
      full_name: `${owner}/${found.name}`,
      private: isPrivate,
      fork: isFork,
      archived: isArchived,
      disabled: isDisabled,
    });
  }

  #graphql(call: Call, viewer: string | null, limits: Limits): Reply {
    if (viewer === null && !this.#options.anonymous)
      return refused(401, "This endpoint requires you to be authenticated.");
    const asked = readQuery(call.body);
    if (!asked) return refused(400, "Problems parsing JSON");
    const { query, variables } = asked;
    const answered: Answered = { at_ms: call.at_ms, viewer, query, variables, points: 0, status: 200 };
    this.calls.push(answered);
    const headers = () => this.#headers(limits, call.at_ms, "graphql");
    const errors = (list: readonly GraphQLError[]): Reply => ({
      status: 200,
      headers: headers(),
      body: { errors: list.map(spoken) },
    });
    let price: Price;
    try {
      const { errors: wrong, document } = check(query);
      if (wrong.length > 0) return errors(wrong);
      price = priceOf(document, variables);
    } catch (thrown) {
      if (!(thrown instanceof GraphQLError)) throw thrown;
      return errors([thrown]);
    }
    if (this.#limited && !limits.take(call.at_ms, price.points))
      return { status: 200, headers: headers(), body: spent };
    answered.points = price.points;
    limits.worked(CALL_CPU_MS + price.nodes * NODE_CPU_MS);
    const mischief = this.mischief(this.calls.length, query, variables);
    const { result, slow_ms } = this.#execute(query, variables, viewer, call.at_ms, limits, price);
    if (mischief?.mischief === "timeout" || slow_ms > SLOW_MOST_MS) {
      // GitHub deducts additional points for what took too long.
      limits.punish(1);
      limits.worked(TIMEOUT_MS);
      answered.status = 502;
      return { status: 502, headers: headers(), body: timedOut };
    }
    const whole = { ...result, ...(result.errors ? { errors: result.errors.map(spoken) } : {}) } as Whole;
    if (mischief) for (const path of mischief.paths) blank(whole, path);
    return { status: 200, headers: headers(), body: whole };
  }

  #execute(
    query: string,
    variableValues: Record<string, unknown>,
    viewer: string | null,
    at_ms: number,
    limits: Limits,
    price: Price,
  ): { result: ExecutionResult; slow_ms: number } {
    const { limit, remaining, used, resets_ms } = limits.state(at_ms);
    const resetAt = `${new Date(resets_ms).toISOString().slice(0, 19)}Z`;
    let slow_ms = 0;
    const contextValue: Asking = {
      world: this,
      viewer,
      no: this.calls.length,
      rate: this.#limited ? { cost: price.points, nodeCount: price.nodes, limit, remaining, used, resetAt } : null,
      met: ({ id }) => {
        slow_ms += this.slow.get(id) ?? 0;
      },
      cuts_short: this.cuts_short,
    };
    const { document } = check(query);
    const parts = { schema: githubSchema(), document, variableValues, contextValue, fieldResolver, typeResolver };
    // Nothing that it reads has to be waited for.
    return { result: execute(parts) as ExecutionResult, slow_ms };
  }

  #headers(limits: Limits, at_ms: number, resource: string): Record<string, string> {
    if (!this.#limited) return {};
    const { limit, remaining, used, resets_ms } = limits.state(at_ms);
    return {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-used": String(used),
      "x-ratelimit-reset": String(Math.ceil(resets_ms / 1000)),
      "x-ratelimit-resource": resource,
    };
  }
}

/** Where github.com has what an Enterprise Server has below /api; null where it has nothing. */
function enterprisePath(path: string): string | null {
  return path === "/api/graphql" ? "/graphql" : path.startsWith("/api/v3/") ? path.slice("/api/v3".length) : null;
}

interface Whole {
  data?: Record<string, unknown> | null;
  errors?: unknown[];
}

/** Takes away what stands at a path, with an error that says so. */
function blank(whole: Whole, path: (string | number)[]): void {
  let at = whole.data as Record<string | number, unknown> | null | undefined;
  for (const step of path.slice(0, -1)) at = at?.[step] as Record<string | number, unknown> | null | undefined;
  const last = path.at(-1);
  if (!at || last === undefined || !(last in at)) return;
  at[last] = null;
  whole.errors = [...(whole.errors ?? []), { message: "Something went wrong while executing your query.", path }];
}

/** GitHub gives the type of an error beside its message. */
function spoken(error: GraphQLError): Record<string, unknown> {
  const { message, path, locations, extensions } = error;
  const { type } = extensions;
  return {
    ...(typeof type === "string" ? { type } : {}),
    message,
    ...(path ? { path } : {}),
    ...(locations ? { locations } : {}),
  };
}

function readQuery(body: string): { query: string; variables: Record<string, unknown> } | null {
  try {
    const { query, variables } = JSON.parse(body) as { query?: unknown; variables?: unknown };
    return typeof query === "string" ? { query, variables: (variables ?? {}) as Record<string, unknown> } : null;
  } catch {
    return null;
  }
}

const refused = (status: number, message: string): Reply => ({ status, headers: {}, body: { message } });

const secondary = (wait_s: number): Reply => ({
  status: 403,
  headers: { "retry-after": String(wait_s) },
  body: { message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again." },
});

const spent = { errors: [{ type: "RATE_LIMITED", message: "API rate limit already exceeded." }] };

const timedOut = {
  data: null,
  errors: [{ message: "Something went wrong while executing your query. This may be the result of a timeout." }],
};
