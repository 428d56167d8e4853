/** From a host that is followed to a page that is found: the crawl is complete, stays inside, and is searched by scope. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { links } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
const HOST = "www.gsa.gov";

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset());
afterEach(() => rig.end());

describe("a host", () => {
  it("is crawled from its first page on, and what it says is found", async () => {
    rig.sites
      .site(HOST)
      .page("/", "GSA", links("/permits", "/about", "https://elsewhere.example/x"))
      .page("/permits", "Building permits", "<p>How to apply for a <b>permit</b> & more.</p>")
      .page("/about", "About us", "<p>We look after buildings.</p>");
    await rig.crawl(HOST);
    expect(rig.sites.asked()).toEqual(["/robots.txt", "/sitemap.xml", "/", "/permits", "/about"]);
    const answer = await rig.search("permit");
    expect(answer.results).toMatchObject([
      {
        url: `https://${HOST}/permits`,
        title: "Building permits",
        host: HOST,
        snippet: expect.stringContaining("<mark>permit</mark> &amp; more"),
      },
    ]);
    expect(answer).toMatchObject({ total: { pages: 1, exact: true }, ranked: { pages: 1, capped: false }, next: null });
    expect(answer.fresh_at).not.toBeNull();
    expect(await rig.status()).toMatchObject({ [`host ${HOST}`]: { status: "waiting", failures: 0 } });
  });
});
