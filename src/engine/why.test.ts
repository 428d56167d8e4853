/** What happens next is said with its reason, and the reason that keeps a resource away comes first. */
import { expect, it } from "vitest";
import { type WhyFacts, whyNext } from "./why.ts";

const now = "2030-01-01T12:00:00.000000Z";
const later = "2030-01-01T13:00:00.000000Z";
const earlier = "2030-01-01T11:59:00.000000Z";

const calm: WhyFacts = {
  status: "waiting",
  now,
  due_at: later,
  not_before: "-infinity",
  tried_at: earlier,
  failures: 0,
  mail: 0n,
  worker_id: null,
  followed_at: earlier,
  paused_at: null,
  parked_at: null,
  gone_at: null,
  reason: null,
  error: null,
  urgency: "routine",
  upstream: "api.example",
  closed_until: null,
  closed_reason: null,
};

it("says the schedule's own words when nothing else decides", () => {
  expect(whyNext(calm, "every 1h")).toEqual({ due_at: later, because: "schedule", why: "every 1h" });
});

it("says who paused beats who parked beats an upstream that is closed", () => {
  const closed = { ...calm, closed_until: later, closed_reason: "HTTP 429" };
  expect(whyNext({ ...closed, due_at: now }, null)).toMatchObject({ due_at: later, because: "closed" });
  const parked: WhyFacts = { ...closed, status: "parked", parked_at: earlier, failures: 8, reason: "it is down" };
  expect(whyNext(parked, null)).toMatchObject({ due_at: later, because: "parked" });
  expect(whyNext(parked, null).why).toContain("after 8 failures: it is down");
  expect(whyNext({ ...parked, status: "paused", paused_at: earlier }, null)).toMatchObject({
    due_at: null,
    because: "paused",
  });
});

it("does not blame an upstream that opens before the resource is due", () => {
  const opens = { ...calm, closed_until: "2030-01-01T12:30:00.000000Z" };
  expect(whyNext(opens, "every 1h").because).toBe("schedule");
});

it("tells what was asked for from mail, from what is new, from what is overdue", () => {
  const due: WhyFacts = { ...calm, status: "due", due_at: earlier };
  expect(whyNext({ ...due, urgency: "asked" }, null).because).toBe("asked");
  expect(whyNext({ ...due, mail: 3n }, null).why).toBe("3 messages wait to be handled");
  expect(whyNext({ ...due, tried_at: null }, null).because).toBe("new");
  expect(whyNext(due, null).why).toBe("due for 1m");
});

it("counts the retry and names the error", () => {
  const failed = { ...calm, failures: 2, error: { code: "UpstreamDown" }, reason: "no answer" };
  expect(whyNext(failed, "every 1h")).toEqual({
    due_at: later,
    because: "retry",
    why: "retry 2 after UpstreamDown: no answer",
  });
});

it("says that a floor holds, with the reason of the wait", () => {
  const waits = { ...calm, not_before: later, reason: "asked us to wait" };
  expect(whyNext(waits, "every 1h")).toMatchObject({ because: "floor", why: `not before ${later}: asked us to wait` });
});

it("promises a purge only for what nobody follows", () => {
  const gone: WhyFacts = { ...calm, status: "gone", gone_at: earlier, reason: "deleted upstream" };
  expect(whyNext(gone, null)).toMatchObject({ due_at: later });
  expect(whyNext({ ...gone, followed_at: null }, null)).toMatchObject({ due_at: null, because: "gone" });
});
