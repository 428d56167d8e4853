/** Checks which lane a resource belongs to, by its kind, its key, its options and its cursor. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Kind, kind, type Source } from "../contract.ts";
import { type LaneRow, Lanes } from "./lanes.ts";
import { every } from "./schedule.ts";

const plain: Kind = kind({ upstream: { name: "u" }, schedule: every("1h"), cursor: z.null().default(null) });
const two: Kind = kind({
  upstream: (key: string, options: Record<string, unknown>) => ({ name: `${options.host ?? "github.com"}/${key[0]}` }),
  schedule: every("1h"),
  cursor: z.object({ done: z.boolean() }).default({ done: false }),
  lane: (cursor) =>
    cursor.done ? { name: "syncing" } : { name: "beginning", slots: 2, fleet: 1, order: "first come" },
});
const joint: Kind = kind({
  upstream: { name: "u" },
  schedule: (options: Record<string, unknown>) => every(String(options.every ?? "50m")),
  cursor: z.null().default(null),
  together: { most: 50 },
});
const source: Source = { name: "s", kinds: { plain, two, joint }, follow: (key) => ({ kind: "plain", key }) };
const row = (name: string): LaneRow => ({
  lane_id: 1,
  source: "s",
  name,
  upstream: "u",
  urgency: "routine",
  first_come: false,
  slots: null,
  fleet: null,
  pair: "pair",
});

describe("the lane of a resource", () => {
  it("is named for its kind unless the kind says otherwise", () => {
    const lanes = new Lanes([source]);
    expect(lanes.spec("s", "plain", "a", {}, null)).toEqual({
      source: "s",
      lane: { name: "plain" },
      upstream: { name: "u" },
    });
  });

  it("changes with the cursor", () => {
    const lanes = new Lanes([source]);
    expect(lanes.spec("s", "two", "a", {}, { done: false }).lane).toMatchObject({ name: "beginning", fleet: 1 });
    expect(lanes.spec("s", "two", "a", {}, { done: true }).lane).toEqual({ name: "syncing" });
  });

  it("has the upstream that the key and the options name", () => {
    const lanes = new Lanes([source]);
    expect(lanes.spec("s", "two", "abc", {}, { done: true }).upstream.name).toBe("github.com/a");
    expect(lanes.spec("s", "two", "xyz", { host: "ghe" }, { done: true }).upstream.name).toBe("ghe/x");
    expect([...lanes.upstreams.keys()].sort()).toEqual(["ghe/x", "github.com/a"]);
  });

  it("has as many slots as it declares, and all of them unless it does", () => {
    const lanes = new Lanes([source]);
    expect(lanes.slots({ ...row("beginning"), slots: 2 }, 100)).toBe(2);
    expect(lanes.slots(row("plain"), 100)).toBe(100);
  });

  it("pulls forward by a fifth of the period where its kind is pulled together", () => {
    const lanes = new Lanes([source]);
    lanes.spec("s", "joint", "a", {}, null);
    lanes.spec("s", "plain", "a", {}, null);
    expect(lanes.ahead_ms(row("joint"))).toBe(10 * 60_000);
    expect(lanes.ahead_ms(row("plain"))).toBe(0);
  });

  it("is refused for a kind that is not there, with a sentence that names it", () => {
    expect(() => new Lanes([source]).kind("s", "pages")).toThrow('There is no kind "pages" in source "s" here.');
    expect(() => new Lanes([]).kind("s", "plain")).toThrow(/no kind/);
  });
});
