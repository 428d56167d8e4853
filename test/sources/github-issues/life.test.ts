/** What becomes of issues and repositories: deleted, transferred, relabelled, renamed, private (B6, B14, B24), and who waits for whom. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { all_migrations, IssueRig } from "./rig.ts";

let rig: IssueRig;
beforeAll(async () => {
  rig = new IssueRig((await testDatabase({ migrations: all_migrations() })).db);
});
afterEach(() => rig.end());

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

describe("a sweep", () => {
  it("B6: lets go of what was deleted and of what went to another repository, and of nothing else", async () => {
    const hub = await rig.reset({ page_most: 10 });
    hub.repository("acme/x");
    hub.repository("acme/y");
    const shelf = hub.issues("acme/x");
    for (const number of upTo(35)) {
      hub.now_ms += 60_000;
      shelf.file({ number, title: `Crash number ${number}` });
    }
    await rig.read("acme/x", "acme/y");
    shelf.remove(7);
    hub.now_ms = Date.parse("2030-01-01T01:00:00Z");
    shelf.transfer(21, hub.issues("acme/y"));
    await rig.synced("acme/y");
    await rig.swept("acme/x");
    expect(await rig.finds("number 7")).not.toContain("acme/x#7");
    expect((await rig.finds("crash number 21"))[0]).toBe("acme/y#1");
    expect(await rig.numbers()).toEqual([...upTo(35).filter((n) => n !== 7 && n !== 21), 1]);
    // Nothing of them is left to be embedded or compared.
    const { rows } = await rig.db.query(sql`
      select p.number from github_issues.passage p
        left join github_issues.issue i on i.resource_id = p.resource_id and i.number = p.number where i.number is null`);
    expect(rows).toEqual([]);
  });

  it("B6: deletes nothing that GitHub only failed to show, and nothing because its comments are not there", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 10 });
    hub.repository("acme/x");
    for (const number of upTo(25)) {
      hub.now_ms += 60_000;
      hub.issues("acme/x").file({ number });
    }
    await rig.read("acme/x");
    // An issue is missing from its page, and one that was deleted shifts the pages under the sweep.
    let first = true;
    hub.mischief = (_, query) => {
      if (!/CREATED_AT, direction: ASC/.test(query)) return null;
      if (first) hub.issues("acme/x").remove(2);
      first = false;
      return null;
    };
    await rig.swept("acme/x");
    expect(await rig.numbers()).toEqual(upTo(25).filter((n) => n !== 2));
  });

  it("B24: labels get the names, and issues the reactions, that no update tells of", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    shelf.file({ title: "Crash", labels: ["bug"] });
    await rig.read("acme/x");
    shelf.renameLabel("bug", "type: bug");
    shelf.react(1, 12);
    await rig.synced("acme/x");
    expect(await rig.finds("label:bug")).toEqual(["acme/x#1"]);
    await rig.swept("acme/x");
    expect([await rig.finds("label:bug"), await rig.finds('label:"type: bug"')]).toEqual([[], ["acme/x#1"]]);
    expect(await rig.issue(1)).toMatchObject({ reactions: 12, labels: ["type: bug"] });
  });

  it("finds an issue that GitHub showed too late for any sync", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    hub.issues("acme/x").file({ title: "first" });
    await rig.read("acme/x");
    const hours = 3_600_000;
    hub.issues("acme/x").file({ title: "hours late", created_ms: hub.now_ms - 5 * hours });
    await rig.swept("acme/x");
    expect(await rig.finds("late")).toEqual(["acme/x#2"]);
  });
});

describe("a repository (B14)", () => {
  const crash = async (name: string) => {
    const hub = rig.hub;
    hub.repository(name);
    hub.issues(name).file({ title: "Crash at start" });
    await rig.read(name);
  };

  it("B14: that is renamed goes on under its id, with its new name", async () => {
    const hub = await rig.reset({ embeddings: null });
    await crash("acme/x");
    hub.move("acme/x", "acme/renamed");
    hub.now_ms = Date.parse("2030-01-01T00:10:00Z");
    hub.issues("acme/renamed").file({ title: "Crash again" });
    await rig.synced("acme/x");
    expect((await rig.finds("crash")).toSorted()).toEqual(["acme/renamed#1", "acme/renamed#2"]);
    expect(await rig.get("/issues/repos/acme/renamed")).toMatchObject({ key: "acme/x", mirrored: 2 });
    await rig.read("acme/renamed");
    expect((await rig.status())["repository acme/renamed"]).toMatchObject({
      status: "gone",
      reason: "it is the same repository as acme/x, which is followed already",
    });
  });

  it("B14: that turns private leaves search with the next look, and comes back when it is public", async () => {
    const hub = await rig.reset();
    hub.account("bot", { member: ["acme"] });
    await crash("acme/x");
    expect(await rig.finds("crash")).toEqual(["acme/x#1"]);
    hub.set("acme/x", { isPrivate: true });
    await rig.synced("acme/x");
    expect([await rig.finds("crash"), await rig.finds("")]).toEqual([[], []]);
    expect(await rig.get("/issues/repos/acme/x")).toMatchObject({
      searchable: false,
      searchable_why: /^It is private/,
    });
    const { error } = await rig.get<{ error: { sentence: string } }>("/issues/repos/acme/x/1/similar");
    expect(error.sentence).toBe("There is no issue 1 of acme/x here.");
    hub.set("acme/x", { isPrivate: false });
    await rig.synced("acme/x");
    expect(await rig.finds("crash")).toEqual(["acme/x#1"]);
  });

  it("B14: that is private is mirrored where the operator says so", async () => {
    const hub = await rig.reset({ embeddings: null, settings: { private: "true" } });
    hub.account("bot", { member: ["acme"] });
    hub.repository("acme/x", { isPrivate: true });
    hub.issues("acme/x").file({ title: "Crash" });
    await rig.read("acme/x");
    expect(await rig.finds("crash")).toEqual(["acme/x#1"]);
  });

  it("B14: that nobody of us sees any more is shown no longer, at once, and is gone", async () => {
    const hub = await rig.reset({ embeddings: null });
    await crash("acme/x");
    hub.set("acme/x", { isPrivate: true });
    await rig.synced("acme/x");
    expect(await rig.finds("crash")).toEqual([]);
    expect((await rig.status())["repository acme/x"]).toMatchObject({ status: "gone" });
  });

  it("B14: whose issues are switched off, or that is archived or disabled, fails nobody", async () => {
    const hub = await rig.reset({ embeddings: null });
    await crash("acme/x");
    hub.set("acme/x", { isArchived: true });
    await rig.synced("acme/x");
    expect(await rig.finds("crash")).toEqual(["acme/x#1"]);
    hub.set("acme/x", { hasIssues: false });
    await rig.synced("acme/x");
    expect(await rig.finds("crash")).toEqual([]);
    hub.set("acme/x", { hasIssues: true, isDisabled: true });
    await rig.synced("acme/x");
    expect(await rig.finds("crash")).toEqual([]);
    expect((await rig.status())["repository acme/x"]).toMatchObject({ status: "waiting", failures: 0 });
  });
});

describe("the line of initialisation", () => {
  it("is one repository at a time over all workers, first come first served, each right after the one before", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 10, hub: { latency_ms: 3_000 } });
    const names = ["acme/c", "acme/a", "acme/b"];
    for (const name of names) {
      hub.repository(name);
      for (const number of upTo(40)) {
        hub.now_ms += 1_000;
        hub.issues(name).file({ number });
      }
    }
    for (const name of names) await rig.followed(name);
    for (let workers = 0; workers < 3; workers += 1) rig.start();
    await rig.clock.until(async () => (await rig.numbers()).length > 0);
    expect(await rig.get("/issues/repos/acme/a")).toMatchObject({ init_status: "queued", place: 1, searchable: false });
    expect(await rig.get("/issues/repos/acme/b")).toMatchObject({ init_status: "queued", place: 2, mirrored: 0 });
    await rig.clock.until(async () => (await rig.numbers()).length === 120);
    await rig.calm();
    const pages = hub.calls
      .filter(({ query }) => /UPDATED_AT, direction: ASC/.test(query))
      .map(({ at_ms, variables }) => ({ at_ms, id: String(variables.id) }));
    const order = pages.map(({ id }) => id).filter((id, i, all) => id !== all[i - 1]);
    expect(order.slice(0, 3)).toEqual(names.map((name) => hub.find(name)!.id));
    for (const [i, page] of pages.entries())
      if (i > 0 && page.id !== pages[i - 1]!.id && i < 14)
        expect(page.at_ms - pages[i - 1]!.at_ms).toBeLessThan(15_000);
  });

  it("says how far it is, and how many points a page costs", async () => {
    const hub = await rig.reset({ embeddings: null, split_least: 100, hub: { latency_ms: 3_000 } });
    hub.repository("acme/x");
    for (const number of upTo(600)) {
      hub.now_ms += 60_000;
      hub.issues("acme/x").file({ number });
    }
    await rig.followed("acme/x");
    rig.start();
    await rig.clock.until(async () => (await rig.numbers()).length >= 300);
    const { init_status, progress } = await rig.get<{ init_status: string; progress: { done: number; total: number } }>(
      "/issues/repos/acme/x",
    );
    expect([init_status, progress.total]).toEqual(["in progress", 600]);
    expect(progress.done).toBeGreaterThanOrEqual(200);
    await rig.calm();
    const pages = hub.calls.filter(({ query }) => /UPDATED_AT, direction: ASC/.test(query));
    expect(pages.length).toBeLessThan(14);
    expect(Math.max(...pages.map(({ points }) => points))).toBe(2);
    // Four streams side by side.
    const at = pages.map(({ at_ms }) => at_ms);
    expect(at.filter((ms) => ms === at[0])).toHaveLength(4);
    expect(await rig.get("/issues/repos/acme/x")).toMatchObject({ init_status: "done", sync_status: "done" });
  });

  it("many idle repositories are asked for with one point", async () => {
    const hub = await rig.reset({ embeddings: null });
    const names = upTo(12).map((n) => `acme/r${n}`);
    for (const name of names) {
      hub.repository(name);
      hub.issues(name).file();
    }
    await rig.read(...names);
    const before = { calls: hub.calls.length, points: hub.points };
    await rig.clock.advance(290_000);
    await rig.work();
    expect(hub.points - before.points).toBeLessThanOrEqual(3);
    expect(hub.calls.length - before.calls).toBeLessThanOrEqual(3);
  });
});
