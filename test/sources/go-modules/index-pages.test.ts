/** What people page through: repositories and modules with their newest versions, and versions with the newest first. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { routes } from "../../../src/sources/go-modules/api.ts";
import { stores } from "../../postgres.ts";
import { IndexRig } from "./index-rig.ts";

interface Page<R> {
  results: R[];
  next: string | null;
  fresh_at: string | null;
}

interface Shown {
  repository: string;
  versions: number;
  newest: { path: string; version: string; published_at: string } | null;
}

describe.each(stores)("what is paged through, on $store", ({ open }) => {
  let rig: IndexRig;
  const auth = "github.com/acme/auth";
  const names = ["acme/auth", "acme/Billing", "acme/cache", "acme-labs/auth", "other/x"];

  beforeAll(async () => {
    rig = await IndexRig.open(open);
  });
  /** Five repositories, the first with two modules; its newest version is deleted. */
  beforeEach(async () => {
    await rig.reset();
    await rig.db.query(sql`
      insert into go_modules.repository (resource_id, host, node_id, name, root, pushed_at, is_fork, is_archived, is_disabled, is_private, has_go, tags, listing_no)
      select i, 'github.com', 'R_' || i, n, 'github.com/' || n, '2030-01-01T00:00:00Z', false, i = 2, false, false, true, i * 10, 1
        from unnest(${names}::text[]) with ordinality as r(n, i)`);
    await rig.db.query(sql`
      insert into go_modules.module (path, resource_id, at_home)
      select 'github.com/' || name, resource_id, true from go_modules.repository where name <> 'other/x'`);
    await rig.db.query(sql`
      insert into go_modules.module (path, resource_id, at_home) values (${`${auth}/otel`}, 1, true)`);
    for (const name of [`${auth}@v1.0.0`, `${auth}/otel@v0.1.0`, `${auth}@v1.1.0`, "github.com/acme/cache@v0.1.0"])
      await rig.publish(name);
    await rig.db.query(sql`update go_modules.version set resource_id = 3 where path like '%cache'`);
    await rig.db.query(
      sql`update go_modules.version set deleted_at = tidemark.now() where path = ${auth} and version = 'v1.1.0'`,
    );
  });

  const repositories = async (query = "") =>
    (await rig.json<Page<Shown>>(`/go/repositories${query}`)).results.map((r) => r.repository.slice(11));

  it("are repositories by name, with what there is of each and what it published last", async () => {
    const { results } = await rig.json<Page<Shown>>("/go/repositories");
    expect(results.map((r) => r.repository)).toEqual(
      ["acme-labs/auth", "acme/Billing", "acme/auth", "acme/cache", "other/x"].map((name) => `github.com/${name}`),
    );
    expect(results[2]).toEqual({
      repository: auth,
      resource_id: "1",
      key: "github.com/R_1",
      is_fork: false,
      is_archived: false,
      is_disabled: false,
      is_private: false,
      tags: 10,
      modules: 2,
      versions: 2,
      conflicts: 0,
      pushed_at: "2030-01-01T00:00:00.000000Z",
      fresh_at: null,
      newest: { path: `${auth}/otel`, version: "v0.1.0", published_at: expect.stringMatching(/Z$/) },
    });
    expect(results[4]).toMatchObject({ versions: 0, modules: 0, newest: null });
  });

  it("can be narrowed to an owner in whole parts, or to any part of a name", async () => {
    expect(await repositories("?prefix=github.com/acme")).toEqual(["acme/Billing", "acme/auth", "acme/cache"]);
    expect(await repositories("?q=AUTH")).toEqual(["acme-labs/auth", "acme/auth"]);
    expect(await repositories("?q=auth&prefix=github.com/acme")).toEqual(["acme/auth"]);
    expect(await repositories("?q=%25")).toEqual([]);
  });

  it.each(["repositories", "modules", "versions"])("come in pages that meet without a gap: %s", async (list) => {
    const whole = (await rig.json<Page<object>>(`/go/${list}`)).results;
    const pages: object[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: Page<object> = await rig.json(`/go/${list}?limit=2&after=${encodeURIComponent(next)}`);
      expect(page.results.length).toBeLessThanOrEqual(2);
      pages.push(...page.results);
      next = page.next;
    }
    expect(pages).toEqual(whole);
    expect(whole.length).toBeGreaterThan(3);
  });

  it("are modules by path, with whoever holds them and their newest version", async () => {
    const { results } = await rig.json<Page<{ path: string }>>("/go/modules?prefix=github.com/acme");
    expect(results).toMatchObject([
      { path: "github.com/acme/Billing", repository: "github.com/acme/Billing", versions: 0, newest: null },
      { path: auth, repository: auth, versions: 1, newest: { version: "v1.0.0" } },
      { path: `${auth}/otel`, repository: auth, versions: 1, newest: { version: "v0.1.0" } },
      { path: "github.com/acme/cache", versions: 1, newest: { version: "v0.1.0" } },
    ]);
    expect((await rig.json<Page<object>>("/go/modules?q=OTEL")).results).toHaveLength(1);
  });

  it("are versions, the newest first, of everything or of one module, repository or owner", async () => {
    const versions = async (query = "") =>
      (await rig.json<Page<{ path: string; version: string }>>(`/go/versions${query}`)).results.map(
        (v) => `${v.path.slice(16)}@${v.version}`,
      );
    expect(await versions()).toEqual(["cache@v0.1.0", "auth@v1.1.0", "auth/otel@v0.1.0", "auth@v1.0.0"]);
    expect(await versions(`?path=${auth}`)).toEqual(["auth@v1.1.0", "auth@v1.0.0"]);
    expect(await versions(`?repository=${auth}`)).toEqual(["auth@v1.1.0", "auth/otel@v0.1.0", "auth@v1.0.0"]);
    expect(await versions(`?prefix=${auth}/otel`)).toEqual(["auth/otel@v0.1.0"]);
    expect(await versions("?path=nobody.example/x")).toEqual([]);
    const { results } = await rig.json<Page<object>>(`/go/versions?path=${auth}&limit=1`);
    expect(results).toEqual([
      {
        path: auth,
        version: "v1.1.0",
        repository: auth,
        tag: "v1.1.0",
        commit_oid: `commit of ${auth}@v1.1.0`,
        published_at: expect.any(String),
        deleted_at: expect.any(String),
        moved_at: null,
        moved_oid: null,
      },
    ]);
  });

  it.each([
    "/go/repositories?limit=0",
    "/go/repositories?after=x",
    "/go/modules?after=a@b",
    "/go/versions?after=yesterday",
    "/go/versions?prefix=not%20a%20path",
    `/go/modules?q=${"x".repeat(201)}`,
  ])("answer 400 and a sentence to %s", async (path) => {
    const answer = await rig.get(path);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(
      /limit is a whole number|after is what the page before gave|prefix=|200 at most/,
    );
  });

  it("are all described, with every field that they answer with", async () => {
    const app = new OpenAPIHono();
    routes(app as unknown as Hono, { read: rig.db });
    app.doc31("/openapi.json", { openapi: "3.1.0", info: { title: "", version: "" } });
    const { paths } = (await (await app.request("/openapi.json")).json()) as Described;
    const lists = ["repositories", "modules", "versions", "moved", "conflicts"];
    expect(Object.keys(paths).sort()).toEqual(["index", "status", ...lists].map((name) => `/go/${name}`).sort());
    for (const list of ["repositories", "modules", "versions"]) {
      const { properties } = paths[`/go/${list}`]!.get.responses[200].content["application/json"]!.schema;
      const told = (await rig.json<Page<object>>(`/go/${list}`)).results[0]!;
      expect(Object.keys(properties.results!.items!.properties).sort()).toEqual(Object.keys(told).sort());
    }
  });
});

interface Schema {
  properties: Record<string, { items?: Schema }>;
}

interface Described {
  paths: Record<string, { get: { responses: { 200: { content: Record<string, { schema: Schema }> } } } }>;
}
