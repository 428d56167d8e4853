/** Killed at any line: what was fetched and not stored is fetched once more, and nothing is stored twice. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
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

it("C26: killed between fetching a page and storing it, the next worker fetches that page once more", async () => {
  rig.sites.site(HOST).page("/", "Home", links("/a", "/b")).page("/a", "Apples").page("/b", "Bananas");
  await rig.followed(HOST);
  // Dead with the first thing that it says to the database after it fetched the page.
  const life = rig.start({}, () => rig.sites.asked().includes("/a"));
  await rig.clock.until(() => life.dead);
  await life.kill();
  await rig.visit();
  const times = (path: string) => rig.sites.asked().filter((one) => one === path).length;
  expect([times("/"), times("/b")]).toEqual([1, 1]);
  expect(times("/a")).toBeLessThanOrEqual(2);
  const { rows } = await rig.db.query<{ n: number; distinct: number }>(
    sql`select count(*)::int as n, count(distinct page_id)::int as distinct from web.search`,
  );
  expect(rows[0]).toEqual({ n: 3, distinct: 3 });
  expect(await rig.urls("apples")).toEqual([`https://${HOST}/a`]);
});
