/** Sitemaps as XML, as text, compressed or not, and lists of sitemaps: the addresses in them, and when each is said to have changed. */
import { gunzipSync } from "node:zlib";
import { SaxesParser } from "saxes";

/** As the protocol has it. */
export const ENTRIES_MOST = 50_000;
export const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;
/** If so many of so many were changed within one day, nobody looked when. */
const SAME_DAY_LEAST = 10;
const SAME_DAY_PART = 0.9;

export interface SitemapEntry {
  url: string;
  lastmod_ms: number | null;
}

export interface Sitemap {
  /** Its entries are sitemaps. */
  index: boolean;
  entries: SitemapEntry[];
}

/** Null where it is none. */
export function readSitemap(bytes: Uint8Array, now_ms: number): Sitemap | null {
  let plain: Uint8Array;
  try {
    plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: SITEMAP_BYTES_MAX }) : bytes;
  } catch {
    return null;
  }
  const text = new TextDecoder().decode(plain.subarray(0, SITEMAP_BYTES_MAX));
  const sitemap = /^\s*</.test(text) ? readXml(text) : readText(text);
  if (!sitemap) return null;
  const seen = new Set<string>();
  sitemap.entries = sitemap.entries.filter(({ url }) => !seen.has(url) && seen.add(url)).slice(0, ENTRIES_MOST);
  if (isCareless(sitemap.entries, now_ms)) for (const entry of sitemap.entries) entry.lastmod_ms = null;
  // What has not come yet was not looked at either.
  for (const entry of sitemap.entries) if ((entry.lastmod_ms ?? 0) > now_ms) entry.lastmod_ms = null;
  return sitemap;
}

function readText(text: string): Sitemap | null {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim());
  const entries = lines.filter((line) => /^https?:\/\/\S+$/i.test(line)).map((url) => ({ url, lastmod_ms: null }));
  return entries.length === 0 ? null : { index: false, entries };
}

/** Names without their prefix: half of all sitemaps have none or a wrong one. What comes before a mistake counts. */
function readXml(text: string): Sitemap | null {
  const parser = new SaxesParser();
  const entries: SitemapEntry[] = [];
  const open: string[] = [];
  let root: string | null = null;
  let entry: { url: string; lastmod: string } | null = null;
  let over = false;
  parser.on("error", () => {
    over = true;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const local = name.replace(/^.*:/, "").toLowerCase();
    root ??= local;
    open.push(local);
    if (["url", "sitemap", "item", "entry"].includes(local)) entry = { url: "", lastmod: "" };
    if (entry && local === "link" && typeof attributes.href === "string") entry.url = attributes.href;
  });
  const told = (characters: string): void => {
    const [parent, local] = open.slice(-2);
    if (!entry || over || !parent || !["url", "sitemap", "item", "entry"].includes(parent)) return;
    if (local === "loc" || local === "link") entry.url += characters;
    if (local === "lastmod" || local === "pubdate" || local === "updated") entry.lastmod += characters;
  };
  parser.on("text", told);
  parser.on("cdata", told);
  parser.on("closetag", ({ name }) => {
    const local = name.replace(/^.*:/, "").toLowerCase();
    open.pop();
    if (!["url", "sitemap", "item", "entry"].includes(local) || !entry || over) return;
    const url = entry.url.trim();
    if (url !== "" && entries.length < ENTRIES_MOST) entries.push({ url, lastmod_ms: momentOf(entry.lastmod) });
    entry = null;
  });
  try {
    parser.write(text).close();
  } catch {
    // What was read before stays.
  }
  if (root === null || !["urlset", "sitemapindex", "rss", "feed", "rdf"].includes(root)) return null;
  return { index: root === "sitemapindex", entries };
}

function momentOf(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const at = Date.parse(trimmed);
  return Number.isNaN(at) ? null : at;
}

/** All were changed on one day, and lately: it is the day on which the sitemap was made. */
function isCareless(entries: SitemapEntry[], now_ms: number): boolean {
  const days = new Map<number, number>();
  for (const { lastmod_ms } of entries) {
    if (lastmod_ms === null) continue;
    const day = Math.floor(lastmod_ms / 86_400_000);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  const most = Math.max(0, ...days.values());
  const [day = 0] = [...days].find(([, n]) => n === most) ?? [];
  const lately = now_ms - day * 86_400_000 < 3 * 86_400_000;
  return entries.length >= SAME_DAY_LEAST && most >= entries.length * SAME_DAY_PART && lately;
}
