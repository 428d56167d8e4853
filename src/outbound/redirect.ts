/** Where a redirect leads, and what goes there: pure, so that every rule about credentials can be read and tested here. */
import { TidemarkError } from "../errors.ts";
import { REDIRECTS_MAX, type Redirects } from "./call.ts";
import { portOf, readLocation } from "./target.ts";

/** A request as it is sent; names of headers in lower case. */
export interface Sent {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | null;
}

const redirecting = new Set([301, 302, 303, 307, 308]);
const always_secret = ["authorization", "proxy-authorization", "cookie", "cookie2"];

export interface Hop {
  policy: Redirects;
  /** Redirects that were followed before this one. */
  taken: number;
  secret_headers: readonly string[];
}

/** The next request; null when this answer is the last, because it is no redirect or not one to be followed. */
export function nextHop(sent: Sent, status: number, location: string | undefined, hop: Hop): Sent | null {
  const { policy, taken } = hop;
  if (policy.follow === "none" || !redirecting.has(status) || location === undefined) return null;
  const to = readLocation(location, sent.url);
  if (to === null)
    throw new TidemarkError("UpstreamChanged", `${sent.url.host} redirected to something that is not a URL.`);
  if (!isWanted(policy, sent.url, to)) return null;
  const most = policy.most ?? REDIRECTS_MAX;
  if (taken >= most) throw new TidemarkError("UpstreamChanged", `${sent.url.host} redirected more than ${most} times.`);
  const becomes_get = status === 303 ? sent.method !== "HEAD" : status <= 302 && sent.method === "POST";
  const withheld = isSameParty(sent.url, to) ? [] : [...always_secret, ...hop.secret_headers];
  return {
    url: to,
    method: becomes_get ? "GET" : sent.method,
    headers: without(sent.headers, withheld, becomes_get ? /^content-/ : null),
    body: becomes_get ? null : sent.body,
  };
}

function isWanted(policy: Exclude<Redirects, { follow: "none" }>, from: URL, to: URL): boolean {
  switch (policy.follow) {
    case "any":
      return true;
    case "same host":
      return isWeb(to) && from.hostname === to.hostname;
    case "same site":
      if (!isWeb(to)) return false;
      return typeof policy.site === "function" ? policy.site(from, to) : policy.site.includes(to.hostname);
  }
}

const isWeb = (url: URL): boolean => url.protocol === "https:" || url.protocol === "http:";

/**
 * Whether credentials may go on: the same scheme, host and port, or from http to https of the same host at the usual ports. Another
 * port is another server, and http lets everybody on the way read along. What was withheld once does not come back.
 */
export function isSameParty(from: URL, to: URL): boolean {
  if (from.hostname !== to.hostname) return false;
  if (from.protocol === to.protocol) return portOf(from) === portOf(to);
  return to.protocol === "https:" && portOf(from) === 80 && portOf(to) === 443;
}

function without(headers: Sent["headers"], names: readonly string[], pattern: RegExp | null): Record<string, string> {
  const gone = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !gone.has(name) && !pattern?.test(name)));
}
