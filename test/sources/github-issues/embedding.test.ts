/** How texts get vectors: each once, whatever is edited, refused or changed meanwhile (B15 to B19, B25). */
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

function file(n: number, name = "acme/x", title = (number: number) => `Crash number ${number}`): void {
  if (!rig.hub.find(name)) rig.hub.repository(name);
  for (const number of upTo(n)) {
    rig.hub.now_ms += 1_000;
    rig.hub.issues(name).file({ number, title: title(number) });
  }
}

/** Texts that were embedded twice. */
const twice = () => rig.embeddings.texts.filter((text, i, all) => all.indexOf(text) !== i);

/** Every passage has the vector of what it says, and of nothing else. */
async function unmatched(): Promise<number> {
  const { rows } = await rig.db.query<{ n: number }>(sql`
    select count(*)::int as n from github_issues.passage p
     where not exists (select 1 from github_issues.vector v where v.hash = p.hash)`);
  return rows[0]!.n;
}

describe("texts and their vectors", () => {
  it("many issues of many repositories are embedded with one call, and the same text once", async () => {
    await rig.reset();
    for (const r of upTo(5)) file(20, `acme/r${r}`);
    await rig.read(...upTo(5).map((r) => `acme/r${r}`));
    expect(await unmatched()).toBe(0);
    expect([rig.embeddings.texts.length, twice()]).toEqual([20, []]);
    rig.hub.now_ms = Date.parse("2030-01-01T01:00:00Z");
    for (const r of upTo(5)) rig.hub.issues(`acme/r${r}`).edit(1, { title: `Freeze of ${r}` });
    for (const r of upTo(5)) await rig.synced(`acme/r${r}`);
    await rig.embed();
    expect(await unmatched()).toBe(0);
    expect(twice()).toEqual([]);
  });

  it("B15: an edit while its text is embedded is noticed, and gets a vector of its own", async () => {
    await rig.reset({ embeddings: { latency_ms: () => 50_000 }, settings: { every: "30s" } });
    file(3);
    await rig.followed("acme/x");
    rig.start();
    await rig.clock.until(() => rig.upstream.requests.some(({ path }) => path.startsWith("/v1/")), 600_000);
    // The call is out, and takes longer than a sync.
    rig.hub.now_ms = Date.parse("2030-01-01T00:00:05Z");
    rig.hub.issues("acme/x").edit(2, { title: "Something else entirely" });
    await rig.clock.until(async () => (await rig.issue(2)).title === "Something else entirely", 600_000);
    expect(rig.embeddings.texts).toEqual([]);
    await rig.clock.until(async () => (await rig.count("unembedded")) === 0 && (await unmatched()) === 0, 600_000);
    expect(rig.embeddings.texts.at(-1)).toBe("Something else entirely");
    expect(twice()).toEqual([]);
  });

  it("B16: several workers embed no text twice", async () => {
    await rig.reset({ embeddings: { latency_ms: () => 2_000 } });
    for (const r of upTo(4)) file(15, `acme/r${r}`, (n) => `Crash ${n} of ${r}`);
    for (const r of upTo(4)) await rig.followed(`acme/r${r}`);
    for (let workers = 0; workers < 4; workers += 1) rig.start();
    await rig.clock.until(async () => (await rig.count("vector")) === 60, 900_000);
    expect([rig.embeddings.texts.length, twice()]).toEqual([60, []]);
  });

  it("a worker that dies between the answer and the commit costs its one call again, and nothing else", async () => {
    await rig.reset();
    file(10);
    await rig.followed("acme/x");
    const life = rig.start({}, () => rig.embeddings.calls.length > 0);
    await rig.clock.until(() => life.dead);
    await life.kill();
    rig.start();
    await rig.clock.until(async () => (await rig.count("vector")) === 10, 900_000);
    expect(rig.embeddings.calls.length).toBe(2);
  });
});

describe("what a server refuses", () => {
  it("B17: one bad text spoils nothing for the others, and vectors go by their index", async () => {
    await rig.reset();
    rig.embeddings.shuffles = true;
    rig.embeddings.refuses = (text) => text.includes("number 13");
    file(40);
    await rig.read("acme/x");
    expect([await rig.count("vector"), await rig.count("unembedded")]).toEqual([39, 1]);
    expect((await rig.search("crash number 7")).results[0]?.number).toBe(7);
    // Found by halving: not one call for each.
    expect(rig.upstream.requests.filter(({ path }) => path.startsWith("/v1/")).length).toBeLessThan(20);
  });

  it("B17: a text that is too long after all is read as far as the server takes it", async () => {
    await rig.reset();
    rig.embeddings.refuses = (text) => text.length > 300;
    file(2);
    rig.hub.issues("acme/x").file({ title: "Long", body: "words and words ".repeat(30) });
    await rig.read("acme/x");
    expect([await rig.count("vector"), await rig.count("unembedded")]).toEqual([3, 0]);
  });

  it("B25: a repository with three issues that cannot be embedded is searchable, and says which and why", async () => {
    await rig.reset();
    rig.embeddings.refuses = (text) => /number (3|50|77)$/.test(text);
    file(120);
    await rig.read("acme/x");
    expect(await rig.get("/issues/repos/acme/x")).toMatchObject({
      searchable: true,
      searchable_why: "By words, and by meaning for 97.5 % of its issues.",
      embedded: 117 / 120,
      embedded_failed: 3,
      failing: [3, 50, 77].map((number) => ({ number, tries: 1, reason: /refuses it \(HTTP 400\)/ })),
    });
    expect(await rig.finds('"number 50"')).toEqual(["acme/x#50"]);
    // A day later they are tried again.
    rig.embeddings.refuses = () => false;
    await rig.clock.advance(25 * 3600_000);
    await rig.work();
    await rig.embed();
    expect(await rig.get("/issues/repos/acme/x")).toMatchObject({ embedded: 1, failing: [] });
  });
});

describe("limits of the server", () => {
  it("B18: a 429 closes it for as long as it says; words find meanwhile, and nothing is lost or charged", async () => {
    await rig.reset();
    file(5);
    rig.embeddings.closeUntil(Date.parse("2030-01-01T00:02:00Z"));
    await rig.followed("acme/x");
    await rig.work();
    const { results, search_type, why } = await rig.search("crash");
    expect([results.length, search_type]).toEqual([5, "keyword"]);
    expect(why).toBe("Nothing has a vector yet.");
    await rig.clock.advance(121_000);
    await rig.work();
    await rig.embed();
    expect(await rig.count("vector")).toBe(5);
    const calls = rig.upstream.requests.filter(({ path }) => path.startsWith("/v1/"));
    expect(calls.filter(({ at_ms }) => at_ms > 1_000 && at_ms < 120_000).length).toBeLessThanOrEqual(1);
    expect((await rig.status())["embeddings all"]).toMatchObject({ failures: 0 });
    rig.embeddings.closeUntil(Date.parse("2030-01-02T00:00:00Z"));
    expect(await rig.search("something new")).toMatchObject({
      search_type: "keyword",
      why: /asked us to wait \(HTTP 429\)/,
    });
  });

  it("B18: a flood of initialisation leaves searches their part: none waits for it", async () => {
    const tokens_per_minute = 20_000;
    await rig.reset({
      embeddings: { tokens_per_minute, latency_ms: () => 500 },
      settings: { tokens_per_minute: String(tokens_per_minute) },
    });
    file(300, "acme/x", (n) => `Crash number ${n} ${"of something long ".repeat(60)}`);
    file(1, "acme/y");
    await rig.read("acme/y");
    await rig.followed("acme/x");
    rig.start();
    await rig.clock.until(() => rig.embeddings.calls.length > 3);
    const waits: number[] = [];
    for (const n of upTo(20)) {
      const begun = rig.clock.elapsed_ms();
      let type = "";
      const isMine = ({ body }: { body: string }) => body.includes(`question number ${n}"`);
      void rig.search(`question number ${n}`).then((answer) => {
        type = answer.search_type;
      });
      await rig.clock.until(() => type !== "");
      expect(type).toBe("hybrid");
      // When it left, which is what it had to wait for; comparing takes real time, which is not the clock's.
      waits.push(rig.upstream.requests.find(isMine)!.at_ms - begun);
      await rig.clock.advance(2_000);
    }
    expect(waits.toSorted((a, b) => a - b)[18]).toBeLessThan(1_000);
    expect(rig.embeddings.calls.reduce((sum, { tokens }) => sum + tokens, 0)).toBeGreaterThan(tokens_per_minute / 2);
  });
});

it("B19: another model is built beside the old one, which answers until the new one is whole; they are never compared", async () => {
  await rig.reset({ embeddings: { latency_ms: () => 1_000 } });
  file(30);
  await rig.read("acme/x");
  rig.embeddings.refuses = (text) => text.includes("number 5");
  await rig.restart("other#64");
  const begun_ms = Date.parse("2030-01-01T00:00:00Z") + rig.clock.elapsed_ms();
  rig.start();
  type Told = {
    generations: { model: string; vectors: number; waiting: number; in_use: boolean; completed_at: unknown }[];
  };
  await rig.clock.until(async () => (await rig.get<Told>("/issues/status")).generations.length === 2, 900_000);
  const { generations } = await rig.get<Told>("/issues/status");
  expect(generations.map(({ model, in_use }) => [model, in_use])).toEqual([
    ["hashing", true],
    ["other#64", false],
  ]);
  // A search meanwhile asks the old model, whose vectors are whole.
  let found: number | undefined;
  void rig.search("crash number 7").then(({ results }) => {
    found = results[0]?.number ?? 0;
  });
  await rig.clock.until(() => found !== undefined);
  const asked = rig.embeddings.calls.filter(({ at_ms, model }) => at_ms >= begun_ms && model === "hashing");
  expect([found, asked.map(({ inputs }) => inputs)]).toEqual([7, [1]]);
  await rig.clock.until(async () => (await rig.get<Told>("/issues/status")).generations.length === 1, 900_000);
  expect((await rig.get<Told>("/issues/status")).generations[0]).toMatchObject({ model: "other#64", in_use: true });
  await rig.clock.until(async () => (await rig.count("vector")) === 29, 900_000);
  const { rows } = await rig.db.query<{ size: number }>(
    sql`select distinct array_length(vector, 1) as size from github_issues.vector`,
  );
  expect(rows).toEqual([{ size: 64 }]);
});
