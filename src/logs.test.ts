/** Tests of the log lines: what is written, how loud, and what is kept out. */
import { expect, it } from "vitest";
import { TidemarkError } from "./errors.ts";
import { Events } from "./events.ts";
import { createLog, type LogOptions, logEvents } from "./logs.ts";

interface Line extends Record<string, unknown> {
  level: string;
  msg: string;
}

function listening(options: Partial<LogOptions> = {}) {
  const written: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => void written.push(line) }, ...options });
  return { log, written, lines: () => written.map((line) => JSON.parse(line) as Line) };
}

const pull = {
  source: "nuget",
  kind: "feed",
  key: "f",
  resource_id: 2n ** 60n,
  ms: 4,
  rows: 0,
  changed: false,
} as const;

it("writes one JSON line for each event, with the sentence, the level and the fields", () => {
  const { log, lines } = listening();
  const events = new Events();
  logEvents(events, log);
  events.emit("pull_ended", { ...pull, outcome: "failed", reason: "no answer", error_code: "UpstreamDown" });
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toMatchObject({
    level: "warn",
    event: "pull_ended",
    msg: "pull of nuget feed f failed after 4ms: no answer",
    resource_id: "1152921504606846976",
    error_code: "UpstreamDown",
  });
  expect(lines()[0]!.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

it("writes nothing below its level", () => {
  const { log, written } = listening({ level: "info" });
  const events = new Events();
  logEvents(events, log);
  events.emit("claim", { count: 3, ms: 1 });
  log.debug("not this");
  expect(written).toEqual([]);
  expect(log.writes("debug")).toBe(false);
});

it("stops when it is told to", () => {
  const { log, written } = listening();
  const events = new Events();
  logEvents(events, log)();
  events.emit("claim", { count: 3, ms: 1 });
  expect(written).toEqual([]);
});

it("takes every secret out of sentences, fields and errors, however deep", () => {
  const { log, written } = listening({ secrets: ["sesame-1", "sesame-1-longer"] });
  const cause = new Error("refused sesame-1");
  log.error("called with sesame-1-longer", {
    list: [{ header: "Bearer sesame-1" }],
    error: new TidemarkError("UpstreamForbids", "sesame-1 is refused", { cause, details: { token: "sesame-1" } }),
  });
  expect(written.join("")).not.toContain("sesame");
  expect(written.join("")).not.toContain("longer");
  expect(written.join("")).toContain("Bearer ****");
});

it("takes a short secret out only where it is the whole text", () => {
  const { log, lines } = listening({ secrets: ["a"] });
  log.info("a fair day", { token: "a" });
  expect(lines()[0]).toMatchObject({ msg: "a fair day", token: "****" });
});

it("shows the stack of an error that nobody foresaw once, and of a foreseen one never", () => {
  const { log, lines } = listening();
  const unforeseen = new TypeError("x is not a function");
  for (const _ of [1, 2]) log.warn("it broke", { error: unforeseen });
  log.warn("it waits", { error: new TidemarkError("UpstreamDown", "no answer") });
  const stacks = lines().map((line) => (line.error as { stack?: string }).stack !== undefined);
  expect(stacks).toEqual([true, false, false]);
  expect(lines()[2]!.error).toMatchObject({ code: "UpstreamDown", message: "no answer" });
});

it("writes lines for people where that is asked for, at once", () => {
  const { log, written } = listening({ pretty: true });
  log.info("worker w1 started", { worker: "w1" });
  expect(written.join("")).toMatch(/INFO.*worker w1 started\n$/);
  expect(written.join("")).not.toContain("{");
});

it("survives fields that JSON does not know", () => {
  const { log, lines } = listening();
  const round: Record<string, unknown> = { at: new Date(0), big: 5n, call: () => 1 };
  round.self = round;
  log.info("odd fields", round);
  expect(lines()[0]).toMatchObject({ at: "1970-01-01T00:00:00.000Z", big: "5" });
});
