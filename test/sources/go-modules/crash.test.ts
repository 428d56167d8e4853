/** What is left when a worker dies: nothing is read twice and nothing is published twice; A20 and A22 of the pitfalls. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { GitHub } from "../../../src/demo/github/hub.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase } from "../../postgres.ts";
import { GoRig, gomod } from "./rig.ts";

let rig: GoRig;
let hub: GitHub;
beforeAll(async () => {
  rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", steps: migrations.steps }] })).db);
});
beforeEach(async () => {
  hub = await rig.reset();
  hub.repository("acme/x");
  for (let n = 0; n < 120; n += 1) hub.push("acme/x", `v1.${n}.0`, { files: gomod("github.com/acme/x") });
  hub.repository("acme/y");
  hub.push("acme/y", "v1.0.0", { files: gomod("github.com/acme/y") });
  await rig.follow("github.com/acme");
});
afterEach(() => rig.end());

const expected = [...Array.from({ length: 120 }, (_, n) => `github.com/acme/x@v1.${n}.0`), "github.com/acme/y@v1.0.0"];
const twice = (all: string[]): string[] => all.filter((one, i) => all.indexOf(one) !== i);

/** All that can happen has happened by then, many times over. */
const ENOUGH_MS = 600_000;

/** Runs a worker that dies after its commit number n, then another to the end; false when it never came so far. */
async function killedAfter(n: number): Promise<boolean> {
  let commits = 0;
  const life = rig.start({}, (statement) => statement === null && ++commits === n);
  await rig.clock.until(async () => life.dead || rig.isCalm(), ENOUGH_MS);
  if (!life.dead) return false;
  await life.kill();
  rig.start();
  await rig.calm(ENOUGH_MS);
  return true;
}

describe("A20: after a restart in the middle of everything", () => {
  it.each([2, 3, 4, 5, 6])("no go.mod that is known is read again (killed after commit %i)", async (n) => {
    expect(await killedAfter(n)).toBe(true);
    const files = rig.filesAsked();
    expect(new Set(files).size).toBe(121);
    // What the dead one had asked for and not yet written down is asked for once more: at most one call of fifty.
    expect(twice(files).length).toBeLessThanOrEqual(50);
    expect(await rig.count("gomod")).toBe(121);
  });

  it("with ceremony nothing at all is asked for twice", async () => {
    rig.start();
    await rig.calm();
    await rig.stop();
    const before = hub.calls.length;
    rig.start();
    await rig.sweep();
    expect(twice(rig.filesAsked())).toEqual([]);
    expect(hub.calls.slice(before).every(({ query }) => query.includes("repositoryOwner"))).toBe(true);
  });
});

describe("A22: killed between reading and publishing", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    "every version is published exactly once (killed after commit %i)",
    async (n) => {
      await killedAfter(n);
      const feed = await rig.feed();
      const names = feed.map((v) => `${v.path}@${v.version}`);
      expect(twice(names), "published twice").toEqual([]);
      expect(
        expected.filter((name) => !names.includes(name)),
        "never published",
      ).toEqual([]);
      expect(names).toHaveLength(121);
      expect(new Set(feed.map((v) => v.published_at)).size).toBe(121);
    },
  );
});

it("two workers at the same owner read nothing twice and publish nothing twice", async () => {
  for (let n = 0; n < 40; n += 1) {
    hub.repository(`acme/r${n}`);
    hub.push(`acme/r${n}`, "v1.0.0", { files: gomod(`github.com/acme/r${n}`) });
  }
  rig.start();
  rig.start();
  await rig.calm();
  expect(await rig.names()).toHaveLength(161);
  expect(twice(rig.filesAsked())).toEqual([]);
});
