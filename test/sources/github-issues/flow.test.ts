/** A repository from following to finding, and what changes there afterwards. */
import { afterEach, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../postgres.ts";
import { all_migrations, IssueRig } from "./rig.ts";

let rig: IssueRig;
beforeAll(async () => {
  rig = new IssueRig((await testDatabase({ migrations: all_migrations() })).db);
});
afterEach(() => rig.end());

it("is found by its words and by what it means, and minutes later by what it says by then", async () => {
  const hub = await rig.reset();
  hub.repository("acme/x");
  const shelf = hub.issues("acme/x");
  shelf.file({ title: "Crash at start", body: "<!-- version? -->\nIt crashes when I open a file.", labels: ["bug"] });
  shelf.file({ title: "Wrong colours", body: "The theme cannot be read." });
  await rig.read("acme/x");
  expect(await rig.finds("crash")).toEqual(["acme/x#1"]);
  const { results, search_type, fresh_at, why } = await rig.search("the window dies at start");
  expect([search_type, results[0]?.number, why]).toEqual(["hybrid", 1, null]);
  expect(results[0]?.score_parts.meaning).toBeGreaterThan(0.2);
  expect(fresh_at).not.toBe(null);
  expect(results[0]?.snippet).toMatch(/^It crashes when I open a/);
  rig.start();
  hub.now_ms = Date.parse("2030-01-01T00:10:00Z");
  shelf.edit(2, { body: "It leaks memory." });
  shelf.file({ title: "Slow over a remote connection", body: "It lags." });
  await rig.sweep(300_000);
  expect(await rig.finds("memory")).toEqual(["acme/x#2"]);
  expect(await rig.finds("remote")).toEqual(["acme/x#3"]);
  expect(await rig.finds("theme")).toEqual([]);
});

it("a repository without issues completes, and one that is not there is told so", async () => {
  const hub = await rig.reset();
  hub.repository("acme/none");
  await rig.read("acme/none", "acme/missing");
  expect(await rig.get("/issues/repos/acme/none")).toMatchObject({
    init_status: "done",
    mirrored: 0,
    searchable: true,
    embedded: null,
  });
  expect((await rig.status())["repository acme/missing"]).toMatchObject({
    status: "gone",
    reason: "there is no acme/missing at github.com, or our token may not see it",
  });
  const { error } = await rig.get<{ error: { code: string; sentence: string } }>("/issues/repos/acme/missing");
  expect(error).toMatchObject({ code: "NotFollowed", sentence: /tidemark follow github-issues acme\/missing/ });
});

it("without anything that embeds, words find it, and everything says how to switch on the rest", async () => {
  const hub = await rig.reset({ embeddings: null });
  hub.repository("acme/x");
  hub.issues("acme/x").file({ title: "Crash at start" });
  await rig.read("acme/x");
  const { results, search_type, why } = await rig.search("crash");
  expect([results.length, search_type]).toEqual([1, "keyword"]);
  expect(why).toMatch(/set EMBEDDINGS_URL, or fetch the local model with `tidemark model fetch`/);
  expect(await rig.get("/issues/status")).toMatchObject({ semantic: "off", why: /EMBEDDINGS_URL/, generations: [] });
  expect(await rig.get("/issues/repos/acme/x")).toMatchObject({
    searchable: true,
    searchable_why: /^By words\. .*EMBEDDINGS_URL/,
  });
  expect(await rig.count("passage")).toBe(0);
});

it("what was mirrored before anything could embed is embedded when something can", async () => {
  const hub = await rig.reset({ embeddings: null });
  hub.repository("acme/x");
  for (let n = 0; n < 5; n += 1) hub.issues("acme/x").file({ title: `Crash number ${n}` });
  await rig.read("acme/x");
  await rig.restart("hashing");
  await rig.clock.advance(300_000);
  await rig.embed();
  expect([await rig.count("vector"), rig.embeddings.calls.length]).toEqual([5, 1]);
  expect((await rig.search("crash")).search_type).toBe("hybrid");
});
