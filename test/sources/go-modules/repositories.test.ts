/** What happens to repositories: renamed, gone, forked, empty, very many, hidden; A11, A14, A15, A16, A17 of the pitfalls. */
import sql from "sql-template-tag";
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
});
afterEach(() => rig.end());

/** A repository with one version. */
function make(fullName: string, path = `github.com/${fullName}`, version = "v1.0.0"): string {
  const { id } = hub.repository(fullName);
  hub.push(fullName, version, { files: gomod(path) });
  return id;
}

async function index(...texts: string[]): Promise<void> {
  await rig.follow(...texts);
  rig.start();
  await rig.calm();
}

const conflicts = async () =>
  (
    await rig.db.query<{ path: string; loser: string; holder: string | null }>(sql`
      select c.path, r.name as loser, h.name as holder from go_modules.conflict c
        join go_modules.repository r on r.resource_id = c.resource_id
        left join go_modules.repository h on h.resource_id = c.held_by order by 1, 2`)
  ).rows;

describe("A11: of two repositories that declare one path", () => {
  it("one has it, and the other's versions are a conflict that is recorded and not published", async () => {
    make("acme/x", "go.example/x", "v1.0.0");
    make("acme/y", "go.example/x", "v1.1.0");
    await index("github.com/acme");
    expect(await rig.names()).toHaveLength(1);
    expect(await conflicts()).toHaveLength(1);
  });

  it("the one that the path names has it, even if the other came first", async () => {
    make("acme/copy", x, "v1.0.0");
    await index("github.com/acme");
    make("acme/x", x, "v1.1.0");
    await rig.sweep();
    // At once, though nothing happened in the one that lost it.
    expect(await conflicts()).toEqual([{ path: x, loser: "acme/copy", holder: "acme/x" }]);
    hub.push("acme/copy", "v1.2.0", { files: gomod(x) });
    hub.push("acme/x", "v1.3.0", { files: gomod(x) });
    await rig.sweep();
    expect(await rig.names()).toEqual([`${x}@v1.0.0`, `${x}@v1.1.0`, `${x}@v1.3.0`]);
    expect(await conflicts()).toEqual([{ path: x, loser: "acme/copy", holder: "acme/x" }]);
  });

  it("a fork never has the path that it was forked from, even if nobody else does", async () => {
    make("else/x", x);
    hub.set("else/x", { isFork: true });
    await index("github.com/else/x");
    expect(await rig.names()).toEqual([]);
    expect(await conflicts()).toEqual([{ path: x, loser: "else/x", holder: null }]);
  });
});

describe("A14: a repository that is gone", () => {
  it("is no longer available, and stands in the feed where it stood", async () => {
    make("acme/x");
    make("acme/y");
    await index("github.com/acme");
    const before = await rig.feed();
    hub.delete("acme/x");
    await rig.sweep();
    await rig.keepHouse();
    expect(await rig.names()).toEqual(["github.com/acme/y@v1.0.0"]);
    expect((await rig.feed()).map((v) => v.published_at)).toEqual(before.map((v) => v.published_at));
  });

  it("and was followed by its name says so, and its versions are no longer available", async () => {
    make("acme/x");
    await index(x);
    hub.delete("acme/x");
    await rig.sweep();
    expect(await rig.names()).toEqual([]);
    expect((await rig.status())[`named ${x}`]).toMatchObject({ status: "gone" });
  });

  it("or turned private, and is back, is available again under its old stamps", async () => {
    make("acme/x");
    await index("github.com/acme");
    const before = await rig.feed();
    hub.set("acme/x", { isPrivate: true });
    await rig.sweep();
    await rig.keepHouse();
    expect(await rig.names()).toEqual([]);
    hub.set("acme/x", { isPrivate: false });
    await rig.sweep();
    expect(await rig.feed(true)).toEqual(before);
  });

  it("because nobody follows its owner any more leaves its versions in the feed, not available", async () => {
    make("acme/x");
    await index("github.com/acme");
    await rig.unfollow("owner", "github.com/acme");
    await rig.keepHouse();
    expect([await rig.names(true), await rig.names(false)]).toEqual([[], [`${x}@v1.0.0`]]);
    expect([await rig.count("repository"), await rig.count("tag"), await rig.count("module")]).toEqual([0, 0, 0]);
  });
});

describe("A15: a repository that is renamed or transferred", () => {
  beforeEach(async () => {
    make("acme/x");
    hub.push("acme/x", "v2.0.0", { files: {} });
    hub.repository("acme/bare");
    hub.push("acme/bare", "v1.0.0", { files: {} });
    await index("github.com/acme", "github.com/other");
  });

  it("is the same one by its id: nothing of it is published under another path, and no file is read again", async () => {
    const before = await rig.feed();
    const files = rig.filesAsked().length;
    hub.move("acme/x", "acme/renamed");
    hub.move("acme/bare", "acme/barer");
    await rig.sweep();
    expect(await rig.feed()).toEqual(before);
    expect(rig.filesAsked()).toHaveLength(files);
    const { rows } = await rig.db.query(sql`select name from go_modules.repository order by name`);
    expect(rows).toEqual([{ name: "acme/barer" }, { name: "acme/renamed" }]);
  });

  it("publishes what it declares after that", async () => {
    hub.move("acme/x", "acme/renamed");
    hub.push("acme/renamed", "v1.1.0", { files: gomod("github.com/acme/renamed") });
    await rig.sweep();
    expect(await rig.newest()).toBe("github.com/acme/renamed@v1.1.0");
  });

  it("stays when it goes to another owner that is followed, too", async () => {
    hub.owner("other");
    const before = await rig.feed();
    hub.move("acme/x", "other/x");
    for (let n = 0; n < 3; n += 1) await rig.sweep();
    expect(await rig.feed()).toEqual(before);
  });

  it("is still found by whoever follows its old name", async () => {
    await rig.follow("github.com/acme/x");
    await rig.calm();
    hub.move("acme/x", "acme/renamed");
    hub.push("acme/renamed", "v1.1.0", { files: gomod(x) });
    await rig.sweep();
    expect(await rig.newest()).toBe(`${x}@v1.1.0`);
  });
});

describe("A16: repositories with nothing to show", () => {
  it("one without tags is looked at once, and then only swept", async () => {
    hub.repository("acme/none");
    await index("github.com/acme");
    const before = hub.calls.length;
    for (let n = 0; n < 6; n += 1) await rig.sweep(300_000);
    const calls = hub.calls.slice(before);
    expect(calls.length).toBeLessThanOrEqual(7);
    expect(calls.every(({ query }) => query.includes("repositoryOwner"))).toBe(true);
  });

  it("forks do not count unless they are wanted, archived ones do unless they are not", async () => {
    make("acme/fork");
    make("acme/old");
    hub.set("acme/fork", { isFork: true });
    hub.set("acme/old", { isArchived: true });
    await index("github.com/acme");
    expect(await rig.names()).toEqual(["github.com/acme/old@v1.0.0"]);
    rig.source.configure!(rig.source.settings!.parse({ forks: "true", archived: "false" }), {
      github_url: rig.upstream.url,
    });
    await rig.sweep();
    await rig.keepHouse();
    expect(await rig.names()).toEqual(["github.com/acme/fork@v1.0.0"]);
  });

  it("a disabled one keeps what it had, whatever it shows meanwhile", async () => {
    make("acme/x");
    await index("github.com/acme");
    const before = await rig.feed();
    hub.set("acme/x", { isDisabled: true });
    hub.untag("acme/x", "v1.0.0");
    for (let n = 0; n < 3; n += 1) await rig.sweep();
    expect(await rig.feed()).toEqual(before);
    hub.push("acme/x", "v1.0.0", { files: gomod(x) });
    hub.push("acme/x", "v1.1.0", { files: gomod(x) });
    hub.set("acme/x", { isDisabled: false });
    await rig.sweep();
    expect(await rig.names()).toEqual([`${x}@v1.0.0`, `${x}@v1.1.0`]);
  });

  it("one that has no Go in it has no versions", async () => {
    hub.repository("acme/site").languages = ["HTML"];
    hub.push("acme/site", "v1.0.0", { files: { "index.html": "" } });
    await index("github.com/acme");
    expect(await rig.names()).toEqual([]);
  });
});

it("A17: 1,250 repositories are all found, and swept for one point per hundred", { timeout: 120_000 }, async () => {
  for (let n = 0; n < 1_250; n += 1) hub.repository(`acme/r${n}`);
  make("acme/last");
  await index("github.com/acme");
  expect(await rig.count("repository")).toBe(1_251);
  expect(await rig.names()).toEqual(["github.com/acme/last@v1.0.0"]);
  await rig.sweep();
  const before = hub.points;
  await rig.clock.advance(300_000);
  await rig.calm();
  expect(hub.points - before).toBeLessThanOrEqual(26);
});

it("every repository is listed whole once in its period, each at a time of its own", async () => {
  await rig.end();
  hub = await rig.reset({ settings: { refresh: "1h" } });
  for (let n = 0; n < 8; n += 1) make(`acme/r${n}`);
  await index("github.com/acme");
  const before = hub.calls.length;
  await rig.clock.advance(66 * 60_000);
  await rig.calm();
  const listed = hub.calls
    .slice(before)
    .filter(({ query }) => query.includes("ALPHABETICAL"))
    .flatMap(({ at_ms, variables }) =>
      Object.entries(variables).flatMap(([name, id]) => (/^i/.test(name) ? [{ id, at_ms }] : [])),
    );
  expect(new Set(listed.map(({ id }) => id)).size).toBe(8);
  expect(listed.length).toBeLessThanOrEqual(10);
  expect(new Set(listed.map(({ at_ms }) => at_ms)).size).toBeGreaterThan(3);
});
