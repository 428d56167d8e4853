/** Real processes on a real PostgreSQL, mistreated: nothing is lost, doubled, out of order or stale; the long form is `npm run soak`. */
import { expect, it } from "vitest";
import { ordeal } from "./ordeal.ts";

it("survives killed and frozen workers, cut connections and a restarted PostgreSQL", { timeout: 240_000 }, async () => {
  const report = await ordeal({ seed: 1, rounds: 22, rest_seconds: 120 });
  expect(report.breaches).toEqual([]);
  expect(report.said).toEqual([]);
  expect(report.kills).toBeGreaterThan(1);
  expect(Object.keys(report.done).sort()).toEqual(["cut", "freeze", "grow", "kill", "restart", "stop"]);
});
