/** Whether each GitHub that has tokens is reached, and what it says of each of them. */
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { asTidemarkError } from "../errors.ts";
import { Outbound } from "../outbound/client.ts";
import { type Finding, no, warning, yes } from "./finding.ts";

const Limits = z.object({
  resources: z.object({ graphql: z.object({ limit: z.number(), remaining: z.number() }).optional() }),
});

const TIMEOUTS = { connect_ms: 5_000, headers_ms: 10_000, whole_ms: 15_000 };

type Asked = Pick<Config, "github_tokens" | "github_url" | "allow_private" | "proxy">;

/** Asks each host once for each token, which costs nothing of its allowance. */
export async function checkGitHub(config: Asked, clock: Clock, version: string): Promise<Finding[]> {
  const hosts = Object.entries(config.github_tokens);
  if (hosts.length === 0)
    return [
      yes("github", "GITHUB_TOKENS is not set; following what is at GitHub needs one, such as github.com=ghp_…."),
    ];
  const { allow_private, proxy } = config;
  const outbound = new Outbound({ clock, allow_private, proxy, user_agent: `tidemark/${version} (doctor)` });
  try {
    const found: Finding[] = [];
    for (const [host, tokens] of hosts)
      for (const [n, token] of tokens.entries()) {
        const which = tokens.length === 1 ? `The token for ${host}` : `Token ${n + 1} of ${tokens.length} for ${host}`;
        found.push(await checkToken(outbound, rootOf(config, host), which, token));
      }
    return found;
  } finally {
    await outbound.close();
  }
}

function rootOf({ github_url }: Asked, host: string): string {
  return host === "github.com"
    ? (github_url ?? "https://api.github.com").replace(/\/+$/, "")
    : `https://${host}/api/v3`;
}

async function checkToken(outbound: Outbound, root: string, which: string, token: string): Promise<Finding> {
  try {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    const { status, bytes } = await outbound.call(`${root}/rate_limit`, { headers, timeouts: TIMEOUTS });
    if (status === 401)
      return no("github", `${which} is refused: it was revoked or has expired. Put a new one into GITHUB_TOKENS.`);
    // An Enterprise Server with its limits off says so.
    if (status === 404) return yes("github", `${which} works; no limits are set there.`);
    if (status !== 200) return warning("github", `${which}: ${root} answers HTTP ${status}; ask again in a while.`);
    const { graphql } = Limits.parse(JSON.parse(Buffer.from(bytes).toString("utf8"))).resources;
    const left = graphql ? `: ${graphql.remaining} of ${graphql.limit} points are left this hour` : "";
    return yes("github", `${which} works${left}.`);
  } catch (thrown) {
    const reason = asTidemarkError(thrown).message;
    return no("github", `${which} could not be tried. ${reason} Is a firewall, or a proxy that is not set, between?`);
  }
}
