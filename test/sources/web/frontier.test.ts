/** Which addresses are taken in: all that a host has, none that is not followed, and no trap without end. */
import { gzipSync } from "node:zlib";
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { links, type Site } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
let site: Site;
const HOST = "www.gsa.gov";
const HOUR = 3600_000;

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(async () => {
  await rig.reset();
  site = rig.sites.site(HOST).page("/", "Home", links("/a")).page("/a", "Apples");
});
afterEach(() => rig.end());

const refused = async () =>
  (await rig.db.query<{ n: number }>(sql`select refused as n from web.host where host = ${HOST}`)).rows[0]!.n;

describe("the crawl", () => {
  it("never wanders outside of what is followed, whoever leads there", async () => {
    rig.sites.site("www.navy.mil").page("/", "Navy");
    site.page(
      "/",
      "Home",
      links("https://www.navy.mil/", "//cdn.gsa.gov/x", "http://127.0.0.1/admin", "http://169.254.169.254/"),
    );
    site
      .moves("/a", "https://www.navy.mil/")
      .sitemap("/sitemap.xml", [{ path: "/a" }, { path: "https://www.navy.mil/b" }]);
    await rig.crawl(HOST);
    expect(new Set(rig.sites.log.map(({ host }) => host))).toEqual(new Set([HOST]));
  });

  it("tells other hosts that are followed what leads to them: links, redirects and sitemaps", async () => {
    rig.sites.site("tts.gsa.gov").page("/", "TTS").page("/x", "X marks").page("/y", "Y marks").page("/z", "Z marks");
    site.page("/", "Home", links("/a", "https://tts.gsa.gov/x")).moves("/a", "https://tts.gsa.gov/y");
    site.sitemap("/sitemap.xml", [{ path: "https://tts.gsa.gov/z" }]);
    await rig.crawl("tts.gsa.gov");
    expect(rig.sites.asked("tts.gsa.gov")).not.toContain("/x");
    await rig.crawl(HOST);
    expect(rig.sites.asked("tts.gsa.gov")).toEqual(expect.arrayContaining(["/x", "/y", "/z"]));
    expect(await rig.urls("marks", "&in=gov/gsa/tts")).toHaveLength(3);
  });

  it("takes in the hosts of a domain that is followed whole, as they are found", async () => {
    rig.sites.site("nih.gov").moves("/", "https://www.nih.gov/");
    rig.sites.site("www.nih.gov").page("/", "NIH", links("https://nia.nih.gov/start", "https://elsewhere.example/"));
    rig.sites.site("nia.nih.gov").page("/", "Aging").page("/start", "Start", links("/more")).page("/more", "More");
    await rig.crawl("*.nih.gov");
    expect(rig.sites.asked("nia.nih.gov")).toContain("/");
    expect(Object.keys(await rig.status())).toEqual([
      "domain nih.gov",
      "host nia.nih.gov",
      "host nih.gov",
      "host www.nih.gov",
    ]);
    const { rows } = await rig.db.query<{ n: number }>(
      sql`select count(distinct domain64 >> 32)::int as n from web.host`,
    );
    expect(rows[0]!.n).toBe(1);
  });
});

it("C17: addresses that nobody may call are not called, though they are followed, however they are written", async () => {
  await rig.end();
  await rig.reset({ reached_at: "nobody.example=http://127.0.0.1" });
  const hosts = ["127.0.0.2", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "100.64.0.1", "167772162", "012.0.0.3"];
  for (const host of hosts) await rig.followed(host);
  await rig.pass(60_000);
  const reasons = Object.values(await rig.status()).map(({ reason }) => reason);
  expect(reasons).toHaveLength(hosts.length);
  for (const reason of reasons) expect(reason).toMatch(/TIDEMARK_ALLOW_PRIVATE|not called/);
  expect(rig.upstream.requests).toEqual([]);
});

describe("C18: sitemaps", () => {
  it("tell pages that nobody links to: lists of lists, compressed, once each, and one that names itself", async () => {
    site.says("User-agent: *", "Disallow: /x", `Sitemap: https://${HOST}/index.xml`);
    const list = (...paths: string[]) =>
      `<sitemapindex>${paths.map((path) => `<sitemap><loc>https://${HOST}${path}</loc></sitemap>`).join("")}</sitemapindex>`;
    site.file("/index.xml", list("/index.xml", "/one.xml.gz", "/two.txt"), "application/xml");
    site.file(
      "/one.xml.gz",
      gzipSync(`<urlset><url><loc>https://${HOST}/hidden</loc></url></urlset>`),
      "application/gzip",
    );
    site.file("/two.txt", `https://${HOST}/plain\nhttps://${HOST}/hidden\n`, "text/plain");
    site.page("/hidden", "Hidden figs").page("/plain", "Plain figs");
    await rig.crawl(HOST);
    expect(await rig.urls("figs")).toHaveLength(2);
    expect(rig.sites.asked().filter((path) => path === "/index.xml")).toHaveLength(1);
    expect(rig.sites.asked().filter((path) => path === "/hidden")).toHaveLength(1);
  });

  it("bring a visit forward by their lastmod, and only where that is news", async () => {
    const told = (lastmod?: string) =>
      site.sitemap("/sitemap.xml", [{ path: "/a", ...(lastmod ? { lastmod } : {}) }, { path: "/" }]);
    told();
    await rig.crawl(HOST);
    const visits = () => rig.sites.asked().filter((path) => path === "/a").length;
    told("2030-01-01T05:00:00Z");
    await rig.pass(7 * HOUR);
    expect(visits()).toBe(2);
    await rig.pass(7 * HOUR);
    expect(visits()).toBe(2);
    told("2099-01-01");
    await rig.pass(7 * HOUR);
    expect(visits()).toBe(2);
  });
});

describe("C14: traps", () => {
  const endless = (route: (path: string) => string | null) => {
    site.instead = (path) => {
      const body = route(path);
      return body === null ? null : { status: 200, headers: { "content-type": "text/html" }, body };
    };
  };

  it("a calendar without end gives so many pages and no more", async () => {
    await rig.end();
    await rig.reset({ alike: "5" });
    site = rig.sites.site(HOST).page("/", "Home", links("/calendar?month=1"));
    endless((path) => {
      const month = Number(/^\/calendar\?month=(\d+)$/.exec(path)?.[1]);
      return month ? `<title>Month ${month}</title>${links(`/calendar?month=${month + 1}`)}` : null;
    });
    await rig.crawl(HOST);
    expect(rig.sites.asked().filter((path) => path.startsWith("/calendar"))).toHaveLength(5);
    expect(await refused()).toBe(1);
  });

  it("facets that multiply, folders that repeat and sessions in addresses are bounded", async () => {
    await rig.end();
    await rig.reset({ alike: "5" });
    site = rig.sites
      .site(HOST)
      .page("/", "Home", links("/find?a=1", "/loop/", "/s;jsessionid=1", "/s?PHPSESSID=2", "/s?sid=3"));
    endless((path) => {
      if (path.startsWith("/find?"))
        return `<title>${path}</title>${links(...["a", "b", "c", "d"].map((name) => `${path}&amp;${name}${path.length}=1`))}`;
      if (path.startsWith("/loop/")) return `<title>${path}</title><a href="loop/">on</a>`;
      return path === "/s" ? "<title>Session</title>" : null;
    });
    await rig.crawl(HOST);
    const asked = rig.sites.asked();
    expect(asked.filter((path) => path.startsWith("/find"))).toHaveLength(5);
    expect(asked.filter((path) => path.startsWith("/loop"))).toEqual(["/loop/", "/loop/loop/"]);
    expect(asked.filter((path) => path.startsWith("/s") && !path.startsWith("/sitemap"))).toEqual(["/s"]);
  });

  it("a page that answers to every address with the same text leads no further", async () => {
    site.page("/", "Home", links("/nothing-a"));
    endless((path) =>
      path.startsWith("/nothing")
        ? `<title>Not found</title><p>Sorry.</p><a href="${path}b">on</a><a href="${path}c">on</a>`
        : null,
    );
    await rig.crawl(HOST);
    expect(rig.sites.asked().filter((path) => path.startsWith("/nothing"))).toHaveLength(3);
  });

  it("a host is taken in up to its cap, and so deep, and the rest is counted", async () => {
    await rig.end();
    await rig.reset({ depth: "3" });
    site = rig.sites.site(HOST);
    const deep = "abcdefgh".split("");
    site.page("/", "Home", links("/a"));
    for (const [n, name] of deep.entries()) site.page(`/${name}`, `Page ${name}`, links(`/${deep[n + 1]}`));
    await rig.crawl(HOST);
    expect(rig.sites.asked().filter((path) => /^\/[a-h]$/.test(path))).toEqual(["/a", "/b", "/c"]);
    site.page("/c", "Page c", links(...Array.from({ length: 50 }, (_, n) => `/many-${"x".repeat(n + 1)}`)));
    await rig.followed(HOST, { pages: "10" });
    await rig.post("/web/crawl", { host: HOST, when: "now" });
    await rig.visit();
    expect(Object.keys(await rig.pages(HOST)).length).toBeLessThanOrEqual(10);
  });
});

describe("the four commands", () => {
  const crawl = async (body: Record<string, unknown>) => {
    rig.sites.log.length = 0;
    const { status } = await rig.post("/web/crawl", { host: HOST, ...body });
    await rig.visit();
    return { status, asked: rig.sites.asked() };
  };

  it("crawl a whole host or one page, only what is due or everything now", async () => {
    await rig.crawl(HOST);
    expect(await crawl({})).toEqual({ status: 202, asked: [] });
    expect(await crawl({ path: "/a" })).toEqual({ status: 202, asked: [] });
    expect((await crawl({ path: "/a", when: "now" })).asked).toEqual(["/a"]);
    expect((await crawl({ when: "now" })).asked.sort()).toEqual(["/", "/a"]);
    site.page("/unknown", "Unknown until now");
    expect((await crawl({ path: "/unknown" })).asked).toEqual(["/unknown"]);
  });

  it("are refused with a sentence where they make no sense", async () => {
    for (const body of [
      {},
      { host: "two words" },
      { host: "www.navy.mil" },
      { host: HOST, path: "https://www.navy.mil/" },
      { host: HOST, when: "soon" },
    ]) {
      const response = await rig.post("/web/crawl", body);
      expect(response.status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    }
  });
});
