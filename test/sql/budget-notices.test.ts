/** A closing reaches the other processes at once, on PostgreSQL; the embedded database has no others. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Upstream } from "../../src/index.ts";
import { testDatabase } from "../postgres.ts";
import { CallRig, codeOf } from "./call-rig.ts";

let rig: CallRig;
beforeEach(async () => {
  rig = new CallRig((await testDatabase()).db);
  await rig.reset(2);
});
afterEach(() => rig.end());

it("what another process had drawn ahead is not spent once somebody was told to wait", async () => {
  const u: Upstream = { name: "u", budget: { shape: "window", most: 100_000, period_ms: 3600_000 } };
  const burst = () => rig.ended(...Array.from({ length: 50 }, () => rig.begin(u, {}, 1n, 1)));
  for (let n = 0; n < 5; n += 1) expect((await burst()).map(codeOf)).not.toContain("UpstreamBusy");
  let heard = () => {};
  const notice = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const stop = await rig.db.listen("tidemark_closed", heard);
  rig.answer = () => ({ status: 429, headers: { "retry-after": "60" } });
  expect(await rig.outcome(u, {}, 1n, 0)).toBe("UpstreamBusy");
  rig.answer = () => ({ body: "well" });
  await notice;
  const { calls } = rig;
  expect(codeOf(await rig.begin(u, {}, 1n, 1))).toBe("UpstreamBusy");
  expect(rig.calls).toBe(calls);
  await stop();
});
