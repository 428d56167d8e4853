/** What was read by lane is put together by source. */
import { expect, it } from "vitest";
import { type ColdCount, mergeCold } from "./cold-counts.ts";
import { type LaneFacts, shapeOverview } from "./overview.ts";

const lane = (given: Partial<LaneFacts>): LaneFacts => ({
  lane_id: 1,
  source: "toy",
  name: "a",
  upstream: "u",
  urgency: "routine",
  first_come: false,
  fleet: null,
  due: 0,
  due_capped: false,
  leased: 0,
  oldest_due_at: null,
  ...given,
});

const count = { resources: 10, living: 8, fresh: 6, due: 5_000, messages: 4 };
const cold: ColdCount = { source: "toy", followed: 1, parked: 1, paused: 1, gone: 2, messages_parked: 0 };

it("adds lanes up, and leaves the gone out of the resources", () => {
  const { sources } = shapeOverview({
    sources: ["empty", "toy"],
    counts: [
      { lane_id: 1, ...count },
      { lane_id: 2, ...count },
    ],
    lanes: [lane({ due: 3, leased: 2 }), lane({ lane_id: 2, due: 4, oldest_due_at: "2030-01-01T00:00:00.000000Z" })],
    cold: [cold],
    rates: [{ source: "toy", kind: "k", per_minute: 20, ended_per_minute: 14 }],
  });
  expect(sources[0]).toMatchObject({ source: "empty", resources: 0, fresh_percent: null, eta_ms: null });
  expect(sources[1]).toMatchObject({
    resources: 18,
    fresh_percent: 75,
    due: 7,
    leased: 2,
    messages: 8,
    oldest_due_at: "2030-01-01T00:00:00.000000Z",
    pulls_per_minute: 20,
    eta_ms: 30_000,
  });
});

it("takes the scan's word for what is due only where the exact count stopped", () => {
  const read = { sources: ["toy"], counts: [{ lane_id: 1, ...count }], cold: [], rates: [] };
  expect(shapeOverview({ ...read, lanes: [lane({ due: 3 })] }).lanes[0]).toMatchObject({ due: 3 });
  expect(shapeOverview({ ...read, lanes: [lane({ due: 1_000, due_capped: true })] }).lanes[0]).toMatchObject({
    due: 5_000,
  });
});

it("takes the sample's word only for counts that reached the bound", () => {
  const exact = { ...cold, followed: 2_000, parked: 7 };
  const [merged] = mergeCold([exact], [{ ...cold, followed: 80_000.4, parked: 90 }]);
  expect(merged).toMatchObject({ followed: 80_000, parked: 7, gone: 2 });
});
