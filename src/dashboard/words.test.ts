/** Tests of numbers and times as people read them. */
import { describe, expect, it } from "vitest";
import { counted, distance, figure, progress, readable, span } from "./words.ts";

describe("words", () => {
  const now = Date.parse("2026-11-16T05:00:00Z");

  it.each([
    ["2026-11-16T04:59:48.000000Z", "12 s ago"],
    ["2026-11-16T05:03:10.000000Z", "in 3 m"],
    ["2026-11-16T05:00:00.400000Z", "now"],
    ["2026-11-14T05:00:00.000000Z", "2 d ago"],
  ])("say how far %s is from now", (at, said) => {
    expect(distance(at, now)).toBe(said);
  });

  it("leave out what nobody reads", () => {
    expect(span(90_400)).toBe("1 m");
    expect(span(90_400, 2)).toBe("1 m 30 s");
    expect(span(12)).toBe("12 ms");
    expect(readable("closed until 2026-11-16T05:00:00.123456Z: busy")).toBe(
      "closed until 2026-11-16 05:00:00 UTC: busy",
    );
  });

  it("say that nothing is known where it is not", () => {
    expect(figure(null)).toBe("–");
    expect(progress(null, "10")).toBe(null);
    expect(progress("5", "10")).toBe(50);
    expect(progress("5", "0")).toBe(null);
  });

  it("put the noun in its number", () => {
    expect(counted(1, "worker")).toBe("1 worker");
    expect(counted(1200, "worker")).toBe("1,200 workers");
  });
});
