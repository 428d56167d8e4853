/** How issues are read: everything once at least, nothing newer overwritten, nothing passed over (B1 to B5, B7 to B11). */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { pageBatches } from "../../../src/sources/github-issues/rows.ts";
import { testDatabase } from "../../postgres.ts";
import { all_migrations, IssueRig } from "./rig.ts";

let rig: IssueRig;
beforeAll(async () => {
  rig = new IssueRig((await testDatabase({ migrations: all_migrations() })).db);
});
afterEach(() => rig.end());

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
/** GraphQL calls for pages of issues, with what they asked for. */
const pages = () => rig.hub.calls.filter(({ query }) => /orderBy: \{ field: UPDATED_AT, direction: ASC \}/.test(query));

describe("ties and moving pages", () => {
  it("B1: 250 issues of one moment are all stored, and the reading ends", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    for (const number of upTo(250)) hub.issues("acme/x").file({ number });
    await rig.read("acme/x");
    expect(await rig.numbers()).toEqual(upTo(250));
    expect(pages().length).toBeLessThanOrEqual(4);
  });

  it("B2: an issue that is updated while pages are read is seen, as it is in the end", async () => {
    const hub = await rig.reset({ embeddings: null, page_most: 10 });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    for (const number of upTo(40)) {
      hub.now_ms += 60_000;
      shelf.file({ number });
    }
    // With each page an issue moves from the beginning to the end, and shifts all others.
    let n = 0;
    hub.mischief = (_, query) => {
      if (/UPDATED_AT, direction: ASC/.test(query) && n < 8) {
        hub.now_ms += 60_000;
        n += 1;
        shelf.edit(n, { title: `edited ${n}` });
      }
      return null;
    };
    await rig.read("acme/x");
    for (let syncs = 0; syncs < 4; syncs += 1) await rig.synced("acme/x");
    expect(await rig.numbers()).toEqual(upTo(40));
    for (const number of upTo(8)) expect((await rig.issue(number)).title).toBe(`edited ${number}`);
  });

  it("B3: the newest issue comes with every look, and is neither written nor embedded again", async () => {
    const hub = await rig.reset();
    hub.repository("acme/x");
    hub.issues("acme/x").file({ title: "Crash" });
    await rig.read("acme/x");
    let rows = 0;
    rig.events.on("commit", (e) => {
      rows += e.rows;
    });
    hub.now_ms = Date.parse("2030-01-01T00:10:00Z");
    hub.issues("acme/x").file({ title: "Another" });
    await rig.synced("acme/x");
    await rig.embed();
    // The new one, its vector, and the row of the repository.
    expect([rows, rig.embeddings.texts.length]).toEqual([3, 2]);
    await rig.synced("acme/x");
    await rig.embed();
    expect([rows, rig.embeddings.texts.length]).toEqual([3, 2]);
  });

  it("B4: what becomes visible a minute late is found, because each look begins a little before the last", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    const at_ms = Date.parse("2030-01-01T00:00:00Z");
    hub.now_ms = at_ms;
    shelf.file({ title: "first" });
    await rig.read("acme/x");
    // Filed a minute before the newest that was seen, and shown only now.
    shelf.file({ title: "late", created_ms: at_ms - 60_000 });
    await rig.synced("acme/x");
    expect(await rig.numbers()).toEqual([1, 2]);
  });

  it("B5: an older answer that comes late overwrites nothing newer, neither issue, comments nor texts", async () => {
    const hub = await rig.reset();
    hub.repository("acme/x");
    hub.issues("acme/x").file({ title: "newer", body: "what it says now" });
    await rig.read("acme/x");
    const before = await rig.db.query(sql`select hash from github_issues.passage`);
    const { rows } = await rig.db.query<{ resource_id: bigint }>(sql`select resource_id from github_issues.repository`);
    const old = {
      ...{ id: "I_1", number: 1, title: "older", body: "what it said", state: "OPEN", author: null },
      ...{ createdAt: "2020-01-01T00:00:00Z", updatedAt: "2020-01-01T00:00:00Z" },
      comments: { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] },
      labels: { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] },
    };
    const [batch] = pageBatches(rows[0]!.resource_id, [old], { model: "hashing", tokens_most: 2_000, parts_most: 3 });
    const { putRows } = await import("../../../src/mirror/table.ts");
    await rig.db.transaction(async (tx) => {
      for (const put of batch!.put!) await putRows(tx, put.table, put.rows);
      await batch!.write!(tx);
    });
    expect((await rig.issue(1)).title).toBe("newer");
    expect(await rig.db.query(sql`select hash from github_issues.passage`)).toEqual(before);
  });

  it("B7: a past is read without saying 1970, which would find nothing", async () => {
    const hub = await rig.reset({ embeddings: null });
    hub.repository("acme/x");
    hub.issues("acme/x").file({ created_ms: 0, updated_ms: 0 });
    await rig.read("acme/x");
    expect(await rig.numbers()).toEqual([1]);
    expect(pages()[0]!.variables.since).toBeUndefined();
  });
});

describe("what people and GitHub write", () => {
  it("B8: ghosts, bodies with NUL and half characters, and reasons that nobody knew are stored", async () => {
    const hub = await rig.reset();
    hub.repository("acme/x");
    const shelf = hub.issues("acme/x");
    shelf.file({ title: "NUL \u0000 here", body: "half \ud800 character", author: null });
    shelf.file({ title: "no body", body: null, state: "CLOSED", state_reason: "DUPLICATE" });
    await rig.read("acme/x");
    expect(await rig.issue(1)).toMatchObject({ author: null, title: "NUL \ufffd here", body: "half \ufffd character" });
    expect(await rig.issue(2)).toMatchObject({ body: "", state: "closed", state_reason: "duplicate" });
    expect(await rig.count("unembedded")).toBe(0);
  });

  it("B8: a reason that GitHub adds to its list one day is stored as it is", () => {
    const empty = { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };
    const one = {
      id: "I",
      number: 1,
      title: "t",
      body: null,
      state: "CLOSED",
      stateReason: "SOLVED_BY_MAGIC",
      author: null,
    };
    const at = { createdAt: "2020-01-01T00:00:00Z", updatedAt: "2020-01-01T00:00:00Z" };
    const [batch] = pageBatches(1n, [{ ...one, ...at, comments: empty, labels: empty }], null);
    expect(batch!.put![1]!.rows[0]).toMatchObject({ state_reason: "solved_by_magic", body: "" });
  });
});
