/** Tests of the emitter, and of what each event says. */
import { expect, it, vi } from "vitest";
import {
  type EventFields,
  type EventName,
  Events,
  eventKinds,
  eventLevel,
  eventNames,
  eventSentence,
} from "./events.ts";

const resource = { source: "go-modules", kind: "repository", key: "github.com/tide/mark" };

const samples: EventFields = {
  pull_ended: { ...resource, resource_id: 7n, outcome: "fresh", changed: true, ms: 1_250, rows: 3 },
  lease_lost: { ...resource, resource_id: 7n, lease_no: 12n },
  lease_expired: { count: 4 },
  parked: { ...resource, reason: "it keeps answering 500", failures: 8 },
  message_parked: { ...resource, message_id: 99n, reason: "it has no version", tries: 5 },
  store_lost: { reason: "connection refused" },
  store_back: { lost_ms: 61_000 },
  worker_started: { worker: "w1", slots: 64 },
  worker_stopping: { worker: "w1", leases: 3, grace_ms: 20_000 },
  worker_stopped: { worker: "w1", ms: 900 },
  handed_back: { count: 2 },
  claim: { count: 500, ms: 3 },
  commit: { pulls: 20, rows: 400, ms: 9 },
  upstream_call: { upstream: "api.github.com", status: 304, bytes: 0, ms: 80, cost: 1, wait_ms: 0, took: [] },
  upstream_closed: { upstream: "api.github.com", reason: "it asked us to wait", wait_ms: 60_000 },
  breaker_changed: {
    upstream: "api.github.com",
    from: "closed",
    to: "open",
    reason: "it answered HTTP 500",
    wait_ms: 60_000,
    error_code: "UpstreamDown",
  },
  credential_revoked: { host: "github.com", account: "ann" },
  migration_applied: { owner: "engine", number: 1, name: "resources", ms: 12 },
  followed: resource,
  unfollowed: resource,
  surprise: { sentence: "the sky fell", error_code: "Unexpected", stack: "" },
  config_warning: { sentence: "the server is open to everyone" },
};

it.each(eventNames)("gives %s a level and a sentence", (name: EventName) => {
  expect(["debug", "info", "warn", "error"]).toContain(eventLevel(name, samples[name]));
  expect(eventSentence(name, samples[name])).not.toMatch(/undefined|NaN|\[object/);
});

it.each(eventNames)("names in the sentence of %s whatever identifies it", (name: EventName) => {
  const fields = samples[name] as Record<string, unknown>;
  const sentence = eventSentence(name, samples[name]);
  for (const id of ["source", "kind", "key", "upstream", "worker", "lease_no", "message_id"]) {
    if (id in fields) expect(sentence).toContain(String(fields[id]));
  }
});

it("says how a pull ended and why", () => {
  const failed = { ...samples.pull_ended, outcome: "failed", changed: false, reason: "no answer in 30s" } as const;
  expect(eventSentence("pull_ended", failed)).toBe(
    "pull of go-modules repository github.com/tide/mark failed after 1s250ms: no answer in 30s",
  );
});

it("is quiet about an unchanged pull, and warns of a failed one", () => {
  const { pull_ended } = samples;
  expect(eventLevel("pull_ended", { ...pull_ended, changed: false })).toBe("debug");
  expect(eventLevel("pull_ended", { ...pull_ended, outcome: "later", changed: false })).toBe("debug");
  expect(eventLevel("pull_ended", { ...pull_ended, outcome: "failed" })).toBe("warn");
});

it("calls a person only where an upstream refuses us, not where it asks us to wait", () => {
  const { upstream_closed } = samples;
  expect(eventLevel("upstream_closed", { ...upstream_closed, error_code: "UpstreamForbids" })).toBe("error");
  expect(eventLevel("upstream_closed", { ...upstream_closed, error_code: "UpstreamBusy" })).toBe("info");
  expect(eventLevel("upstream_closed", upstream_closed)).toBe("warn");
});

it("tells the listeners of an event and those of every event, until they stop listening", () => {
  const events = new Events();
  const one = vi.fn();
  const any = vi.fn();
  const stop = [events.on("claim", one), events.onAny(any)];
  events.emit("claim", samples.claim);
  events.emit("handed_back", samples.handed_back);
  for (const end of stop) end();
  events.emit("claim", samples.claim);
  expect(one.mock.calls).toEqual([[samples.claim]]);
  expect(any.mock.calls).toEqual([
    ["claim", samples.claim],
    ["handed_back", samples.handed_back],
  ]);
});

it("goes on when a listener throws or rejects, and reports it", async () => {
  const report = vi.fn();
  const events = new Events(report);
  const after = vi.fn();
  events.on("claim", () => {
    throw new Error("broken");
  });
  events.on("claim", async () => {
    throw new Error("broken later");
  });
  events.on("claim", after);
  events.emit("claim", samples.claim);
  await Promise.resolve();
  expect(after).toHaveBeenCalledOnce();
  expect(report.mock.calls.map(([thrown, name]) => [(thrown as Error).message, name])).toEqual([
    ["broken", "claim"],
    ["broken later", "claim"],
  ]);
});

it("keeps one sample of each event in these tests", () => {
  expect(Object.keys(samples).sort()).toEqual(Object.keys(eventKinds).sort());
});
