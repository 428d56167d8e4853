/** robots.txt by RFC 9309: who may not see what, how long to wait, and where the sitemaps are. */
import { plainOctets } from "./octets.ts";

/** As much as the RFC wants to be read; what comes after is not. */
export const ROBOTS_BYTES_MAX = 512_000;

interface Rule {
  allow: boolean;
  pattern: string;
}

interface Group {
  agents: string[];
  rules: Rule[];
  delay_s: number | null;
}

export interface Robots {
  /** Of an address's path with its query. */
  allows(path: string): boolean;
  crawl_delay_ms: number | null;
  sitemaps: string[];
}

/** A byte order mark says which of the encodings it is that some editors save in. */
export function decodeRobots(bytes: Uint8Array): string {
  const first = bytes.subarray(0, ROBOTS_BYTES_MAX);
  const label =
    first[0] === 0xff && first[1] === 0xfe ? "utf-16le" : first[0] === 0xfe && first[1] === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(label).decode(first);
}

/** `product` is our own token; all groups that name it count as one, and where none does, those for everybody. */
export function readRobots(text: string, product: string): Robots {
  const { groups, sitemaps } = parse(text);
  const named = groups.filter(({ agents }) => agents.includes(product.toLowerCase()));
  const ours = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes("*"));
  const rules = ours.flatMap((group) => group.rules);
  const delays = ours.flatMap(({ delay_s }) => delay_s ?? []);
  return {
    allows: (path) => allows(rules, plainOctets(path)),
    crawl_delay_ms: delays.length === 0 ? null : Math.round(Math.max(...delays) * 1000),
    sitemaps: [...new Set(sitemaps)],
  };
}

function parse(text: string): { groups: Group[]; sitemaps: string[] } {
  const groups: Group[] = [];
  const sitemaps: string[] = [];
  let group: Group | null = null;
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    const [, name = "", value = ""] = /^\s*([A-Za-z-]+)\s*:\s*(.*?)\s*$/.exec(line.replace(/#.*/, "")) ?? [];
    switch (name.toLowerCase()) {
      case "user-agent": {
        // Names in a row are of one group; only a rule ends the row, no other record does.
        if (!group || group.rules.length > 0) {
          group = { agents: [], rules: [], delay_s: null };
          groups.push(group);
        }
        const token = value.startsWith("*") ? "*" : (/^[A-Za-z_-]+/.exec(value)?.[0].toLowerCase() ?? "");
        group.agents.push(token);
        break;
      }
      case "allow":
      case "disallow":
        if (group) group.rules.push({ allow: name.toLowerCase() === "allow", pattern: plainOctets(value) });
        break;
      case "crawl-delay":
        if (group && /^\d+(\.\d+)?$/.test(value)) group.delay_s = Math.max(group.delay_s ?? 0, Number(value));
        break;
      case "sitemap":
        if (value !== "") sitemaps.push(value);
    }
  }
  return { groups, sitemaps };
}

/** The longest pattern that fits decides, and where two are as long, the one that allows. */
function allows(rules: Rule[], path: string): boolean {
  if (path === "/robots.txt") return true;
  let longest = -1;
  let allowed = true;
  for (const { allow, pattern } of rules) {
    if (pattern === "" || pattern.length < longest || !fits(pattern, path)) continue;
    if (pattern.length > longest || allow) allowed = allow;
    longest = pattern.length;
  }
  return allowed;
}

/** `*` stands for anything, `$` at the end for the end. Each part is looked for once, so that no pattern takes long. */
function fits(pattern: string, path: string): boolean {
  const ends = pattern.endsWith("$");
  const parts = (ends ? pattern.slice(0, -1) : pattern).split("*");
  const first = parts.shift()!;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  if (parts.length === 0) return !ends || at === path.length;
  const last = parts.pop()!;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!ends) return path.indexOf(last, at) >= 0;
  return path.length - last.length >= at && path.endsWith(last);
}
