/** An upstream that is many servers: each is asked one at a time, as slowly as it wants, and none pays for another. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TidemarkError, Upstream } from "../../src/index.ts";
import { testDatabase } from "../postgres.ts";
import { CallRig, codeOf } from "./call-rig.ts";

const upstream: Upstream = {
  name: "sites",
  budgets: {
    site: { shape: "gap", gap_ms: 1_000, by: "group" },
    address: { shape: "gap", gap_ms: 1_000, by: "address" },
  },
  breaker: false,
};
const site = [{ budget: "site" }];

describe("an upstream that is many servers", () => {
  let rig: CallRig;
  beforeAll(async () => {
    rig = new CallRig((await testDatabase()).db);
  });
  beforeEach(() => rig.reset(3));
  afterEach(() => rig.end());

  it("is asked as slowly as a call wants, by how long it took", async () => {
    const gap_ms = (took_ms: number) => 5_000 + took_ms;
    await rig.call(upstream, { budgets: site, group: "a", gap_ms });
    const early = (await rig.call(upstream, { budgets: site, group: "a" }, 1n, 1)) as TidemarkError;
    expect([early.code, Math.round(early.wait_ms! / 1000)]).toEqual(["UpstreamBusy", 5]);
    await rig.clock.advance(5_100);
    expect(codeOf(await rig.call(upstream, { budgets: site, group: "a", gap_ms: () => 0 }, 1n, 2))).toBe("answer");
    const next = (await rig.call(upstream, { budgets: site, group: "a" })) as TidemarkError;
    expect(Math.round(next.wait_ms! / 1000)).toBe(1);
  });

  it("counts hosts that are found at one address as one", async () => {
    expect(codeOf(await rig.call(upstream, { group: "a" }))).toBe("answer");
    const other = (await rig.call(upstream, { group: "b" }, 2n, 1)) as TidemarkError;
    expect([other.code, other.details.budget]).toEqual(["UpstreamBusy", "sites/address:127.0.0.1"]);
    expect(codeOf(await rig.call(upstream, { group: "b", budgets: site }, 2n, 1))).toBe("answer");
  });

  it("charges who fails there, and closes for nobody else however many fail", async () => {
    rig.answer = ({ path }) => (path === "/well" ? { body: "well" } : { status: 500 });
    for (let n = 0n; n < 6n; n += 1n) {
      const failed = (await rig.call(upstream, { budgets: site, group: `bad${n}` }, n)) as TidemarkError;
      expect([failed.code, failed.charged]).toEqual(["UpstreamDown", true]);
    }
    rig.answer = ({ path }) => (path === "/well" ? { body: "well" } : { status: 401 });
    const refused = (await rig.call(upstream, { budgets: site, group: "closed" }, 7n)) as TidemarkError;
    expect(refused.code).toBe("UpstreamForbids");
    expect(codeOf(await rig.call(upstream, { budgets: site, group: "well" }, 8n))).toBe("answer");
  });

  it("is told whom a request is for where it is reached elsewhere", async () => {
    let host = "";
    rig.answer = ({ headers }) => {
      host = headers.host!;
      return { body: "well" };
    };
    rig.origin = "http://www.example.gov";
    await rig.call(upstream, { budgets: site, reached_at: rig.upstream.url });
    expect(host).toBe("www.example.gov");
  });
});
