/** GitHub as sources call it: where its API is, what it may cost, and what its answers have to look like. */
import { z } from "zod";
import type { Answer, Pull, Upstream } from "../contract.ts";
import { TidemarkError } from "../errors.ts";

const GITHUB_URL = "https://api.github.com";
const HOUR_MS = 3_600_000;
const POINTS_MOST = 5_000;
/** Calls at once: GitHub allows a hundred, shared with everything else that the account does. */
const AT_ONCE = 10;
/** Enterprise Servers have no limits unless their administrators set some: a pace that no server minds. */
const ENTERPRISE_PER_SECOND = 10;
const TIMEOUT_MS = 30_000;

/** What every query asks for besides: what it cost, and whose token it went out with. */
export const RATE = "rateLimit { cost remaining resetAt } viewer { login }";
/** What GitHub charges for so many requests of connections. */
export const points = (requests: number): number => Math.max(1, Math.round(requests / 100));

/** One GitHub: github.com, or an Enterprise Server. */
export interface GitHubHost {
  host: string;
  graphql_url: string;
  upstream: Upstream;
}

const User = z.object({ login: z.string().min(1) });

/** `api` is the root of the API; an Enterprise Server has GraphQL and REST below it. */
function gitHubHost(host: string, api: string, enterprise: boolean): GitHubHost {
  const root = api.replace(/\/+$/, "");
  const credentials = {
    host,
    origins: [new URL(root).origin],
    account: async (ask: (url: string) => Promise<Answer>) =>
      (await ask(enterprise ? `${root}/v3/user` : `${root}/user`)).json(User).login,
  };
  const upstream: Upstream = enterprise
    ? {
        name: host,
        budgets: { calls: { shape: "pace", per_second: ENTERPRISE_PER_SECOND, burst: 2 * ENTERPRISE_PER_SECOND } },
        concurrency: AT_ONCE,
        credentials,
      }
    : {
        name: host,
        // Its name is the one that GitHub gives it in the headers of its answers.
        budgets: { graphql: { shape: "window", most: POINTS_MOST, period_ms: HOUR_MS, by: "credential" } },
        concurrency: AT_ONCE,
        credentials,
      };
  return { host, graphql_url: `${root}/graphql`, upstream };
}

/** Where GitHubs are, when they are not where everybody's are. */
export interface GitHubPlaces {
  /** The API root of github.com. */
  github_url?: string | undefined;
  /** The API root of an Enterprise Server. */
  enterprise_url?(host: string): string;
}

/** GitHubs by their hosts: the same object each time, because what an upstream may spend is remembered with it. */
export function gitHubHosts({
  github_url = GITHUB_URL,
  enterprise_url = (host) => `https://${host}/api`,
}: GitHubPlaces): (host: string) => GitHubHost {
  const hosts = new Map<string, GitHubHost>();
  return (host) => {
    const known = hosts.get(host);
    if (known) return known;
    const made =
      host === "github.com" ? gitHubHost(host, github_url, false) : gitHubHost(host, enterprise_url(host), true);
    hosts.set(host, made);
    return made;
  };
}

const Fault = z.object({
  type: z.string().optional(),
  message: z.string(),
  path: z.array(z.union([z.string(), z.number()])).optional(),
});
export type GitHubFault = z.infer<typeof Fault>;

const Envelope = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(Fault).optional(),
});

/** Every query asks for what it cost; where there are no limits, nobody knows. */
const Cost = z.object({ data: z.object({ rateLimit: z.object({ cost: z.number() }) }) });

/** … and whose token it went out with. */
const Viewer = z.object({ login: z.string() });

function costOf(answer: Answer, estimate: number): number {
  try {
    return answer.json(Cost).data.rateLimit.cost;
  } catch {
    return estimate;
  }
}

export interface GitHubQuestion<T> {
  query: string;
  variables: Record<string, unknown>;
  /** In points. */
  cost: number;
  answer: z.ZodType<T>;
}

/** Asks; what GitHub could not answer of it stands in the faults, and is null in the data. No data at all is a failure. */
export async function askGitHub<T>(
  pull: Pick<Pull, "fetch">,
  { graphql_url, host }: GitHubHost,
  { query, variables, cost, answer: shape }: GitHubQuestion<T>,
): Promise<{ data: T; faults: GitHubFault[]; viewer: string | null }> {
  const answer = await pull.fetch(graphql_url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query, variables }),
    cost,
    settle: (given) => ({ graphql: costOf(given, cost) }),
    timeout_ms: TIMEOUT_MS,
  });
  if (answer.status !== 200)
    throw new TidemarkError("UpstreamChanged", `${host} answered HTTP ${answer.status} where its API should be.`);
  const { data, errors: faults = [] } = answer.json(Envelope);
  if (!data) throw gitHubError(host, faults);
  const parsed = shape.safeParse(data);
  if (parsed.success) return { data: parsed.data, faults, viewer: Viewer.safeParse(data.viewer).data?.login ?? null };
  if (faults.length > 0) throw gitHubError(host, faults);
  throw new TidemarkError("UpstreamChanged", `${host} sent an answer of another shape: ${parsed.error.message}`);
}

/** What is not answered for a reason of GitHub's own is as if it were down; a query that it does not take is our mistake. */
export function gitHubError(host: string, faults: GitHubFault[]): TidemarkError {
  const { type, message } = faults[0] ?? { message: "it sent nothing" };
  const sentence = `${host} could not answer: ${message}`;
  if (type === "FORBIDDEN" || type === "INSUFFICIENT_SCOPES") return new TidemarkError("UpstreamForbids", sentence);
  return new TidemarkError(faults.length > 0 && type === undefined ? "UpstreamDown" : "UpstreamChanged", sentence);
}

export const isDown = (thrown: unknown): thrown is TidemarkError =>
  thrown instanceof TidemarkError && thrown.code === "UpstreamDown";

export const isNotFound = ({ type }: GitHubFault): boolean => type === "NOT_FOUND";
export const isBadCursor = ({ type }: GitHubFault): boolean => type === "INVALID_CURSOR_ARGUMENTS";
