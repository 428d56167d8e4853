/** What people type, and when each repository has its moment. */
import { readGitHubName } from "tidemark";
import { describe, expect, it } from "vitest";
import { periodNo } from "./names.ts";
import { goModules } from "./source.ts";

describe("what is followed", () => {
  it.each([
    ["github.com/acme", { host: "github.com", owner: "acme" }],
    ["https://GitHub.com/Acme/", { host: "github.com", owner: "acme" }],
    ["ghe.corp.example/acme/X.git", { host: "ghe.corp.example", owner: "acme", name: "x" }],
    ["github.com/acme/a.b-c_d", { host: "github.com", owner: "acme", name: "a.b-c_d" }],
  ])("%s is read", (text, name) => {
    expect(readGitHubName(text)).toEqual(name);
  });

  it.each([
    "",
    "acme",
    "acme/x",
    "github.com",
    "github.com/",
    "github.com/a/b/c",
    "github.com/../x",
    "github.com/acme/..",
    "git@github.com:acme/x",
    "github.com/a b",
    "github.com:80/acme",
  ])("%s is told with a sentence to be neither an owner nor a repository", (text) => {
    expect(goModules().follow(text)).toBe(
      `"${text}" is neither an owner such as github.com/acme nor a repository such as github.com/acme/x.`,
    );
  });
});

describe("a repository's period", () => {
  it("changes once in each, at a moment of its own", () => {
    const hours = Array.from({ length: 24 }, (_, h) => h);
    const moments = Array.from({ length: 200 }, (_, n) => {
      const nos = hours.map((h) => periodNo(`R_kgDO${n}`, h * 3_600_000, 86_400_000));
      const changes = hours.filter((h) => h > 0 && nos[h] !== nos[h - 1]);
      expect(changes.length).toBeLessThanOrEqual(1);
      return changes[0] ?? 0;
    });
    for (const hour of hours) expect(moments.filter((m) => m === hour).length).toBeLessThan(25);
    expect(new Set(moments).size).toBeGreaterThan(20);
  });
});
