/** Who looks and how often: what counts as a view, and what follows from it. */
import sql from "sql-template-tag";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decay } from "../../../src/index.ts";
import { tiers } from "../../../src/sources/repositories/repository.ts";
import { HourlyAllowance, isPerson } from "../../../src/sources/repositories/visitors.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { BROWSER, HOST, migrations, RepositoryRig } from "./rig.ts";

let store: TestPostgres;
let rig: RepositoryRig;

beforeAll(async () => {
  store = await testDatabase({ migrations: migrations() });
});
afterAll(() => store.close());
beforeEach(async () => {
  rig = new RepositoryRig(store);
  await rig.reset();
});
afterEach(() => rig.end());

const WIDGET = `${HOST}/acme/widget`;
const files = { "a.ts": "export const a = 1;\n" };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function viewedAt(): Promise<string | null> {
  await rig.views.flush();
  const { rows } = await rig.db.query<{ viewed_at: string | null }>(sql`select viewed_at from tidemark.resource`);
  return rows[0]?.viewed_at ?? null;
}

describe("E1: the tiers of the document", () => {
  const schedule = decay(tiers, "never");
  const now_ms = Date.UTC(2026, 2, 29, 12);
  const hours = (idle_ms: number) => {
    const facts = { now_ms, phase: 0, fresh_at_ms: now_ms, changed_at_ms: null, viewed_at_ms: now_ms - idle_ms };
    return schedule.next(facts).wait_ms / HOUR_MS;
  };

  it.each([
    [0, 6],
    [7 * DAY_MS, 6],
    [7 * DAY_MS + 23 * HOUR_MS, 6],
    [8 * DAY_MS, 12],
    [14 * DAY_MS, 12],
    [15 * DAY_MS, 24],
    [30 * DAY_MS, 24],
    [31 * DAY_MS, 72],
    [61 * DAY_MS, 168],
    [90 * DAY_MS, 168],
  ])("idle for %i ms means every %i hours", (idle_ms, every_h) => {
    expect(hours(idle_ms)).toBe(every_h);
  });

  it("after 90 days nothing is done until somebody looks", () => {
    expect(hours(91 * DAY_MS)).toBeGreaterThan(24 * 365 * 50);
  });

  it("a view from a clock that is ahead counts as one of now", () => {
    expect(hours(-5 * 60_000)).toBe(6);
  });
});

describe("E2: a view is a person's", () => {
  const visit = (agent: string, more: Record<string, string> = {}, method = "GET") =>
    isPerson({ method, header: (name) => ({ "user-agent": agent, ...more })[name], view: true });

  it.each([
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
    ["Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"],
    ["Mozilla/5.0 (compatible; bingbot/2.0)"],
    ["Twitterbot/1.0"],
    ["facebookexternalhit/1.1"],
    ["Mozilla/5.0 (X11) HeadlessChrome/120.0"],
    ["curl/8.5.0"],
    ["python-requests/2.32"],
    ["Go-http-client/2.0"],
    ["tidemark/0.1.0"],
    ["UptimeRobot/2.0"],
    [""],
  ])("and not that of %s", (agent) => {
    expect(visit(agent)).toBe(false);
  });

  it("and not that of a browser which fetches ahead, asks whether something changed, or only for the head", () => {
    expect(visit(BROWSER)).toBe(true);
    expect(visit(BROWSER, { "sec-purpose": "prefetch;prerender" })).toBe(false);
    expect(visit(BROWSER, { "if-none-match": "x" })).toBe(false);
    expect(visit(BROWSER, {}, "HEAD")).toBe(false);
  });

  it("nor the refresh itself, nor a program that says so", async () => {
    await rig.made("acme/widget", files);
    await rig.followed(WIDGET);
    await rig.work();
    const followed = await viewedAt();
    await rig.clock.advance(120_000);
    await rig.get(`${WIDGET}?view=false`, { "user-agent": BROWSER });
    await rig.get(WIDGET, { "user-agent": "curl/8" });
    expect(await viewedAt()).toBe(followed);
    await rig.look(WIDGET);
    expect(await viewedAt()).not.toBe(followed);
  });

  it("and ten thousand of them in a minute are one write", async () => {
    await rig.made("acme/widget", files);
    await rig.look(WIDGET);
    await rig.work();
    const first = await viewedAt();
    for (let n = 0; n < 10_000; n += 1) rig.views.viewed("repositories", { kind: "repository", key: WIDGET });
    await rig.clock.advance(30_000);
    expect(await viewedAt()).toBe(first);
    await rig.look(WIDGET);
    await rig.clock.advance(40_000);
    expect(await viewedAt()).not.toBe(first);
  });
});

it("E10: asked for by hand, by view and by plan at once, it is analysed once, and everybody gets that", async () => {
  await rig.made("acme/widget", files);
  const answers = await Promise.all(Array.from({ length: 50 }, () => rig.look(WIDGET)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  await rig.followed(WIDGET);
  rig.start();
  rig.start();
  await rig.calm();
  expect(rig.asked()).toEqual({ refs: 1, objects: 2 });
  const bodies = await Promise.all(Array.from({ length: 5 }, () => rig.json(WIDGET)));
  for (const body of bodies) expect(body).toEqual(bodies[0]);
});

it("E13: what was tried and failed is not fresh: only success moves that", async () => {
  await rig.made("acme/widget", files);
  await rig.look(WIDGET);
  await rig.work();
  const { fresh_at } = await rig.json<{ fresh_at: string }>(WIDGET);
  rig.upstream.trouble = () => ({ trouble: "malformed", body: "no pkt-line" });
  await rig.clock.advance(2 * HOUR_MS);
  await rig.look(WIDGET);
  rig.start();
  await rig.clock.advance(10_000);
  await rig.stop();
  const after = await rig.json<{ fresh_at: string; trouble: { failures: number } }>(WIDGET);
  expect(after.fresh_at).toBe(fresh_at);
  expect(after.trouble.failures).toBeGreaterThan(0);
});

it("E14: a view of what nobody looked at for 60 days has it checked at once, not when its old date comes", async () => {
  await rig.made("acme/widget", files);
  await rig.look(WIDGET);
  await rig.views.flush();
  await rig.work();
  await rig.clock.advance(60 * DAY_MS);
  await rig.work();
  await rig.clock.advance(2 * DAY_MS);
  const next = await rig.push("acme/widget", { "b.ts": "export const b = 2;\n" });
  await rig.look(WIDGET);
  await rig.work();
  expect(await rig.json(WIDGET)).toMatchObject({ commit_oid: next });
});

it("E20: one that never succeeded is tried ever more rarely, and not at every turn", async () => {
  await rig.made("acme/widget", files);
  rig.upstream.trouble = () => ({ trouble: "malformed", body: "no pkt-line" });
  await rig.look(WIDGET);
  rig.start();
  await rig.clock.advance(2 * HOUR_MS);
  await rig.stop();
  expect(rig.upstream.requests.length).toBeLessThan(20);
  expect(await rig.json(WIDGET)).toMatchObject({ status: "queued", trouble: { failures: expect.any(Number) } });
});

describe("strangers", () => {
  it("have only so many repositories analysed for the first time in an hour", () => {
    const allowance = new HourlyAllowance();
    const taken = Array.from({ length: 5 }, () => allowance.take(3, 0).taken);
    expect(taken).toEqual([true, true, true, false, false]);
    expect(allowance.take(3, 20 * 60_000).taken).toBe(true);
    expect(allowance.take(0, HOUR_MS)).toEqual({ taken: false, wait_ms: HOUR_MS });
  });

  it("are told to come back, and from where they can have it", async () => {
    await rig.end();
    rig = new RepositoryRig(store);
    await rig.reset({ new_per_hour: "1", waiting_most: "2" });
    expect((await rig.look(`${HOST}/acme/one`)).status).toBe(202);
    const second = await rig.look(`${HOST}/acme/two`);
    expect([second.status, Number(second.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const elsewhere = await rig.look("git.elsewhere.example/acme/one");
    expect(elsewhere.status).toBe(403);
    expect(await elsewhere.text()).toContain("tidemark follow repositories git.elsewhere.example/acme/one");
    await rig.followed(`${HOST}/acme/three`);
    expect((await rig.look(`${HOST}/acme/four`)).status).toBe(503);
  });

  it("begin nothing where they are programs that gather pages", async () => {
    const bot = await rig.get(WIDGET, { "user-agent": "Googlebot/2.1" });
    expect(bot.status).toBe(404);
    expect(await rig.status()).toEqual({});
  });

  it.each(["a b", "%2e%2e", "-x/../y"])("cannot ask for %s", async (name) => {
    expect((await rig.look(`${HOST}/acme/${encodeURIComponent(name)}`)).status).toBe(400);
  });
});
