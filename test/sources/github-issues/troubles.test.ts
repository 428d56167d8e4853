/** What GitHub leaves out, takes too long for or allows no more of (B9 to B13). */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { all_migrations, IssueRig } from "./rig.ts";

let rig: IssueRig;
beforeAll(async () => {
  rig = new IssueRig((await testDatabase({ migrations: all_migrations() })).db);
});
afterEach(() => rig.end());

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
const isPage = (query: string): boolean => /UPDATED_AT, direction: ASC/.test(query);

describe("nested lists", () => {
  it("B9: more than a hundred comments and labels are all read, page by page", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    shelf.file({ labels: upTo(130).map((n) => `label ${n}`) });
    for (const n of upTo(250)) shelf.comment(1, `comment ${n}`);
    shelf.file();
    for (const n of upTo(31)) shelf.comment(2, `comment ${n}`);
    await rig.read("acme/x");
    expect(await rig.issue(1)).toMatchObject({ comments: 250, stored: 250, comments_after: null });
    expect((await rig.issue(1)).labels).toHaveLength(130);
    expect(await rig.issue(2)).toMatchObject({ comments: 31, stored: 31 });
  });

  it("B9: comments that a wide page leaves out without a word are found by the next sweep", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    shelf.file();
    for (const n of upTo(12)) shelf.comment(1, `comment ${n}`);
    hub.cuts_short = (_, wide) => wide >= 60;
    await rig.read("acme/x");
    expect((await rig.issue(1)).stored).toBe(1);
    // Sweeps ask for one comment of each, and are told how many there are.
    hub.cuts_short = () => false;
    await rig.swept("acme/x");
    await rig.swept("acme/x");
    expect(await rig.issue(1)).toMatchObject({ comments: 12, stored: 12 });
  });

  it("a comment that was deleted is gone with the next update of its issue", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    shelf.file();
    const { id } = shelf.comment(1, "regretted");
    shelf.comment(1, "kept");
    await rig.read("acme/x");
    hub.now_ms = Date.parse("2030-01-01T00:10:00Z");
    shelf.uncomment(1, id);
    await rig.synced("acme/x");
    expect([await rig.finds("regretted"), await rig.finds("kept")]).toEqual([[], ["acme/x#1"]]);
  });
});

describe("half an answer", () => {
  it("B10: holes in a page are asked for again, in smaller pages, and no issue is passed over", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 20 });
    hub.repository("acme/x");
    for (const number of upTo(30)) {
      hub.now_ms += 1_000;
      hub.issues("acme/x").file({ number });
    }
    // GitHub gives up on the seventh issue of any page that is too large.
    hub.mischief = (_, query, { first }) =>
      isPage(query) && Number(first) > 6 ? { mischief: "partial", paths: [["node", "issues", "nodes", 6]] } : null;
    await rig.read("acme/x");
    expect(await rig.numbers()).toEqual(upTo(30));
  });

  it("B10: comments that are left out of a page are not taken for none", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    hub.issues("acme/x").file();
    hub.issues("acme/x").comment(1, "something");
    let times = 0;
    hub.mischief = (_, query) =>
      isPage(query) && times++ < 2
        ? { mischief: "partial", paths: [["node", "issues", "nodes", 0, "comments"]] }
        : null;
    await rig.read("acme/x");
    expect(await rig.issue(1)).toMatchObject({ comments: 1, stored: 1 });
  });

  it("B11: pages that take too long are halved, remembered, and grow back", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    for (const number of upTo(500)) {
      hub.now_ms += 1_000;
      hub.issues("acme/x").file({ number });
    }
    let slow = true;
    hub.mischief = (_, query, { first }) =>
      slow && isPage(query) && Number(first) > 30 ? { mischief: "timeout" } : null;
    await rig.read("acme/x");
    expect(await rig.numbers()).toHaveLength(500);
    const sizes = () => hub.calls.filter(({ query }) => isPage(query)).map(({ variables }) => variables.first);
    expect(sizes().slice(0, 3)).toEqual([100, 50, 25]);
    expect(Math.min(...(sizes() as number[]))).toBeGreaterThan(15);
    const remembered = sizes().at(-1);
    slow = false;
    hub.now_ms = Date.parse("2030-01-01T02:00:00Z");
    for (const number of upTo(500)) hub.issues("acme/x").edit(number, {});
    const before = sizes().length;
    await rig.clock.advance(3 * 3600_000);
    await rig.work();
    expect(sizes()[before]).toBe(remembered);
    expect(Math.max(...(sizes().slice(before) as number[]))).toBeGreaterThan(Number(remembered));
  });
});

describe("limits", () => {
  it("B12: when the points are spent nobody asks before the reset, and another account goes on", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 10, hub: { limits: { points: 20 } } });
    hub.repository("acme/x");
    for (const number of upTo(250)) {
      hub.now_ms += 1_000;
      hub.issues("acme/x").file({ number });
    }
    await rig.read("acme/x");
    expect(await rig.numbers()).toHaveLength(250);
    // Refused calls would have been answered with no points at all.
    expect(hub.calls.filter(({ points }) => points === 0)).toEqual([]);
    const hours = new Set(hub.calls.map(({ at_ms }) => Math.floor((at_ms - hub.calls[0]!.at_ms) / 3_600_000)));
    expect(hours.size).toBeGreaterThan(1);
  });

  it("B12: a secondary limit stops everything with that credential for as long as it says", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 10, hub: { limits: { cpu_ms: 100 } } });
    hub.repository("acme/x");
    for (const number of upTo(60)) {
      hub.now_ms += 1_000;
      hub.issues("acme/x").file({ number });
    }
    await rig.read("acme/x");
    expect(await rig.numbers()).toHaveLength(60);
    expect(rig.closed.some((reason) => /asked us to wait \(HTTP 403\)/.test(reason))).toBe(true);
    expect((await rig.status())["repository acme/x"]).toMatchObject({ failures: 0 });
  });

  it("B13: tokens of one person share one allowance; a revoked one drops out in the middle of a page", async () => {
    const hub = await rig.reset({
      ...{ embeddings: null, page_most: 10 },
      tokens: { "github.com": ["token-a", "token-b", "token-c"] },
    });
    for (const token of ["token-a", "token-b"]) hub.account("ann", { token });
    hub.account("carol", { token: "token-c" });
    hub.repository("acme/x");
    for (const number of upTo(60)) {
      hub.now_ms += 1_000;
      hub.issues("acme/x").file({ number });
    }
    let revoked = false;
    hub.mischief = (no) => {
      if (no > 4 && !revoked) {
        revoked = true;
        hub.revoke("token-a");
      }
      return null;
    };
    await rig.read("acme/x");
    expect(await rig.numbers()).toHaveLength(60);
    const budgets = (await rig.budgets()).filter((name) => /graphql/.test(name));
    expect(budgets.map((name) => name.replace(/^.*:/, "")).every((account) => /^(ann|carol)$/.test(account))).toBe(
      true,
    );
    expect(revoked && hub.calls.slice(6).every(({ viewer }) => viewer !== null)).toBe(true);
  });
});
