/** Pages are visited again as they change: what is true is found, what is gone is not, and nothing is fetched in vain. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { links, type Site } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
let site: Site;
const HOST = "www.gsa.gov";
const DAY = 24 * 3600_000;
const at = (path: string) => `https://${HOST}${path}`;

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(async () => {
  await rig.reset();
  site = rig.sites.site(HOST).page("/", "Home", links("/a", "/b"));
  site
    .page("/a", "Apples", `<p>apples are red</p>${links("/deep")}`)
    .page("/b", "Bananas", "<p>bananas</p>")
    .page("/deep", "Deep");
});
afterEach(() => rig.end());

const visitsOf = (path: string) => rig.sites.log.filter((one) => one.path === path);
/** Makes all pages due, and visits them. */
const again = async () => {
  expect((await rig.post("/web/crawl", { host: HOST, when: "now" })).status).toBe(202);
  await rig.visit();
};

describe("C8: a page that did not change", () => {
  it("is asked for with its validators, keeps what it says, and what it leads to is visited still", async () => {
    await rig.crawl(HOST);
    const before = (await rig.pages(HOST))["/a"]!;
    await rig.pass(2 * DAY);
    expect(visitsOf("/a").at(-1)).toMatchObject({ status: 304, conditional: true });
    expect(visitsOf("/deep").length).toBeGreaterThan(1);
    expect((await rig.pages(HOST))["/a"]!.last_fetched! > before.last_fetched!).toBe(true);
    expect(await rig.urls("apples")).toEqual([at("/a")]);
  });

  it("is fetched whole where it was extracted by other code, or where what it said is lost", async () => {
    await rig.crawl(HOST);
    await rig.db.query(sql`update web.guestbook set extractor = 0 where path = '/a'`);
    await rig.db.query(
      sql`delete from web.content where page_id = (select page_id from web.guestbook where path = '/b')`,
    );
    rig.sites.log.length = 0;
    await again();
    expect(visitsOf("/a")).toMatchObject([{ status: 200, conditional: false }]);
    expect(visitsOf("/b")).toMatchObject([{ status: 200, conditional: false }]);
    expect(await rig.urls("bananas")).toEqual([at("/b")]);
  });

  it("C9: is no change where only its ETag or its markup is new", async () => {
    await rig.crawl(HOST);
    const changed = async () =>
      (await rig.db.query<{ at: string }>(sql`select last_changed as at from web.guestbook where path = '/b'`)).rows[0]!
        .at;
    const before = await changed();
    site.page("/b", "Bananas", '<p class="new">bananas</p><!-- 12:00 -->');
    await again();
    expect(visitsOf("/b").at(-1)!.status).toBe(200);
    expect(await changed()).toBe(before);
  });

  it("C9: is fetched whole now and then, because some servers say so whatever they have", async () => {
    site.page("/b", "Bananas", "<p>bananas</p>", { etag: '"for ever"' });
    await rig.crawl(HOST);
    site.page("/b", "Cherries", "<p>cherries</p>", { etag: '"for ever"' });
    for (let n = 0; n < 10; n += 1) await again();
    expect(await rig.urls("cherries")).toEqual([at("/b")]);
  });
});

it("C10: a page that changes is visited more often, one that does not more rarely, and an error changes neither", async () => {
  await rig.crawl(HOST);
  for (let n = 0; n < 4; n += 1) {
    site.page("/a", "Apples", `<p>apples ${n}</p>`);
    await again();
  }
  const known = await rig.pages(HOST);
  expect(known["/a"]!.interval_s).toBeLessThan(86_400 / 10);
  expect(known["/b"]!.interval_s).toBeGreaterThan(86_400 * 2);
  site.instead = (path) => (path === "/a" ? { status: 500, headers: {}, body: "" } : null);
  await rig.post("/web/crawl", { host: HOST, path: "/a", when: "now" });
  await rig.visit();
  const failed = (await rig.pages(HOST))["/a"]!;
  expect([failed.interval_s, failed.failures > 0]).toEqual([known["/a"]!.interval_s, true]);
  expect(await rig.urls("apples")).toEqual([at("/a")]);
});

describe("C11: a page that is not there", () => {
  const reply = (status: number) => {
    site.instead = (path) => (path === "/a" ? { status, headers: {}, body: "" } : null);
  };

  it("stays found after one 404, and is not after three; it comes back when it is there again", async () => {
    await rig.crawl(HOST);
    reply(404);
    await again();
    expect(await rig.urls("apples")).toEqual([at("/a")]);
    await rig.pass(2 * DAY);
    expect(await rig.urls("apples")).toEqual([]);
    expect((await rig.pages(HOST))["/a"]).toMatchObject({ reason: "not found (404)", found: false });
    site.instead = () => null;
    await rig.pass(31 * DAY);
    expect(await rig.urls("apples")).toEqual([at("/a")]);
  });

  it("is not found any more after one 410", async () => {
    await rig.crawl(HOST);
    reply(410);
    await again();
    expect(await rig.urls("apples")).toEqual([]);
  });

  it("is found at its new address after a 301, and at its old one after a 302", async () => {
    site.page("/new", "Apples", "<p>apples are green</p>").page("/other", "Bananas", "<p>bananas of the day</p>");
    await rig.crawl(HOST);
    site.moves("/a", "/new").moves("/b", "/other", 302);
    await again();
    expect(await rig.urls("apples")).toEqual([at("/new")]);
    expect(new Set(await rig.urls("bananas"))).toEqual(new Set([at("/b"), at("/other")]));
  });

  it("leads nowhere where redirects go in a circle, in a long row, or outside of what is followed", async () => {
    site.moves("/a", "/b").moves("/b", "/a").moves("/deep", "https://elsewhere.example/");
    for (let n = 0; n < 30; n += 1) site.moves(`/row${n}`, `/row${n + 1}`);
    site.page("/", "Home", links("/a", "/b", "/deep", "/row0"));
    await rig.crawl(HOST);
    expect(rig.sites.asked()).not.toContain("/row30");
    expect(rig.sites.asked().filter((path) => path === "/a")).toHaveLength(1);
    expect(new Set(rig.sites.log.map(({ host }) => host))).toEqual(new Set([HOST]));
  });
});

describe("C12: a page that another stands for", () => {
  it("is not found beside it, unless that is missing, elsewhere or points back", async () => {
    const page = (path: string, canonical: string) =>
      site.page(path, `Plums ${path.slice(1)}`, `<p>plums of ${path.slice(1)}</p>`, {
        head: `<link rel="canonical" href="${canonical}">`,
      });
    page("/print", "/plums");
    page("/plums", "/plums");
    page("/missing", "/nowhere");
    page("/outside", "https://elsewhere.example/x");
    page("/one", "/two");
    page("/two", "/one");
    site.page("/", "Home", links("/print", "/missing", "/outside", "/one", "/two"));
    await rig.crawl(HOST);
    const found = (await rig.urls("plums")).map((url) => new URL(url).pathname).sort();
    expect(found).toEqual(["/missing", "/one", "/outside", "/plums", "/two"]);
  });

  it("is found once where several say the same, and the next one when the first is gone", async () => {
    site.page("/copy", "Bananas", "<p>bananas</p>").page("/", "Home", links("/b", "/copy"));
    await rig.crawl(HOST);
    expect(await rig.urls("bananas")).toEqual([at("/b")]);
    site.instead = (path) => (path === "/b" ? { status: 410, headers: {}, body: "" } : null);
    await again();
    expect(await rig.urls("bananas")).toEqual([at("/copy")]);
  });

  it("is not found any more within one visit once it says noindex, in its head or in a header", async () => {
    await rig.crawl(HOST);
    site.page("/a", "Apples", `<p>apples</p>${links("/unseen")}`, {
      head: '<meta name="robots" content="noindex, nofollow">',
    });
    site.page("/b", "Bananas", "<p>bananas</p>", { headers: { "x-robots-tag": "otherbot: none, tidemark: noindex" } });
    await again();
    expect(await rig.urls("apples OR bananas")).toEqual([]);
    expect(rig.sites.asked()).not.toContain("/unseen");
    site.page("/b", "Bananas", "<p>bananas</p>", { headers: { "x-robots-tag": "otherbot: noindex" } });
    await again();
    expect(await rig.urls("bananas")).toEqual([at("/b")]);
  });
});

it("C25: while a page is visited again, a search finds it once, as it was or as it is", async () => {
  await rig.crawl(HOST);
  const { rows } = await rig.db.query<{ page_id: bigint }>(sql`select page_id from web.guestbook where path = '/a'`);
  const seen: Record<string, string[]>[] = [];
  const look = async () => seen.push({ apples: await rig.urls("apples"), pears: await rig.urls("pears") });
  await rig.db.transaction(async (tx) => {
    await tx.query(
      sql`update web.content set tags = '{1}', texts = '{Pears}' where page_id = ${rows[0]!.page_id}::bigint`,
    );
    await tx.query(sql`select web.index_pages(${[rows[0]!.page_id]}::bigint[]) as n`);
    // Another session, before the commit.
    await look();
  });
  await look();
  expect(seen).toEqual([
    { apples: [at("/a")], pears: [] },
    { apples: [], pears: [at("/a")] },
  ]);
});

it.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37"],
  ["yesterday", null],
])("C27: a page that was last modified %s", async (last_modified, expected) => {
  site.page("/a", "Apples", "<p>apples</p>", { last_modified, etag: null });
  await rig.crawl(HOST);
  const [found] = (await rig.search("apples")).results;
  expect(found!.last_modified?.slice(0, 19) ?? null).toBe(expected);
  await again();
  expect(visitsOf("/a").at(-1)).toMatchObject({ status: 304, conditional: true });
});
