/** A pretend NuGet feed: a catalog that grows commit by commit, with every oddity that real ones have shown. */
import { createHash } from "node:crypto";

/** What happens to a version. */
export interface FeedEvent {
  id: string;
  version: string;
  deletes?: boolean;
  /** What the leaf says besides the usual: `listed`, `published`, `dependencyGroups`, … */
  leaf?: Record<string, unknown>;
  /** Another address than the usual one, for two events of one version in one commit. */
  name?: string;
}

export interface CommitOptions {
  /** As it is to be written; one second after the last unless said. */
  stamp?: string;
  /** So many of its items go on the page of before, the rest on a new one. */
  split?: number;
  zero_id?: boolean;
  /** The index does not know of it yet. */
  unannounced?: boolean;
}

interface Item extends FeedEvent {
  stamp: string;
  commit_id: string;
  path: string;
}

interface Page {
  items: Item[];
  /** What the index says of it: it may be told late, or wrongly. */
  told: { stamp: string; count: number; commit_id: string };
}

export interface FeedReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const PAGE_MOST = 550;
const FIRST_MS = Date.UTC(2015, 1, 1, 6, 22, 45);
const TYPES = { details: "nuget:PackageDetails", deletes: "nuget:PackageDelete" };

export class NuGetFeed {
  readonly pages: Page[] = [];
  /** The paths that were asked for. */
  readonly asked: string[] = [];
  /** How items stand on a page: real ones are mostly newest first. */
  order: "newest first" | "oldest first" | "mixed" = "newest first";
  page_most = PAGE_MOST;
  /** Answers that take the place of the usual ones, by path: a poison leaf, a page of long ago. */
  readonly instead = new Map<string, (times: number) => FeedReply | null>();
  readonly #leaves = new Map<string, Item>();
  readonly #times = new Map<string, number>();
  #commits = 0;

  /** Everything in one commit; gives its timestamp. */
  commit(events: FeedEvent[], options: CommitOptions = {}): string {
    this.#commits += 1;
    const stamp = options.stamp ?? stampOf(this.#commits);
    const commit_id = options.zero_id ? "00000000-0000-0000-0000-000000000000" : uuidOf(stamp);
    for (const [n, event] of events.entries()) {
      const last = this.pages.at(-1);
      const full = !last || last.items.length >= this.page_most || n === options.split;
      const page = full ? this.#newPage(stamp, commit_id) : last;
      const path = `/v3/catalog0/data/${folderOf(stamp)}/${event.name ?? `${event.id}.${event.version}`.toLowerCase()}.json`;
      const item = { ...event, stamp, commit_id, path };
      page.items.push(item);
      this.#leaves.set(path, item);
      if (!options.unannounced) page.told = { stamp, count: page.items.length, commit_id };
    }
    return stamp;
  }

  #newPage(stamp: string, commit_id: string): Page {
    const page = { items: [], told: { stamp, count: 0, commit_id } };
    this.pages.push(page);
    return page;
  }

  /** The index catches up with the pages. */
  announce(): void {
    for (const page of this.pages) {
      const { stamp, commit_id } = page.items.at(-1)!;
      page.told = { stamp, count: page.items.length, commit_id };
    }
  }

  pagePath(n: number): string {
    return `/v3/catalog0/page${n}.json`;
  }

  answer(path: string, headers: Record<string, string>): FeedReply {
    this.asked.push(path);
    const times = (this.#times.get(path) ?? 0) + 1;
    this.#times.set(path, times);
    const odd = this.instead.get(path)?.(times);
    if (odd) return odd;
    const document = this.#document(path, `http://${headers.host ?? "localhost"}`);
    if (document === null) return { status: 404, headers: {}, body: "" };
    const body = JSON.stringify(document);
    const etag = `"${createHash("sha1").update(body).digest("hex")}"`;
    if (headers["if-none-match"] === etag) return { status: 304, headers: { etag }, body: "" };
    return { status: 200, headers: { etag }, body };
  }

  #document(path: string, base: string): object | null {
    if (path === "/v3/index.json") return serviceIndex(base);
    if (path === "/v3/catalog0/index.json") return this.#index(base);
    const page = /^\/v3\/catalog0\/page(\d+)\.json$/.exec(path);
    if (page) return this.pageDocument(Number(page[1]), base);
    const item = this.#leaves.get(decodeURIComponent(path));
    return item ? leafDocument(item, base) : null;
  }

  #index(base: string): object {
    const items = this.pages.map(({ told }, n) => ({
      "@id": `${base}${this.pagePath(n)}`,
      "@type": "CatalogPage",
      commitId: told.commit_id,
      commitTimeStamp: told.stamp,
      count: told.count,
    }));
    // By address as text: page10 comes before page2.
    items.sort((a, b) => (a["@id"] < b["@id"] ? -1 : 1));
    const newest = this.pages.map(({ told }) => told).at(-1);
    return {
      "@id": `${base}/v3/catalog0/index.json`,
      "@type": ["CatalogRoot", "AppendOnlyCatalog", "Permalink"],
      commitId: newest?.commit_id ?? uuidOf(""),
      commitTimeStamp: newest?.stamp ?? stampOf(0),
      count: items.length,
      items,
    };
  }

  /** A page as it is, or with only its first `most` items, as it was. */
  pageDocument(n: number, base: string, most = Number.POSITIVE_INFINITY): object | null {
    const items = this.pages[n]?.items.slice(0, most);
    if (!items || items.length === 0) return null;
    const last = items.reduce((a, b) => (b.stamp > a.stamp ? b : a));
    return {
      "@id": `${base}${this.pagePath(n)}`,
      "@type": "CatalogPage",
      commitId: last.commit_id,
      commitTimeStamp: last.stamp,
      count: items.length,
      parent: `${base}/v3/catalog0/index.json`,
      items: arranged(items, this.order).map((item) => ({
        "@id": `${base}${encodeURI(item.path)}`,
        "@type": item.deletes ? TYPES.deletes : TYPES.details,
        commitId: item.commit_id,
        commitTimeStamp: item.stamp,
        "nuget:id": item.id,
        "nuget:version": item.version,
      })),
    };
  }
}

/** The n-th second of this feed's time, with seven digits as .NET writes them. */
export const stampOf = (n: number): string =>
  `${new Date(FIRST_MS + n * 1000).toISOString().slice(0, 19)}.${String((n * 7_654_321) % 10_000_000).padStart(7, "0")}Z`;

const uuidOf = (text: string): string =>
  createHash("sha1")
    .update(text)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");

const folderOf = (stamp: string): string => stamp.slice(0, 23).replaceAll(/[-T:]/g, ".");

function arranged(items: Item[], order: NuGetFeed["order"]): Item[] {
  if (order === "oldest first") return items;
  if (order === "newest first") return items.toReversed();
  return items.toSorted((a, b) => (uuidOf(a.path) < uuidOf(b.path) ? -1 : 1));
}

const serviceIndex = (base: string) => ({
  version: "3.0.0",
  resources: [
    { "@id": `${base}/v3/catalog0/index.json`, "@type": "Catalog/3.0.0" },
    { "@id": `${base}/v3-flatcontainer/`, "@type": "PackageBaseAddress/3.0.0" },
  ],
});

function leafDocument({ id, version, deletes, stamp, commit_id, path, leaf }: Item, base: string): object {
  const common = {
    "@id": `${base}${encodeURI(path)}`,
    "@type": [deletes ? "PackageDelete" : "PackageDetails", "catalog:Permalink"],
    "catalog:commitId": commit_id,
    "catalog:commitTimeStamp": stamp,
    id,
    version,
    published: stamp,
  };
  if (deletes) return { ...common, originalId: id };
  return {
    ...common,
    authors: "Somebody",
    created: stamp,
    description: `What ${id} is for.`,
    isPrerelease: version.includes("-"),
    listed: true,
    packageHash: "",
    packageHashAlgorithm: "SHA512",
    packageSize: 1,
    requireLicenseAcceptance: false,
    verbatimVersion: version,
    tags: [],
    ...leaf,
  };
}
