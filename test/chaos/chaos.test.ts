/** Real processes on a real PostgreSQL, mistreated: nothing is lost, doubled, out of order or stale; the long form is `npm run soak`. */
import { expect, it } from "vitest";
import { BEAT_MS, inheritance } from "./inheritance.ts";
import { ordeal } from "./ordeal.ts";

it("survives killed and frozen workers, cut connections and a restarted PostgreSQL", { timeout: 240_000 }, async () => {
  const report = await ordeal({ seed: 1, rounds: 22, rest_seconds: 120 });
  expect(report.breaches).toEqual([]);
  expect(report.said).toEqual([]);
  expect(report.kills).toBeGreaterThan(1);
  expect(Object.keys(report.done).sort()).toEqual(["cut", "freeze", "grow", "kill", "restart", "stop"]);
});

it("what a killed worker held is claimed again within a second of its lease's end", { timeout: 240_000 }, async () => {
  const { inherited, lost, kills, said } = await inheritance(3);
  const worst = (of: (i: (typeof inherited)[number]) => number) => Math.round(Math.max(...inherited.map(of)));
  const beats = worst((i) => i.beats);
  console.log(
    `${inherited.length} leases of ${kills} killed workers were claimed again at most ${worst((i) => i.late_ms)} ms (${beats} heartbeats of ${BEAT_MS} ms)`,
    `after their end, and ${worst((i) => i.since_death_ms)} ms after the death`,
  );
  expect(said).toEqual([]);
  expect(lost).toBe(0);
  expect(inherited.length).toBeGreaterThanOrEqual(15);
  // Never before: that would be two holders at once.
  expect(inherited.filter((i) => i.late_ms < 0)).toEqual([]);
  // A second, as long as it is on this machine: where it is stalled, its heart beats as slowly as its workers work.
  expect(beats).toBeLessThanOrEqual(1_000 / BEAT_MS);
});
