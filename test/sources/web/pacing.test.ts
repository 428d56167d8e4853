/** Hosts are called one at a time with a gap, over all workers, and none waits for another. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { links } from "../../../src/demo/web/sites.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
beforeEach(() => rig.reset({ delay: "1s" }));
afterEach(() => rig.end());

const many = (host: string, n: number) => {
  const paths = Array.from({ length: n }, (_, i) => `/p${"abcdefghijklmnopqrstuvwxyz"[i]}`);
  const site = rig.sites.site(host).page("/", `Home of ${host}`, links(...paths));
  for (const path of paths) site.page(path, `Page ${path} of ${host}`);
};
/** The times between calls to these hosts, as the server saw them. */
const gaps = (...hosts: string[]) => {
  const times = rig.sites.log.filter(({ host }) => hosts.includes(host)).map(({ at_ms }) => at_ms);
  return times.slice(1).map((at, n) => at - times[n]!);
};

describe("C3: one host", () => {
  it("is called with the gap however many workers there are: robots.txt, sitemaps and redirects too", async () => {
    many("www.gsa.gov", 5);
    rig.sites.site("www.gsa.gov").moves("/pa", "/pb");
    await rig.followed("www.gsa.gov");
    await rig.visit(4, { slots: 20 });
    expect(rig.sites.log).toHaveLength(8);
    expect(Math.min(...gaps("www.gsa.gov"))).toBeGreaterThanOrEqual(1_000);
  });

  it("C4: is left alone from the end of its answer on, and twice as long as it takes", async () => {
    many("www.gsa.gov", 2);
    const slow_ms = 10_000;
    let out = 0;
    let most = 0;
    rig.slowly = async () => {
      out += 1;
      most = Math.max(most, out);
      await rig.clock.waiting(rig.clock.waiting(rig.clock.sleep(slow_ms)), "call");
      out -= 1;
    };
    await rig.followed("www.gsa.gov");
    await rig.visit(3);
    expect(most).toBe(1);
    expect(Math.min(...gaps("www.gsa.gov"))).toBeGreaterThanOrEqual(3 * slow_ms);
  });
});

describe("C5: hosts that belong together", () => {
  it("share a gap where they are of one domain", async () => {
    many("a.nih.gov", 2);
    many("b.nih.gov", 2);
    await rig.crawl("a.nih.gov", "b.nih.gov");
    expect(rig.sites.log).toHaveLength(10);
    expect(Math.min(...gaps("a.nih.gov", "b.nih.gov"))).toBeGreaterThanOrEqual(1_000);
  });

  it("share a gap where they are at one address", async () => {
    await rig.end();
    await rig.reset({ delay: "1s", apart_by: "address" });
    many("www.gsa.gov", 1);
    many("www.navy.mil", 1);
    await rig.crawl("www.gsa.gov", "www.navy.mil");
    expect(rig.sites.log).toHaveLength(8);
    expect(Math.min(...gaps("www.gsa.gov", "www.navy.mil"))).toBeGreaterThanOrEqual(1_000);
  });

  it("do not where the operator sets each apart", async () => {
    await rig.end();
    await rig.reset({ delay: "1s", apart_by: "host" });
    many("a.nih.gov", 2);
    many("b.nih.gov", 2);
    await rig.crawl("a.nih.gov", "b.nih.gov");
    expect(Math.min(...gaps("a.nih.gov", "b.nih.gov"))).toBeLessThan(500);
    expect(Math.min(...gaps("a.nih.gov"))).toBeGreaterThanOrEqual(1_000);
  });
});

describe("C6: a large host", () => {
  it("lets small ones be done in the meantime, with one slot for all", async () => {
    many("big.gsa.gov", 20);
    const others = ["www.navy.mil", "www.nasa.gov", "www.epa.gov"];
    for (const host of others) many(host, 1);
    for (const host of ["big.gsa.gov", ...others]) await rig.followed(host);
    rig.start({ slots: 1 });
    await rig.clock.until(async () => rig.sites.asked("big.gsa.gov").length >= 8);
    await rig.stop();
    for (const host of others) expect(rig.sites.asked(host)).toHaveLength(4);
  });

  it("that is told to wait costs nothing until its time is over", async () => {
    many("www.gsa.gov", 2);
    const site = rig.sites.site("www.gsa.gov");
    site.instead = (path) => (path === "/pa" ? { status: 503, headers: { "retry-after": "3600" }, body: "" } : null);
    await rig.followed("www.gsa.gov");
    rig.start();
    await rig.clock.until(() => rig.sites.asked().includes("/pa"));
    rig.ended.length = 0;
    await rig.clock.advance(3_500_000);
    expect(rig.ended.length).toBeLessThan(3);
    site.instead = () => null;
    await rig.clock.advance(200_000);
    expect(rig.sites.asked()).toContain("/pb");
    await rig.stop();
  });
});

describe("C7: a host that asks us to wait", () => {
  it.each([
    ["in seconds", (_now: number) => "120"],
    ["with a date", (now: number) => new Date(now + 120_000).toUTCString()],
  ])("is waited for, %s", async (_, retry_after) => {
    many("www.gsa.gov", 2);
    const now_ms = Date.parse("2030-01-01T00:00:00Z");
    const site = rig.sites.site("www.gsa.gov");
    let told: number | null = null;
    site.instead = (path, { at_ms }) => {
      if (path !== "/pa" || told !== null) return null;
      told = at_ms;
      return { status: 429, headers: { "retry-after": retry_after(now_ms + at_ms) }, body: "" };
    };
    await rig.crawl("www.gsa.gov");
    const next = rig.sites.log.find(({ at_ms }) => at_ms > told!);
    expect(next!.at_ms - told!).toBeGreaterThanOrEqual(118_000);
    expect((await rig.status())["host www.gsa.gov"]).toMatchObject({ failures: 0 });
  });

  it("or fails again and again is asked ever more rarely, then parked; another host is not", async () => {
    many("www.gsa.gov", 12);
    many("www.navy.mil", 1);
    const site = rig.sites.site("www.gsa.gov");
    site.instead = (path) => (path.startsWith("/p") ? { status: 500, headers: {}, body: "" } : null);
    await rig.followed("www.gsa.gov");
    await rig.followed("www.navy.mil");
    await rig.pass(4 * 3600_000);
    expect((await rig.status())["host www.gsa.gov"]).toMatchObject({ status: "parked" });
    expect(rig.sites.asked("www.gsa.gov").filter((path) => path.startsWith("/p"))).toHaveLength(8);
    expect(rig.sites.asked("www.navy.mil")).toHaveLength(4);
  });
});

describe("a host of one's own", () => {
  it("is called several times at once where the operator says so, and only then", async () => {
    await expect(rig.followed("www.gsa.gov", { at_once: "4" })).rejects.toThrow("at_once needs own=true");
    many("www.gsa.gov", 20);
    await rig.followed("www.gsa.gov", { own: "true", at_once: "4", delay: "0s" });
    await rig.visit();
    expect(rig.sites.log).toHaveLength(23);
    expect(rig.clock.elapsed_ms()).toBeLessThan(5_000);
    const { rows } = await rig.db.query<{ n: number }>(sql`select count(*)::int as n from web.search`);
    expect(rows[0]!.n).toBe(21);
  });
});
