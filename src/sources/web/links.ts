/** Where pages lead: to pages of the same host, to other hosts that are followed, or outside, where nobody goes. */
import sql from "sql-template-tag";
import type { Post, Queryable } from "tidemark";
import type { Discovered } from "./guestbook.ts";
import { nameOf, siteOf } from "./names.ts";
import type { Settings } from "./settings.ts";
import { type Address, addressOf, isText, shapeOf, trapOf, urlOf } from "./url.ts";

/** So many addresses of other hosts are passed on with one commit. */
const PASSED_ON_MOST = 500;
/** URLs that differ only in the numbers of their path may be so many times more than those that differ in their query. */
const NUMBERED_FACTOR = 10;

export interface Link {
  url: string;
  /** Of the page that it was found in. */
  depth: number;
  lastmod_ms?: number | null;
}

export interface Sorted {
  here: Discovered[];
  elsewhere: Address[];
}

/** Addresses of this host as the guestbook takes them in; those that look like traps are left out. */
export function sortLinks(links: Link[], host: string, { depth, alike }: Pick<Settings, "depth" | "alike">): Sorted {
  const sorted: Sorted = { here: [], elsewhere: [] };
  for (const { url, depth: at, lastmod_ms = null } of links) {
    const address = addressOf(url);
    if (!address || !isText(address.path)) continue;
    if (address.host !== host) sorted.elsewhere.push(address);
    else if (at + 1 <= depth && trapOf(address.path) === null) {
      const shape = shapeOf(address.path);
      const most = shape?.query === false ? alike * NUMBERED_FACTOR : alike;
      const { scheme, path } = address;
      sorted.here.push({ scheme, path, depth: at + 1, shape: shape?.shape ?? null, most, lastmod_ms });
    }
  }
  return sorted;
}

/** Messages to hosts that are followed and do not know these pages yet, and to domains that do not know these hosts. */
export async function postsTo(read: Queryable, addresses: Address[]): Promise<Post[]> {
  const unique = [...new Map(addresses.map((one) => [urlOf(one), one])).values()].slice(0, PASSED_ON_MOST);
  if (unique.length === 0) return [];
  const { rows } = await read.query<{ n: number; known: boolean; site: string | null }>(sql`
    select u.n::int as n, h.resource_id is not null as known, d.key as site
      from unnest(${unique.map((a) => a.host)}::text[], ${unique.map((a) => a.path)}::text[],
                  ${unique.map((a) => (a.host.includes(":") ? "" : siteOf(a.host)))}::text[]) with ordinality as u(host, path, site, n)
      left join tidemark.resource h on h.source = 'web' and h.kind = 'host' and h.key = u.host and h.gone_at is null
      left join tidemark.resource d on d.source = 'web' and d.kind = 'domain' and d.key = u.site and d.gone_at is null and d.followed_at is not null
      left join web.host w on w.host = u.host
     where (h.resource_id is not null or d.resource_id is not null)
       and not exists (select 1 from web.guestbook g where g.host_id = w.host_id and g.path = u.path)
     order by u.n`);
  return rows.map(({ n, known, site }) => {
    const address = unique[n - 1]!;
    if (known) return { kind: "host", key: address.host, message: { type: "found", url: urlOf(address) } };
    return { kind: "domain", key: site!, message: { host: nameOf(address.host), url: urlOf(address) } };
  });
}
