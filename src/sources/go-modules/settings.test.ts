/** Settings and options are checked where they are given, with a sentence that says what is expected. */
import { describe, expect, it } from "vitest";
import { options, settings } from "./settings.ts";

const said = (parsed: { success: boolean; error?: { issues: { message: string }[] } | undefined }) =>
  parsed.error?.issues.map(({ message }) => message).join();

describe("settings", () => {
  it("have defaults: five minutes, a day, no forks, archived ones too", () => {
    expect(settings.parse({})).toEqual({ every: "5m", refresh: "1d", forks: false, archived: true });
  });

  it.each(["often", "0s", "10s", "-5m"])("refuse %s as a period", (every) => {
    expect(said(settings.safeParse({ every }))).toBe("must be a duration such as 5m, and 30s at least");
  });

  it("refuse what is neither true nor false", () => {
    expect(said(settings.safeParse({ forks: "yes" }))).toBe('must be "true" or "false"');
  });
});

it("options know how often, and nothing else", () => {
  expect(options.parse({ every: "1h" })).toEqual({ every: "1h" });
  expect(said(options.safeParse({ every: "1s" }))).toMatch(/30s at least/);
  expect(options.safeParse({ evry: "1h" }).success).toBe(false);
});
