/** From the first visit on: analysed while somebody waits, and ever after there at once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
const files = {
  "src/widget.ts": "export const widget = 1;\n",
  "src/widget.test.ts":
    'import { describe, it } from "vitest";\ndescribe("a widget", () => {\n  it("is one", () => {});\n});\n',
  "package.json": '{"name":"widget","dependencies":{"zod":"^4.0.0"}}',
};

describe("the rows of the document's table", () => {
  it("first visit: queued with a place, then analysed, then there", async () => {
    const oid = await rig.made("acme/widget", files);
    const first = await rig.look(WIDGET);
    expect(first.status).toBe(202);
    expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await first.json()).toMatchObject({ repository: WIDGET, status: "queued", place: 1 });
    await rig.work();
    const then = await rig.look(WIDGET);
    expect(then.status).toBe(200);
    expect(then.headers.get("tidemark-fresh-at")).toMatch(/Z$/);
    expect(await then.json()).toMatchObject({
      repository: WIDGET,
      commit_oid: oid,
      analyser: 1,
      head_ref: "refs/heads/main",
      stale: false,
      head: { oid, moved: false },
      report: {
        size: { files: 3 },
        languages: [{ language: "TypeScript", files: 2, lines: 5 }],
        tests: { total_cases: 1, total_suites: 1, files: [{ file: "src/widget.test.ts", framework: "vitest" }] },
        manifests: [{ ecosystem: "npm", name: "widget", dependencies: [{ name: "zod", version: "^4.0.0" }] }],
        activity: { commits: 1, contributors: 1 },
      },
    });
  });

  it("return visit, fresh: at once, and nobody is asked anything", async () => {
    await rig.made("acme/widget", files);
    await rig.look(WIDGET);
    await rig.work();
    rig.asked();
    expect((await rig.look(WIDGET)).status).toBe(200);
    await rig.work();
    expect(rig.asked()).toEqual({ refs: 0, objects: 0 });
  });

  it("return visit, stale: at once as it is, and looked after at once", async () => {
    await rig.made("acme/widget", files);
    await rig.look(WIDGET);
    await rig.work();
    const moved = await rig.push("acme/widget", { "more.ts": "export const more = 2;\n" });
    await rig.clock.advance(2 * 3600_000);
    const stale = await rig.json<{ stale: boolean; commit_oid: string }>(WIDGET, { "user-agent": BROWSER });
    expect(stale.stale).toBe(true);
    expect(stale.commit_oid).not.toBe(moved);
    await rig.work();
    expect(await rig.json(WIDGET)).toMatchObject({ stale: false, commit_oid: moved });
  });

  it("popular: refreshed before anybody has to wait, every six hours", async () => {
    await rig.made("acme/widget", files);
    await rig.look(WIDGET);
    await rig.views.flush();
    await rig.work();
    const moved = await rig.push("acme/widget", { "more.ts": "export const more = 2;\n" });
    await rig.live(6.5 * 3600_000);
    const visit = await rig.json<{ stale: boolean; commit_oid: string }>(WIDGET);
    expect(visit).toMatchObject({ stale: false, commit_oid: moved });
  });
});

it("E3: an unchanged HEAD costs one small call: nothing is fetched, nothing analysed, and what was last changed stays so", async () => {
  await rig.made("acme/widget", files);
  await rig.look(WIDGET);
  await rig.work();
  const before = await rig.json<{ analysed_at: string; fresh_at: string }>(WIDGET);
  rig.asked();
  await rig.clock.advance(2 * 3600_000);
  await rig.look(WIDGET);
  await rig.work();
  expect(rig.asked()).toEqual({ refs: 1, objects: 0 });
  const after = await rig.json<{ analysed_at: string; fresh_at: string }>(WIDGET);
  expect(after.analysed_at).toBe(before.analysed_at);
  expect(after.fresh_at > before.fresh_at).toBe(true);
});
