/** Pretend web sites: several hosts with pages, robots.txt and sitemaps, and a log of every request with its time. */

export interface SitePage {
  title: string;
  /** HTML that goes into the body, or the whole body where a type is said. */
  body: string | Uint8Array;
  type?: string;
  status?: number;
  headers?: Record<string, string>;
  /** Into the head. */
  head?: string;
  /** Validators: one of each unless said. */
  etag?: string | null;
  last_modified?: string | null;
}

export interface Visited {
  at_ms: number;
  host: string;
  path: string;
  status: number;
  conditional: boolean;
  user_agent: string;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** What is asked of a host: its path with the query, and its headers in lower case. */
export interface Request {
  host: string;
  path: string;
  headers: Record<string, string>;
  at_ms: number;
}

export class Site {
  readonly host: string;
  readonly pages = new Map<string, SitePage>();
  robots: SitePage | null = null;
  /** Answers in the place of pages, by path; null lets the page answer. */
  instead: (path: string, request: Request) => Reply | null = () => null;
  #versions = new Map<string, number>();

  constructor(host: string) {
    this.host = host;
  }

  page(path: string, title: string, body = "", more: Partial<SitePage> = {}): this {
    this.pages.set(path, { title, body, ...more });
    this.#versions.set(path, (this.#versions.get(path) ?? 0) + 1);
    return this;
  }

  /** Lines of robots.txt. */
  says(...lines: string[]): this {
    this.robots = { title: "", body: `${lines.join("\n")}\n`, type: "text/plain" };
    return this;
  }

  file(path: string, body: string | Uint8Array, type: string, more: Partial<SitePage> = {}): this {
    this.pages.set(path, { title: "", body, type, ...more });
    this.#versions.set(path, (this.#versions.get(path) ?? 0) + 1);
    return this;
  }

  sitemap(path: string, urls: { path: string; lastmod?: string }[]): this {
    const entries = urls.map(
      ({ path: to, lastmod }) =>
        `<url><loc>${escaped(/^https?:/.test(to) ? to : `https://${this.host}${to}`)}</loc>${lastmod ? `<lastmod>${lastmod}</lastmod>` : ""}</url>`,
    );
    const xml = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</urlset>`;
    return this.file(path, xml, "application/xml");
  }

  moves(path: string, to: string, status = 301): this {
    this.pages.set(path, { title: "", body: "<p>It is elsewhere.</p>", status, headers: { location: to } });
    return this;
  }

  answer(request: Request): Reply {
    const { path } = request;
    const special = this.instead(path, request);
    if (special) return special;
    const page = path === "/robots.txt" ? this.robots : this.pages.get(path);
    if (!page) return this.#show({ title: "", body: "<h1>Not found</h1>", status: 404 }, request);
    return this.#show(page, request);
  }

  #show(page: SitePage, { path, headers: asked }: Request): Reply {
    const { status = 200, type = "text/html; charset=utf-8", headers = {} } = page;
    const etag = page.etag === undefined ? `"${path.length}-${this.#versions.get(path) ?? 0}"` : page.etag;
    const modified = page.last_modified ?? null;
    const sent = {
      "content-type": type,
      ...(etag === null || status !== 200 ? {} : { etag }),
      ...(modified === null ? {} : { "last-modified": modified }),
      ...headers,
    };
    const same = asked["if-none-match"]
      ? asked["if-none-match"] === etag
      : modified !== null && asked["if-modified-since"] === modified;
    if (status === 200 && same) return { status: 304, headers: sent, body: "" };
    const body = page.type === undefined && status === 200 ? html(page) : page.body;
    return { status, headers: { ...sent, "content-length": String(Buffer.byteLength(body)) }, body };
  }
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const html = ({ title, body, head = "" }: SitePage): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>${head}</head><body><h1>${escaped(title)}</h1>${String(body)}</body></html>`;

/** Links, one in each paragraph. */
export const links = (...paths: string[]): string =>
  paths.map((path) => `<p><a href="${path}">${path}</a></p>`).join("");

export class Sites {
  readonly sites = new Map<string, Site>();
  readonly log: Visited[] = [];

  site(host: string): Site {
    const known = this.sites.get(host) ?? new Site(host);
    this.sites.set(host, known);
    return known;
  }

  answer(request: Request): Reply {
    const site = this.sites.get(request.host);
    const reply = site ? site.answer(request) : { status: 421, headers: {}, body: "no such host" };
    const { at_ms, host, path, headers } = request;
    const conditional = "if-none-match" in headers || "if-modified-since" in headers;
    this.log.push({ at_ms, host, path, status: reply.status, conditional, user_agent: headers["user-agent"] ?? "" });
    return reply;
  }

  /** Paths that were asked for, of one host or of all. */
  asked(host?: string): string[] {
    return this.log.filter((one) => host === undefined || one.host === host).map((one) => one.path);
  }
}
