/** URLs in one spelling each, so that one page has one; and which of them look like a trap. */
import { createHash } from "node:crypto";
import { plainOctets } from "./octets.ts";

/** Longer ones are made by machines that do not stop, and no index holds them. */
const URL_LENGTH_MAX = 2_000;
/** Deeper or wider ones are not taken in. */
const SEGMENTS_MOST = 20;
const PARAMETERS_MOST = 12;
const REPEATS_MOST = 3;

/** Parameters that say who is looking, not at what. */
const TRACKING =
  /^(utm_[a-z_]+|fbclid|gclid|dclid|msclkid|yclid|mc_[ce]id|_ga|_gl|igshid|ref_src|phpsessid|jsessionid|aspsessionid[a-z]*|sessionid|session_id|sid|cfid|cftoken)$/i;

/** What is fetched elsewhere: pictures, sound, films, programs, archives. */
const NOT_TEXT =
  /\.(png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|mp[34]|m4[av]|avi|mov|wmv|webm|ogg|wav|flac|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|iso|msi|deb|rpm|jar|woff2?|ttf|eot|otf|css|m?js|wasm|docx?|xlsx?|pptx?)$/i;

export interface Address {
  scheme: "http" | "https";
  /** With its port, where that is not the usual one. */
  host: string;
  /** With its query. */
  path: string;
}

/** The address that a text means, seen from a page; null where it is none that is crawled. */
export function addressOf(text: string, from?: string): Address | null {
  const trimmed = text.trim();
  if (trimmed === "" || !URL.canParse(trimmed, from)) return null;
  const url = new URL(trimmed, from);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (url.username || url.password) return null;
  const path = plainPath(url.pathname) + plainQuery(url.search);
  const host = url.host.replace(/\.(?=$|:)/, "");
  if (host === "" || path.length + host.length > URL_LENGTH_MAX) return null;
  return { scheme: url.protocol === "http:" ? "http" : "https", host, path };
}

export const urlOf = ({ scheme, host, path }: Address): string => `${scheme}://${host}${path}`;

/** Dots are resolved once more behind their escapes; what a server appends for who looks is taken off. */
function plainPath(pathname: string): string {
  const plain = plainOctets(pathname).replace(/;(jsessionid|phpsessid|sid)=[^/;?]*/gi, "");
  return new URL(`http://x${plain.replace(/\/{2,}/g, "/")}`).pathname || "/";
}

/** In the order of names, so that a form that is filled in otherwise gives the same page. */
function plainQuery(search: string): string {
  if (search.length <= 1) return "";
  const kept = search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !TRACKING.test(part.split("=")[0]!))
    .map(plainOctets)
    .map((part, n) => ({ part, name: part.split("=")[0]!, n }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.n - b.n));
  return kept.length === 0 ? "" : `?${kept.map(({ part }) => part).join("&")}`;
}

export const isText = (path: string): boolean => !NOT_TEXT.test(path.split("?")[0]!);

/** Why an address is not taken in; null where it is. */
export function trapOf(path: string): string | null {
  const [pathname = "", query = ""] = path.split("?");
  const segments = pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > SEGMENTS_MOST) return `more than ${SEGMENTS_MOST} folders deep`;
  if (query !== "" && query.split("&").length > PARAMETERS_MOST) return `more than ${PARAMETERS_MOST} parameters`;
  const times = new Map<string, number>();
  for (const segment of segments) {
    const n = (times.get(segment) ?? 0) + 1;
    if (n >= REPEATS_MOST && !/^\d{1,2}$/.test(segment)) return `"${segment}" comes ${REPEATS_MOST} times in its path`;
    times.set(segment, n);
  }
  return null;
}

/** URLs that differ only in numbers and queries have one shape; null for those that have neither. */
export function shapeOf(path: string): { shape: bigint; query: boolean } | null {
  const [pathname = "", query] = path.split("?");
  if (query === undefined && !/\d/.test(pathname)) return null;
  const text = `${query === undefined ? "" : "?"}${pathname.replace(/\d+/g, "0")}`;
  return { shape: createHash("sha1").update(text).digest().readBigInt64BE(), query: query !== undefined };
}
