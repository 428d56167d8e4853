/** What is secret in a setting, and how to keep it out of sight. */

export const mask = "****";
const secret_parameters = /^(password|sslpassword|token|key|api_?key|access_token|secret)$/i;

/** The URL as it may be shown: no password, no secret parameter. What does not parse is masked whole. */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return mask;
  const parsed = new URL(text);
  if (parsed.password) parsed.password = mask;
  for (const name of parsed.searchParams.keys()) {
    if (secret_parameters.test(name)) parsed.searchParams.set(name, mask);
  }
  return parsed.href;
}

/** Every secret in the URL, as written and as decoded. */
export function secretsOfUrl(text: string): string[] {
  if (!URL.canParse(text)) return [text];
  const parsed = new URL(text);
  const written = [
    parsed.password,
    ...[...parsed.searchParams].filter(([n]) => secret_parameters.test(n)).map(([, v]) => v),
  ];
  return [...new Set(written.flatMap((secret) => [secret, decoded(secret)]))].filter(Boolean);
}

/** The address of a hook as it may be shown: who gives such addresses out puts the secret in the path. */
export function maskHook(text: string): string {
  return URL.canParse(text) ? `${new URL(text).origin}/${mask}` : mask;
}

/** What is secret in the address of a hook: all of it that comes after the host. */
export function secretsOfHook(text: string): string[] {
  if (!URL.canParse(text)) return [text];
  const { pathname, search } = new URL(text);
  return [`${pathname}${search}`, pathname].filter((secret) => secret.length > 1).concat(secretsOfUrl(text));
}

/**
 * A function that takes every secret out of a text. A secret of fewer than six characters is only taken out where it is
 * the whole text: cutting "a" out of every sentence would hide the log, not the secret.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const whole = new Set(secrets);
  const longest_first = secrets.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  return (text) => {
    if (whole.has(text)) return mask;
    let clean = text;
    for (const secret of longest_first) {
      if (clean.includes(secret)) clean = clean.replaceAll(secret, mask);
    }
    return clean;
  };
}

/** The value with every secret taken out of every text in it; made for logs, so bigint and Date become text. */
export function redact(value: unknown, clean: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return clean(value);
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return typeof value === "function" ? undefined : value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (depth >= 8) return "(too deep to show)";
  if (Array.isArray(value)) return value.map((item) => redact(item, clean, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redact(item, clean, depth + 1)]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Tokens by the host they may be sent to, and to no other. */
export type HostTokens = Readonly<Record<string, readonly string[]>>;

/** Reads "github.com=a,b;ghe.corp.example=c"; null when a token has no host or a host no token. */
export function parseTokens(text: string): HostTokens | null {
  const tokens: Record<string, string[]> = {};
  for (const entry of text.split(/[;\s]+/).filter(Boolean)) {
    const at = entry.indexOf("=");
    const host = entry.slice(0, Math.max(at, 0)).toLowerCase();
    const list = entry
      .slice(at + 1)
      .split(",")
      .filter(Boolean);
    const printable = list.length > 0 && list.every((token) => /^[\x21-\x7e]+$/.test(token));
    if (!/^[a-z0-9.-]+(:\d+)?$/.test(host) || !printable) return null;
    tokens[host] = [...(tokens[host] ?? []), ...list];
  }
  return tokens;
}

/** The tokens as they may be shown: for which hosts, and how many. */
export function showTokens(tokens: HostTokens): string {
  const hosts = Object.entries(tokens).map(([host, list]) => `${host}=${list.map(() => mask).join(",")}`);
  return hosts.join(";");
}
