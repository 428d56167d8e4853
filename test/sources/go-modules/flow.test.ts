/** From following an owner to versions in the feed, and what a change costs after that. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Resource } from "../../../src/index.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase } from "../../postgres.ts";
import { GoRig, gomod } from "./rig.ts";

let rig: GoRig;
beforeAll(async () => {
  rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", steps: migrations.steps }] })).db);
});
afterEach(() => rig.end());

describe("an owner with two repositories and three tags", () => {
  beforeEach(async () => {
    const hub = await rig.reset();
    hub.repository("acme/x");
    hub.repository("acme/y");
    hub.push("acme/x", "v1.0.0", { files: gomod("github.com/acme/x") });
    hub.push("acme/x", "v1.1.0", { files: gomod("github.com/acme/x") });
    hub.push("acme/y", "v0.1.0", { files: gomod("github.com/acme/y") });
    await rig.follow("github.com/acme");
    rig.start();
    await rig.calm();
  });

  it("is in the feed after one listing, one look at tags and one at go.mod files", async () => {
    expect(await rig.names()).toEqual([
      "github.com/acme/x@v1.0.0",
      "github.com/acme/x@v1.1.0",
      "github.com/acme/y@v0.1.0",
    ]);
    expect(rig.hub.calls.map((c) => c.points)).toEqual([1, 1, 1]);
  });

  it("costs one point for a sweep that finds nothing", async () => {
    const before = rig.hub.points;
    await rig.sweep();
    expect(rig.hub.points - before).toBeLessThanOrEqual(2);
  });

  it("shows a new tag with the next sweep, and nothing else moves", async () => {
    const before = await rig.feed();
    rig.hub.push("acme/y", "v0.2.0", { files: gomod("github.com/acme/y") });
    await rig.sweep();
    const after = await rig.feed();
    expect(after.filter((v) => v.version !== "v0.2.0")).toEqual(before);
    expect(await rig.newest()).toBe("github.com/acme/y@v0.2.0");
  });
});

it("an owner can be swept more rarely than others", async () => {
  const hub = await rig.reset();
  hub.repository("acme/x");
  await rig.followEvery("github.com/acme", "30m");
  rig.start();
  await rig.calm();
  const before = hub.calls.length;
  await rig.clock.advance(1_500_000);
  const sweeps = hub.calls.slice(before).filter(({ query }) => query.includes("repositoryOwner"));
  expect(sweeps.length).toBeLessThanOrEqual(1);
  await expect(rig.followEvery("github.com/acme", "1s")).rejects.toThrow(/30s at least/);
});

it("a repository that is followed by its name and listed by its owner is one, and outlives either", async () => {
  const hub = await rig.reset();
  hub.repository("acme/x");
  hub.push("acme/x", "v1.0.0", { files: gomod("github.com/acme/x") });
  await rig.follow("github.com/acme", "github.com/acme/x");
  rig.start();
  await rig.calm();
  expect(await rig.count("repository")).toBe(1);
  await rig.unfollow("owner", "github.com/acme");
  await rig.keepHouse();
  expect(await rig.names()).toEqual(["github.com/acme/x@v1.0.0"]);
  hub.push("acme/x", "v1.1.0", { files: gomod("github.com/acme/x") });
  await rig.sweep();
  expect(await rig.newest()).toBe("github.com/acme/x@v1.1.0");
});

it("the description of a repository is its name, not its id", async () => {
  const hub = await rig.reset();
  hub.repository("Acme/X");
  await rig.follow("github.com/acme");
  rig.start();
  await rig.calm();
  const { rows } = await rig.db.query<Resource>(
    sql`select resource_id, source, kind, key, options from tidemark.resource where kind = 'repository'`,
  );
  expect(rig.source.describe?.(rows[0]!)).toBe("github.com/Acme/X");
});
