/** Settings and options are understood as people and the command line write them, and refused with a sentence. */
import { describe, expect, it } from "vitest";
import { mannersOf, options, settings } from "./settings.ts";

const standard = settings.parse({});

describe("the options of a host", () => {
  it("are taken as text, as numbers and as booleans", () => {
    expect(options.parse({ own: true, at_once: 4, delay: "0s" })).toMatchObject({ own: "true", at_once: "4" });
    expect(options.parse({})).toEqual({});
  });

  it.each([
    [{ at_once: 4 }, "own=true"],
    [{ own: "maybe" }, "must be"],
    [{ own: true, at_once: 100 }, "from 1 to 64"],
    [{ delay: "soon" }, "a duration from 0s to 10m"],
    [{ nonsense: 1 }, "nonsense"],
  ])("%j is refused", (given, sentence) => {
    expect(() => options.parse(given)).toThrow(sentence);
  });

  it("never make a host of others be called faster than the setting says", () => {
    expect(mannersOf(standard, { delay: "0s" })).toMatchObject({ delay_ms: 1_000, at_once: 1 });
    expect(mannersOf(standard, { delay: "5s" })).toMatchObject({ delay_ms: 5_000 });
    expect(mannersOf(standard, { own: "true", at_once: "8", delay: "0s" })).toMatchObject({ delay_ms: 0, at_once: 8 });
  });
});

describe("the settings", () => {
  it("say where hosts are reached", () => {
    const { reached_at } = settings.parse({ reached_at: "docs.corp.example=http://10.0.0.5:8080, *=http://127.0.0.1" });
    expect(reached_at?.get("docs.corp.example")).toBe("http://10.0.0.5:8080");
    expect(() => settings.parse({ reached_at: "nonsense" })).toThrow("host=origin");
  });

  it("bound every duration and number", () => {
    for (const given of [
      { delay: "1h" },
      { robots_every: "2d" },
      { pages: "0" },
      { bytes_max: "1" },
      { bodies: "elsewhere" },
      { apart_by: "x" },
    ])
      expect(() => settings.parse(given), JSON.stringify(given)).toThrow("must be");
  });
});
