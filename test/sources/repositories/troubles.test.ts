/** What becomes of repositories: pushed with force, renamed, hidden, taken away, hostile; and of hosts that fail. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import sql from "sql-template-tag";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FOLDER, sweep } from "../../../src/sources/repositories/git.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { BROWSER, HOST, migrations, RepositoryRig } from "./rig.ts";

let store: TestPostgres;
let rig: RepositoryRig;

beforeAll(async () => {
  store = await testDatabase({ migrations: migrations() });
});
afterAll(() => store.close());
beforeEach(async () => {
  rig = new RepositoryRig(store);
  await rig.reset();
});
afterEach(() => rig.end());

const WIDGET = `${HOST}/acme/widget`;
const files = { "a.ts": "export const a = 1;\n" };

/** Asked for once and analysed. */
async function analysed(name = "acme/widget"): Promise<string> {
  const oid = await rig.made(name, files);
  await rig.look(`${HOST}/${name}`);
  await rig.work();
  return oid;
}

/** So late that a look has it checked, and then a look. */
async function lookedAgain(path = WIDGET): Promise<Response> {
  await rig.clock.advance(2 * 3600_000);
  await rig.look(path);
  await rig.work();
  return rig.look(path);
}

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`${FOLDER}${process.pid}-`));

describe("E5: whatever HEAD is", () => {
  it("a force-push is another commit, and the one before stays listed", async () => {
    const first = await analysed();
    const second = await rig.push("acme/widget", { "b.ts": "export const b = 2;\n" }, { anew: true });
    expect(await (await lookedAgain()).json()).toMatchObject({ commit_oid: second, report: { size: { files: 1 } } });
    const { results } = await rig.json<{ results: { commit_oid: string }[] }>(`${WIDGET}/history`);
    expect(results.map(({ commit_oid }) => commit_oid)).toEqual([second, first]);
  });

  it("a default branch under another name is followed", async () => {
    await analysed();
    await rig.host.git("acme/widget", ["branch", "-m", "main", "trunk"]);
    await rig.host.git("acme/widget", ["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    expect(await (await lookedAgain()).json()).toMatchObject({ head_ref: "refs/heads/trunk" });
  });

  it("a repository without a commit says so, and is analysed when it has one", async () => {
    await rig.host.create("acme/widget");
    await rig.look(WIDGET);
    await rig.work();
    const empty = await rig.look(WIDGET);
    expect(empty.status).toBe(422);
    expect(await empty.text()).toContain("it has no commit");
    const oid = await rig.push("acme/widget", files);
    await rig.clock.advance(7 * 3600_000);
    await rig.views.flush();
    await rig.work();
    expect(await rig.json(WIDGET)).toMatchObject({ commit_oid: oid });
  });

  it("a HEAD that names a branch which is not there is no commit", async () => {
    await rig.made("acme/widget", files);
    await rig.host.git("acme/widget", ["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
    await rig.look(WIDGET);
    await rig.work();
    expect((await rig.look(WIDGET)).status).toBe(422);
  });

  it("a HEAD of its own, without a branch, is analysed", async () => {
    const oid = await rig.made("acme/widget", files);
    await rig.host.git("acme/widget", ["update-ref", "--no-deref", "HEAD", oid]);
    await rig.look(WIDGET);
    await rig.work();
    expect(await rig.json(WIDGET)).toMatchObject({ commit_oid: oid, head_ref: null });
  });
});

describe("E6: failures are of a kind", () => {
  it("a host that is down is charged to nobody, and what is there stays there", async () => {
    for (const name of ["acme/one", "acme/two", "acme/three", "acme/four"]) await analysed(name);
    rig.host.down = 503;
    await rig.clock.advance(2 * 3600_000);
    for (const name of ["one", "two", "three", "four"]) await rig.look(`${HOST}/acme/${name}`);
    rig.start();
    await rig.clock.advance(3 * 3600_000);
    await rig.stop();
    const status = await rig.status();
    expect(Object.values(status).reduce((sum, { failures }) => sum + failures, 0)).toBeLessThanOrEqual(3);
    expect((await rig.look(`${HOST}/acme/one`)).status).toBe(200);
  });

  it("one that is too large is refused with its reason, without a failure, and taken when it is small again", async () => {
    await rig.end();
    rig = new RepositoryRig(store);
    await rig.reset({ files: "3" });
    await rig.made("acme/widget", { a: "1", b: "2", c: "3", d: "4" });
    await rig.look(WIDGET);
    await rig.work();
    const refused = await rig.look(WIDGET);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("has more than 3 files");
    expect((await rig.status())[`repository ${WIDGET}`]).toMatchObject({ failures: 0 });
    rig.asked();
    await rig.clock.advance(7 * 3600_000);
    await rig.look(WIDGET);
    await rig.views.flush();
    await rig.work();
    expect(rig.asked()).toEqual({ refs: 1, objects: 0 });
    const oid = await rig.push("acme/widget", { d: null });
    await rig.clock.advance(7 * 3600_000);
    await rig.work();
    expect(await rig.json(WIDGET)).toMatchObject({ commit_oid: oid });
  });
});

describe("E7: what is not for everyone", () => {
  it("leaves the answers with the first check that finds it so, and comes back with it", async () => {
    const oid = await analysed();
    rig.host.moods.set("acme/widget", { is: "private" });
    const hidden = await lookedAgain();
    expect(hidden.status).toBe(410);
    expect(await hidden.text()).toContain("not there, or not for everyone");
    for (const path of [`${WIDGET}/history`, `${WIDGET}?commit=${oid}`])
      expect((await rig.look(path)).status).toBe(410);
    expect(await rig.json("recent")).toMatchObject({ results: [] });
    rig.host.moods.delete("acme/widget");
    await rig.clock.advance(8 * 86_400_000);
    await rig.followed(WIDGET);
    await rig.work();
    expect((await rig.look(WIDGET)).status).toBe(200);
  });

  it("is 404 where it never was there, and 451 where the law says so", async () => {
    await rig.look(WIDGET);
    await rig.work();
    expect((await rig.look(WIDGET)).status).toBe(404);
    await rig.made("acme/other", files);
    rig.host.moods.set("acme/other", { is: "forbidden" });
    await rig.look(`${HOST}/acme/other`);
    await rig.work();
    expect((await rig.look(`${HOST}/acme/other`)).status).toBe(451);
  });

  it("is asked for without any credential", async () => {
    await analysed();
    expect(rig.upstream.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain("authorization");
  });
});

describe("E8: names", () => {
  it("a repository that was renamed is the same one: the old name leads there, with its history", async () => {
    const oid = await analysed();
    await rig.host.move("acme/widget", "acme/gadget");
    const next = await rig.push("acme/gadget", { "b.ts": "export const b = 2;\n" });
    const moved = await lookedAgain();
    expect([moved.status, moved.headers.get("location")]).toEqual([301, `/repositories/${HOST}/acme/gadget`]);
    const { results } = await rig.json<{ results: { commit_oid: string }[] }>(`${HOST}/acme/gadget/history`);
    expect(results.map(({ commit_oid }) => commit_oid)).toEqual([next, oid]);
  });

  it("another repository under the same name does not inherit what was found in the first", async () => {
    await analysed();
    await rig.host.remove("acme/widget");
    const other = await rig.made("acme/widget", { "other.py": "print(1)\n" });
    expect(await (await lookedAgain()).json()).toMatchObject({ commit_oid: other });
    const { results } = await rig.json<{ results: object[] }>(`${WIDGET}/history`);
    expect(results).toHaveLength(1);
  });
});

it("E12: a worker that dies in an analysis loses nothing: it is claimed again, and counted once", async () => {
  await rig.made("acme/widget", files);
  await rig.look(WIDGET);
  const life = rig.start();
  rig.onObjects = () => life.kill();
  await rig.clock.until(() => life.dead, 600_000);
  rig.onObjects = () => undefined;
  expect(await rig.json(WIDGET)).toMatchObject({ status: "analysing" });
  await rig.work();
  expect((await rig.look(WIDGET)).status).toBe(200);
  expect((await rig.status())[`repository ${WIDGET}`]).toMatchObject({ failures: 0 });
  for (const name of leftovers()) await rm(path.join(tmpdir(), name), { recursive: true });
});

it("E12: what a killed process left in the folder of temporary things is removed by the next, and what a living one has is not", async () => {
  const place = await mkdtemp(path.join(tmpdir(), "tidemark-sweep-"));
  const { pid } = spawnSync("true");
  for (const name of [`${FOLDER}${pid}-dead`, `${FOLDER}${process.pid}-alive`, "other"])
    await mkdir(path.join(place, name, "git"), { recursive: true });
  await sweep(place);
  expect(readdirSync(place).sort()).toEqual(["other", `${FOLDER}${process.pid}-alive`]);
  await rm(place, { recursive: true });
});

describe("E17: hostile repositories", () => {
  it("run nothing, write nothing, and are counted for what they are", async () => {
    await rig.made("acme/widget", {
      ".gitattributes": "* filter=evil diff=evil\n*.psd filter=lfs\n",
      ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = file:///etc\n\tupdate = !touch /tmp/tidemark-was-here\n',
      ".lfsconfig": "[lfs]\n\turl = http://169.254.169.254/\n",
      escape: { link: "../../../../etc/passwd" },
      "Readme.md": "# one\n",
      "README.md": "# two\n",
      "big.bin": new Uint8Array(2 * 1024 * 1024),
      "package.json": "{ not json",
      "deep.json": "[".repeat(100_000),
      "hooks/post-checkout": "#!/bin/sh\ntouch /tmp/tidemark-was-here\n",
      "evil.test.ts": `${"describe('x', () => {".repeat(5_000)}`,
    });
    await rig.look(WIDGET);
    await rig.work();
    expect(await rig.json(WIDGET)).toMatchObject({
      report: {
        size: { files: 10, symlinks: 1, not_read: 1 },
        manifests: [{ file: "package.json", dependencies: [] }],
      },
    });
    expect(readdirSync("/tmp")).not.toContain("tidemark-was-here");
    expect(leftovers()).toEqual([]);
  });
});

it("E18: ten analyses are kept, the newest always", async () => {
  await analysed();
  let last = "";
  for (let n = 0; n < 12; n += 1) {
    last = await rig.push("acme/widget", { [`f${n}.ts`]: `export const n = ${n};\n` });
    await lookedAgain();
  }
  const { results } = await rig.json<{ results: { commit_oid: string }[] }>(`${WIDGET}/history`);
  expect(results).toHaveLength(10);
  expect(results[0]!.commit_oid).toBe(last);
  await rig.db.query(sql`update repositories.analysis set analysed_at = analysed_at - interval '100 days'`);
  last = await rig.push("acme/widget", { "last.ts": "export const last = 1;\n" });
  await lookedAgain();
  const kept = await rig.json<{ results: { commit_oid: string }[] }>(`${WIDGET}/history`);
  expect(kept.results.map(({ commit_oid }) => commit_oid)).toEqual([last]);
});

it("E19: an analysis says which commit it is of, and what changed since another", async () => {
  const first = await analysed();
  const second = await rig.push("acme/widget", {
    "a.test.ts": 'import { it } from "vitest";\nit("is new", () => {});\n',
    "package.json": '{"dependencies":{"zod":"^4"}}',
  });
  await lookedAgain();
  expect(await rig.json(`${WIDGET}?commit=${first}`)).toMatchObject({
    commit_oid: first,
    head: { oid: second, moved: true },
  });
  expect(await rig.json(`${WIDGET}/changes?from=${first}&to=${second}`)).toMatchObject({
    tests: { added: ["a.test.ts > is new"], removed: [], cases: 1 },
    dependencies: { added: ["package.json: zod"], removed: [] },
  });
  expect((await rig.look(`${WIDGET}?commit=${"0".repeat(40)}`)).status).toBe(404);
  expect((await rig.look(`${WIDGET}?commit=main`)).status).toBe(400);
});

it("an analysis in a process of its own says the same, and nothing of it is left", async () => {
  await rig.end();
  rig = new RepositoryRig(store);
  await rig.reset({}, true);
  const oid = await rig.made("acme/widget", files);
  await rig.get(WIDGET, { "user-agent": BROWSER });
  await rig.work();
  expect(await rig.json(WIDGET)).toMatchObject({
    commit_oid: oid,
    report: { languages: [{ language: "TypeScript" }] },
  });
  expect(leftovers()).toEqual([]);
});
