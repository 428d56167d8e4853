/** Credentials of real calls: bound to hosts, pooled by account, dropped when refused, and never seen anywhere. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readBudgets } from "../../src/engine/spent.ts";
import type { TidemarkError, Upstream } from "../../src/index.ts";
import { pretendUpstream } from "../../src/testing/upstream.ts";
import { stores } from "../postgres.ts";
import { CallRig } from "./call-rig.ts";

const tokens = { "api.example": ["secret-of-ann-1", "secret-of-ann-2", "secret-of-bob"] };
const owners: Record<string, string> = { "secret-of-ann-1": "ann", "secret-of-ann-2": "ann", "secret-of-bob": "bob" };

describe.each(stores)("calls with credentials, on $store", ({ open }) => {
  let rig: CallRig;
  let u: Upstream;
  let revoked: string[];
  const tokenOf = (headers: Record<string, string>) => headers.authorization?.replace("Bearer ", "") ?? "none";
  const tokensUsed = () => rig.upstream.requests.filter((r) => r.path === "/").map((r) => tokenOf(r.headers));
  const spent = async () =>
    Object.fromEntries((await readBudgets(rig.db)).filter((b) => b.shape === "window").map((b) => [b.budget, b.used]));

  beforeAll(async () => {
    rig = new CallRig((await open()).db);
  });
  beforeEach(async () => {
    await rig.reset(2, tokens);
    revoked = [];
    u = {
      name: "u",
      budgets: { core: { shape: "window", most: 10, period_ms: 3600_000, by: "credential" } },
      credentials: {
        host: "api.example",
        origins: [rig.upstream.url],
        account: async (ask) => JSON.parse((await ask("/user")).text()).login,
      },
    };
    rig.answer = ({ path, headers }) => {
      const token = tokenOf(headers);
      if (revoked.includes(token)) return { status: 401 };
      return path === "/user" ? { body: { login: owners[token] } } : { body: "well" };
    };
  });
  afterEach(() => rig.end());

  it("use the account with most left, and take two tokens of one user for one account", async () => {
    for (let n = 0; n < 8; n += 1) {
      await rig.call(u, {}, 1n, n % 2);
      await rig.clock.advance(600);
    }
    expect(await spent()).toEqual({ "u/core:ann": 4, "u/core:bob": 4 });
    expect(new Set(tokensUsed())).toEqual(new Set(["secret-of-ann-1", "secret-of-bob"]));
  });

  it("ask whose a token is once, for all processes and for good", async () => {
    for (const process of [0, 1]) await rig.call(u, {}, 1n, process);
    await rig.clock.advance(60_000);
    await rig.call(u);
    expect(rig.upstream.requests.filter((r) => r.path === "/user")).toHaveLength(3);
  });

  it("go on with another account when one is spent, and stop when all are", async () => {
    for (let n = 0; n < 30; n += 1) await rig.call(u);
    expect(rig.upstream.requests.filter((r) => r.path === "/")).toHaveLength(20);
    expect(await rig.call(u)).toMatchObject({ code: "UpstreamBusy" });
  });

  it("go on with another account when one is told to wait", async () => {
    rig.answer = ({ headers, path }) => {
      const token = tokenOf(headers);
      if (path === "/user") return { body: { login: owners[token] } };
      return owners[token] === "ann" ? { status: 403, headers: { "retry-after": "600" } } : { body: "well" };
    };
    for (let n = 0; n < 6; n += 1) expect(await rig.outcome(u, {}, 1n, n % 2)).toBe("answer");
    expect(tokensUsed().filter((token) => owners[token] === "ann").length).toBeLessThanOrEqual(1);
    expect((await readBudgets(rig.db)).find((b) => b.budget === "u@ann")?.closed_reason).toContain("HTTP 403");
  });

  it("drop a token that is refused, with an event, and use what is left", async () => {
    revoked = ["secret-of-ann-1"];
    for (let n = 0; n < 6; n += 1) {
      expect(await rig.outcome(u, {}, 1n, n % 2)).toBe("answer");
      await rig.clock.advance(31_000);
    }
    const refused = rig.upstream.requests.filter((r) => tokenOf(r.headers) === "secret-of-ann-1");
    expect(refused).toHaveLength(1);
    expect(rig.events_named("credential_revoked")).toMatchObject([{ host: "api.example" }]);
    expect(new Set(tokensUsed())).toEqual(new Set(["secret-of-ann-2", "secret-of-bob"]));
  });

  it("drop a token that is revoked later, and open the breaker when none is left", async () => {
    await rig.call(u);
    revoked = Object.keys(owners);
    const last = await rig.call(u);
    expect(last).toMatchObject({ code: "UpstreamForbids", charged: false });
    const calls = rig.calls;
    expect(await rig.outcome(u, {}, 2n)).not.toBe("answer");
    expect(rig.calls).toBe(calls);
    expect(rig.events_named("breaker_changed")).toMatchObject([{ to: "open", error_code: "UpstreamForbids" }]);
  });

  it("wait a minute at a time while every token is refused, without a call, and go on soon after a new one is given", async () => {
    revoked = [...tokens["api.example"]];
    await rig.call(u);
    const calls = rig.calls;
    for (let n = 0; n < 5; n += 1) {
      await rig.clock.advance(70_000);
      await rig.call(u, {}, 1n);
      const { wait_ms } = (await rig.call(u, {}, 2n)) as TidemarkError;
      expect(wait_ms).toBeGreaterThan(50_000);
      expect(wait_ms).toBeLessThan(70_000);
    }
    const { rows } = await rig.db.query(
      sql`select upstream from tidemark.upstream where closed_until > tidemark.now()`,
    );
    expect(rows).toHaveLength(1);
    expect(rig.calls).toBe(calls);
    await rig.restart({ "api.example": ["secret-of-eve"] });
    owners["secret-of-eve"] = "eve";
    await rig.clock.advance(70_000);
    expect(await rig.outcome(u)).toBe("answer");
  });

  describe("of one worker whose tokens are all refused", () => {
    const others = { "api.example": ["secret-of-bob"] };

    it("leave the breaker alone while others have a good one, are not charged, and are left to those others", async () => {
      await rig.restartOne(0, { "api.example": ["secret-of-ann-1", "secret-of-ann-2"] });
      await rig.restartOne(1, others);
      revoked = ["secret-of-ann-1", "secret-of-ann-2"];
      expect(await rig.outcome(u, {}, 1n, 1)).toBe("answer");
      const refused = (await rig.call(u, {}, 2n, 0)) as TidemarkError;
      expect(refused).toMatchObject({ code: "UpstreamForbids", charged: false, wait_ms: 1_000 });
      expect(refused.message).toContain("Check the tokens of this worker");
      expect([rig.barred(0, "u"), rig.barred(1, "u")]).toEqual([true, false]);
      expect(rig.events_named("breaker_changed")).toEqual([]);
      expect(rig.events_named("credential_revoked")).toHaveLength(2);
      for (let n = 0; n < 3; n += 1) expect(await rig.outcome(u, {}, 3n, 1)).toBe("answer");
      await rig.clock.advance(60_001);
      expect(rig.barred(0, "u")).toBe(false);
    });

    it("open it as soon as those of the others are refused, too", async () => {
      await rig.restartOne(0, { "api.example": ["secret-of-ann-1"] });
      await rig.restartOne(1, others);
      await rig.call(u, {}, 1n, 1);
      revoked = ["secret-of-ann-1", "secret-of-bob"];
      await rig.call(u, {}, 1n, 0);
      expect(rig.events_named("breaker_changed")).toEqual([]);
      await rig.call(u, {}, 1n, 1);
      expect(rig.events_named("breaker_changed")).toMatchObject([{ to: "open", error_code: "UpstreamForbids" }]);
    });

    it("open it when the others have been gone for long", async () => {
      await rig.restartOne(0, { "api.example": ["secret-of-ann-1"] });
      await rig.restartOne(1, others);
      await rig.call(u, {}, 1n, 1);
      revoked = ["secret-of-ann-1"];
      await rig.clock.advance(16 * 60_000);
      await rig.call(u, {}, 1n, 0);
      expect(rig.events_named("breaker_changed")).toMatchObject([{ to: "open" }]);
    });
  });

  it("keep a token that is refused for one resource alone, whose fault it is", async () => {
    const { answer } = rig;
    rig.answer = (asked) => (asked.path === "/bad" ? { status: 401 } : answer(asked));
    await rig.call(u);
    expect(await rig.call(u, { group: "bad" }, 2n)).toMatchObject({ code: "UpstreamForbids", charged: true });
    expect(rig.events_named("credential_revoked")).toEqual([]);
    expect(rig.events_named("breaker_changed")).toEqual([]);
    expect(await rig.outcome(u)).toBe("answer");
  });

  describe("of which it cannot be learned whose they are", () => {
    it("are not made while asking fails, because two of them may be one account", async () => {
      const { answer } = rig;
      rig.answer = (asked) => (asked.path === "/user" ? { status: 500 } : answer(asked));
      const refused = (await rig.call(u)) as TidemarkError;
      expect(refused).toMatchObject({ code: "UpstreamBusy", wait_ms: 30_000 });
      expect(refused.message).toContain("Whose the tokens for api.example are could not be asked");
      expect(tokensUsed()).toEqual([]);
      rig.answer = answer;
      await rig.clock.advance(30_000);
      expect(await rig.outcome(u)).toBe("answer");
      expect(Object.keys(await spent())).toEqual([expect.stringMatching(/^u\/core:(ann|bob)$/)]);
    });

    it.each([403, 404])("count as one account when the upstream never says (HTTP %d)", async (status) => {
      const { answer } = rig;
      rig.answer = (asked) => (asked.path === "/user" ? { status, body: {} } : answer(asked));
      const declared = u.credentials!;
      const account: typeof declared.account = async (ask) => {
        const said = JSON.parse((await ask("/user")).text()) as { login?: string };
        if (!said.login) throw new Error("no login in it");
        return said.login;
      };
      u = { ...u, credentials: { ...declared, account } };
      for (let n = 0; n < 14; n += 1) await rig.call(u, {}, 1n, n % 2);
      expect(Object.keys(await spent())).toEqual(["u/core:unknown"]);
      expect(tokensUsed().length).toBeLessThanOrEqual(10);
      expect(new Set(tokensUsed())).toEqual(new Set(["secret-of-ann-1"]));
    });

    it("are not asked about while the upstream is closed, and its word to wait is heard there, too", async () => {
      rig.answer = () => ({ status: 429, headers: { "retry-after": "60" } });
      expect(await rig.call(u)).toMatchObject({ code: "UpstreamBusy", wait_ms: 60_000 });
      expect(rig.calls).toBe(1);
      await rig.clock.advance(31_000);
      for (const process of [0, 1]) expect(await rig.outcome(u, {}, 1n, process)).toBe("UpstreamBusy");
      expect(rig.calls).toBe(1);
    });
  });

  it("try refused tokens again after an hour, in case it was the upstream's mistake", async () => {
    revoked = [...tokens["api.example"]];
    await rig.call(u);
    revoked = [];
    await rig.clock.advance(1800_000);
    expect(await rig.outcome(u)).toBe("UpstreamForbids");
    await rig.clock.advance(1800_000);
    expect(await rig.outcome(u)).toBe("answer");
  });

  it("take no token along to another host, whatever its header is called", async () => {
    const other = await pretendUpstream(rig.clock, () => ({ body: "elsewhere" }));
    rig.answer = () => ({ status: 302, headers: { location: `${other.url}/` } });
    const { host, origins } = u.credentials!;
    const header = (token: string) => ({ "x-odd": token });
    await rig.call({ name: "u", credentials: { host, origins: origins!, header } }, { redirects: "any" });
    await other.close();
    expect(rig.upstream.requests[0]!.headers).toMatchObject({ "x-odd": "secret-of-ann-1" });
    expect(other.requests.map((r) => r.headers["x-odd"])).toEqual([undefined]);
  });

  it("send nothing secret to another host, and none to a host without an entry", async () => {
    await rig.call({ ...u, credentials: { ...u.credentials!, origins: ["https://other.example"] } });
    await rig.call({ ...u, credentials: { ...u.credentials!, host: "elsewhere.example" } });
    expect(tokensUsed()).toEqual(["none", "none"]);
  });

  it("leave no secret in events, errors or the database", async () => {
    revoked = ["secret-of-ann-1"];
    const results = [await rig.call(u)];
    rig.answer = () => ({ status: 500 });
    for (const resource of [1n, 2n, 3n]) results.push(await rig.call(u, {}, resource));
    const said = JSON.stringify(
      [rig.said, results.map((r) => (r instanceof Error ? [r.message, r] : r.headers))],
      (_, v) => (typeof v === "bigint" ? String(v) : v),
    );
    const { rows } = await rig.db.query<{ all: string }>(sql`
      select concat((select string_agg(b::text, ' ') from tidemark.budget b), (select string_agg(c::text, ' ') from tidemark.credential c),
                    (select string_agg(u::text, ' ') from tidemark.upstream u), (select string_agg(k::text, ' ') from tidemark.digest_key k)) as all`);
    expect(rows[0]!.all).toContain("bob");
    for (const token of Object.keys(owners)) expect(said + rows[0]!.all).not.toContain(token);
    expect(said).not.toContain("secret=1");
  });
});
