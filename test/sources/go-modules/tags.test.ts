/** What happens to tags: annotated, moved, deleted, very many, oddly named; A12, A13, A14, A17 of the pitfalls. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { GitHub } from "../../../src/demo/github/hub.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase } from "../../postgres.ts";
import { GoRig, gomod } from "./rig.ts";

const x = "github.com/acme/x";
let rig: GoRig;
let hub: GitHub;
beforeAll(async () => {
  rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", steps: migrations.steps }] })).db);
});
beforeEach(async () => {
  hub = await rig.reset();
  hub.repository("acme/x");
});
afterEach(() => rig.end());

/** Follows the owner and lets everything settle. */
async function index(): Promise<void> {
  await rig.follow("github.com/acme");
  rig.start();
  await rig.calm();
}

it("A12: a tag is peeled to its commit, be it lightweight, annotated or annotated twice over", async () => {
  const commits = [0, 1, 2].map((annotated) => hub.push("acme/x", `v1.${annotated}.0`, { annotated, files: gomod(x) }));
  await index();
  expect((await rig.feed()).map((v) => v.commit_oid)).toEqual(commits);
});

describe("A13: a moved tag", () => {
  beforeEach(async () => {
    hub.push("acme/x", "v1.0.0", { files: gomod(x) });
    hub.push("acme/x", "v1.1.0", { files: gomod(x) });
    await index();
  });

  it("is drift: its version keeps its stamp and its first commit, and is not published again", async () => {
    const before = await rig.feed();
    const oid = hub.push("acme/x", "v1.0.0", { commit: "another", files: gomod(x) });
    await rig.sweep();
    expect(await rig.feed()).toEqual([{ ...before[0]!, moved_oid: oid }, before[1]]);
  });

  it("to a commit that declares another module is drift of the old version, and a version of the new one", async () => {
    const oid = hub.push("acme/x", "v1.0.0", { commit: "another", files: gomod("go.example/x") });
    await rig.sweep();
    expect((await rig.feed()).map((v) => [`${v.path}@${v.version}`, v.moved_oid])).toEqual([
      [`${x}@v1.0.0`, oid],
      [`${x}@v1.1.0`, null],
      ["go.example/x@v1.0.0", null],
    ]);
  });
});

describe("A14: a deleted tag", () => {
  beforeEach(async () => {
    for (const n of [0, 1, 2]) hub.push("acme/x", `v1.${n}.0`, { files: gomod(x) });
    await index();
  });

  it("is no longer available, and neither it nor any other changes its place", async () => {
    const before = await rig.feed();
    hub.untag("acme/x", "v1.1.0");
    await rig.sweep();
    expect(await rig.names()).toEqual([`${x}@v1.0.0`, `${x}@v1.2.0`]);
    expect((await rig.feed()).map((v) => v.published_at)).toEqual(before.map((v) => v.published_at));
  });

  it("that comes back is available again under its old stamp; at another commit, that is drift, too", async () => {
    const before = await rig.feed();
    hub.untag("acme/x", "v1.1.0");
    await rig.sweep();
    const oid = hub.push("acme/x", "v1.1.0", { commit: "another", files: gomod(x) });
    await rig.sweep();
    expect(await rig.feed(true)).toEqual([before[0], { ...before[1]!, moved_oid: oid }, before[2]]);
  });

  it("among tags of several pages is found by one more listing, and no name is kept after that", async () => {
    for (let n = 0; n < 250; n += 1) hub.push("acme/x", `build-${n}`, { commit: "one" });
    await rig.sweep();
    hub.untag("acme/x", "v1.1.0");
    hub.untag("acme/x", "build-7");
    await rig.sweep();
    expect(await rig.names()).toEqual([`${x}@v1.0.0`, `${x}@v1.2.0`]);
    expect([await rig.count("tag"), await rig.count("seen")]).toEqual([251, 0]);
  });
});

describe("A17: very many tags and odd names", () => {
  it("20,000 tags of one repository are mirrored, and its versions published", { timeout: 120_000 }, async () => {
    for (let n = 0; n < 20_000; n += 1) hub.push("acme/x", `nightly-${n}`, { commit: "one" });
    hub.push("acme/x", "v1.0.0", { files: gomod(x) });
    await index();
    expect(await rig.count("tag")).toBe(20_001);
    expect(await rig.names()).toEqual([`${x}@v1.0.0`]);
  });

  it("more versions than fit into one statement's parameters are published, each once", {
    timeout: 120_000,
  }, async () => {
    for (let n = 0; n < 17_000; n += 1) hub.push("acme/x", `v1.${n}.0`, { commit: "one", files: gomod(x) });
    await index();
    const feed = await rig.feed();
    expect(new Set(feed.map((v) => v.version)).size).toBe(17_000);
    expect(new Set(feed.map((v) => v.published_at)).size).toBe(17_000);
  });

  it("long, foreign and nested names are kept as they are", async () => {
    const names = [`very-${"long-".repeat(60)}v1.0.0`, "ветка/v1.0.0", "a/b/c/v1.0.0", "héllo 🐹", "v1.0.0"];
    for (const name of names) hub.push("acme/x", name, { commit: "one", files: gomod(x) });
    await index();
    expect(await rig.count("tag")).toBe(names.length);
    expect(await rig.names()).toEqual([`${x}@v1.0.0`]);
  });
});

it("a tag on an old commit is found though it is not among the newest", async () => {
  for (let n = 0; n < 30; n += 1) hub.push("acme/x", `v1.${n}.0`, { files: gomod(x) });
  await index();
  hub.push("acme/x", "v0.9.0", { files: gomod(x), date_ms: Date.UTC(2015, 0) });
  await rig.sweep();
  expect(await rig.newest()).toBe(`${x}@v0.9.0`);
});

it("tags of one date in an order that changes with each call are not taken for news", async () => {
  for (let n = 0; n < 30; n += 1) hub.push("acme/x", `v1.${n}.0`, { files: gomod(x), date_ms: Date.UTC(2020, 0) });
  await index();
  const before = hub.calls.length;
  for (let n = 0; n < 5; n += 1) await rig.sweep(300_000);
  expect(hub.calls.slice(before).every(({ query }) => query.includes("repositoryOwner"))).toBe(true);
});
