/** What a host says to robots is obeyed: before anything is fetched, when it changes, and when it cannot be had. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { links } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
const HOST = "www.gsa.gov";
const DAY = 24 * 3600_000;

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(async () => {
  await rig.reset();
  rig.sites.site(HOST).page("/", "Home", links("/a")).page("/a", "Apples", "<p>apples</p>");
});
afterEach(() => rig.end());

const robots = (status: number, headers: Record<string, string> = {}) => {
  rig.sites.site(HOST).robots = { title: "", body: "no", type: "text/plain", status, headers };
};

describe("C1: robots.txt", () => {
  it.each([500, 503])("that fails with %i lets nothing be fetched, and is asked for again", async (status) => {
    robots(status);
    await rig.followed(HOST);
    await rig.pass(10 * 60_000);
    expect(new Set(rig.sites.asked())).toEqual(new Set(["/robots.txt"]));
    expect(rig.sites.asked().length).toBeGreaterThan(2);
    expect((await rig.status())[`host ${HOST}`]).toMatchObject({
      reason: expect.stringContaining("nothing may be fetched"),
    });
    robots(404);
    await rig.pass(DAY);
    expect(await rig.urls("apples")).toEqual([`https://${HOST}/a`]);
  });

  it("that does not answer lets nothing be fetched", async () => {
    rig.upstream.trouble = ({ path }) => (path === "/robots.txt" ? { trouble: "hang" } : null);
    await rig.followed(HOST);
    await rig.pass(5 * 60_000);
    expect(rig.sites.asked()).toEqual([]);
  });

  it("that could not be had for thirty days is taken for none", async () => {
    robots(500);
    await rig.followed(HOST);
    await rig.pass(29 * DAY);
    expect(new Set(rig.sites.asked())).toEqual(new Set(["/robots.txt"]));
    await rig.pass(4 * DAY);
    expect(await rig.urls("apples")).toEqual([`https://${HOST}/a`]);
  });

  it.each([404, 401, 403])("that answers %i allows everything", async (status) => {
    robots(status);
    await rig.crawl(HOST);
    expect(await rig.urls("apples")).toHaveLength(1);
  });

  it("that is refused denies everything where the operator wants it so", async () => {
    await rig.end();
    await rig.reset({ robots_403: "deny" });
    rig.sites.site(HOST).page("/", "Home", "apples");
    robots(403);
    await rig.crawl(HOST);
    expect(rig.sites.asked()).toEqual(["/robots.txt"]);
  });

  it("is followed through five redirects, to other hosts too, and holds for the host that was asked", async () => {
    robots(301, { location: "https://gsa.gov/robots.txt" });
    rig.sites.site("gsa.gov").robots = { title: "", body: "", status: 302, headers: { location: "/r2.txt" } };
    rig.sites.site("gsa.gov").file("/r2.txt", "User-agent: *\nDisallow: /a", "text/plain");
    await rig.crawl(HOST);
    expect(rig.sites.asked("gsa.gov")).toEqual(["/robots.txt", "/r2.txt"]);
    expect(rig.sites.asked(HOST)).not.toContain("/a");
  });

  it("that leads around in a circle is none", async () => {
    robots(301, { location: "/robots.txt" });
    await rig.crawl(HOST);
    expect(rig.sites.asked().filter((path) => path === "/robots.txt")).toHaveLength(6);
    expect(await rig.urls("apples")).toHaveLength(1);
  });
});

describe("rules that change", () => {
  it("C12: take pages away that they forbid, also those that say noindex, and give them back", async () => {
    await rig.crawl(HOST);
    expect(await rig.urls("apples")).toHaveLength(1);
    rig.sites.site(HOST).says("User-agent: *", "Disallow: /a");
    await rig.pass(DAY + 60_000);
    expect(await rig.urls("apples")).toEqual([]);
    expect((await rig.pages(HOST))["/a"]).toMatchObject({ reason: "robots.txt does not allow it", due_in_s: null });
    rig.sites.site(HOST).page("/a", "Apples", "<p>apples</p>", { head: '<meta name="robots" content="noindex">' });
    rig.sites.site(HOST).says("User-agent: *", "Allow: /");
    await rig.pass(DAY + 60_000);
    expect((await rig.pages(HOST))["/a"]).toMatchObject({ status: 200, reason: expect.stringContaining("noindex") });
    expect(await rig.urls("apples")).toEqual([]);
  });
});

describe("a delay", () => {
  it("is what robots.txt asks for, shortened where that is too long, and told", async () => {
    rig.sites.site(HOST).says("User-agent: *", "Crawl-delay: 600");
    await rig.crawl(HOST);
    const times = rig.sites.log.map(({ at_ms }) => at_ms);
    const gaps = times.slice(2).map((at, n) => at - times[n + 1]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...gaps)).toBeLessThan(40_000);
    const { results } = (await (await rig.get("/web/hosts")).json()) as { results: unknown[] };
    expect(results).toMatchObject([{ host: HOST, delay_ms: 30_000, crawl_delay_ms: 600_000 }]);
  });
});
