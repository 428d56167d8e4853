/** Status in words: what a person at three in the morning needs is there. */
import { expect, it } from "vitest";
import type { Overview } from "../engine/overview.ts";
import { outputTo, table } from "./output.ts";
import { overviewWords, type ResourceAnswer, resourceWords, span } from "./words.ts";

const silent = { write: () => {} };
const plain = outputTo({ out: silent, err: silent }, false);
const now = "2030-01-01T12:00:00.000000Z";

const source = {
  source: "toy",
  followed: 1,
  resources: 2,
  fresh: 1,
  fresh_percent: 50,
  due: 1,
  leased: 0,
  parked: 1,
  paused: 0,
  gone: 0,
  oldest_due_at: "2030-01-01T11:58:00.000000Z",
  messages: 0,
  messages_parked: 1,
  pulls_per_minute: 3.5,
  eta_ms: 90_000,
};
const upstream = { upstream: "api.example", closed_until: "2030-01-01T12:01:00.000000Z", closed_reason: "HTTP 429" };
const all: Overview & { database: string; version: string } = {
  now,
  estimated: false,
  sources: [source],
  lanes: [],
  upstreams: [upstream],
  workers: [],
  database: "postgres",
  version: "1",
};

it("points at what is parked, closed, and at a missing worker", () => {
  const text = overviewWords(plain, all).join("\n");
  expect(text).toContain("No worker is running");
  expect(text).toContain("api.example is closed; it opens in 1m: HTTP 429");
  expect(text).toContain("tidemark status toy --status parked");
  expect(text).toContain("tidemark messages toy");
  expect(text).toMatch(/toy .* 50 % .* 2m .* 1m/);
});

it("tells one without a source how to begin", () => {
  expect(overviewWords(plain, { ...all, sources: [] }).join("\n")).toContain("--source ./mine.js");
});

const resource: ResourceAnswer = {
  resource_id: "7",
  source: "toy",
  kind: "page",
  key: "a",
  status: "due",
  now,
  due_at: "2030-01-01T11:58:00.000000Z",
  fresh_at: "2030-01-01T10:00:00.000000Z",
  tried_at: null,
  changed_at: null,
  viewed_at: null,
  followed_at: "2030-01-01T09:00:00.000000Z",
  failures: 2,
  reason: "no answer",
  lane: "page",
  urgency: "asked",
  upstream: "api.example",
  options: null,
  cursor: null,
  description: null,
  progress_done: "40",
  progress_total: "100",
  next: { due_at: "2030-01-01T11:58:00.000000Z", why: "somebody asked for it" },
  line: { place: 3, eta_ms: 65_000 },
  mail: "1",
  mailbox: { waiting: [], parked: [{ seq: "4", tries: 5, error: { sentence: "it is poison" } }] },
  tidemark: { internal: "9", position: "5", skips: 1 },
  pulls: [{ started_at: now, ms: 1_200, outcome: "failed", changed: 0, reason: "no answer" }],
  children: 0,
  parents: [{ source: "toy", kind: "site", key: "s" }],
};

it("says what happens next and why, the place in line, and how to try a message again", () => {
  const text = resourceWords(plain, resource).join("\n");
  expect(text).toContain("next      2m ago, somebody asked for it");
  expect(text).toContain("in line   place 3 in lane page (asked)");
  expect(text).toContain("ETA       1m5s");
  expect(text).toContain("fresh     2h ago");
  expect(text).toContain("it is poison (tidemark messages retry 7 4)");
  expect(text).toContain("brought forth by site s");
  expect(text).toContain("tidemark  5 of 9 read, 1 skipped");
});

it("shows colours on a terminal only, and not where NO_COLOR is set", () => {
  const terminal = { write: () => {}, isTTY: true };
  const shown = (no_color: boolean) =>
    resourceWords(outputTo({ out: terminal, err: terminal }, no_color), resource).join("\n");
  expect(shown(false)).toContain("\u001b[");
  expect(shown(true)).not.toContain("\u001b[");
});

it("says when, on either side of now", () => {
  expect(span(now, "2030-01-01T12:05:30.000000Z")).toBe("in 5m30s");
  expect(span(now, "2030-01-01T10:00:00.000000Z")).toBe("2h ago");
  expect(span(now, null)).toBe("–");
});

it("puts numbers to the right and words to the left", () => {
  expect(
    table(
      ["name", "n"],
      [
        ["a", "5"],
        ["bb", "10"],
      ],
    ),
  ).toEqual(["name   n", "a      5", "bb    10"]);
});
