/** The HTTP API from follow to status, as its description says, with keys of every shape. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Context, Source } from "../../src/index.ts";
import { createApp, createHealthApp } from "../../src/server/app.ts";
import { listen } from "../../src/server/listen.ts";
import { list_shape, overview_shape, resource_shape, source_shape } from "../../src/server/shapes.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { json, ServerRig } from "./server-rig.ts";

let server: ServerRig;
let context: Context;

function source(): Source {
  const page = toyKind({
    // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
    async *pull({ resource: { key } }) {
      if (key === "bad") throw new Error("it does not work");
      return undefined;
    },
  });
  return {
    ...toySource({ page }),
    describe: ({ key }) => `the page ${key}`,
    follow: (text) => (text.startsWith("!") ? "A page does not begin with !." : { kind: "page", key: text }),
    routes: (routes, given) => {
      context = given;
      routes.get("/toy/count", async (c) => c.json((await given.read.query(sql`select 1 as one`)).rows));
      routes.get("/toy/write", async (c) => c.json((await given.read.query(sql`delete from tidemark.due`)).rows));
    },
  };
}

beforeAll(async () => {
  server = await ServerRig.open();
});
beforeEach(() => server.reset(source()));
afterEach(() => server.end());

const get = (path: string) => server.get(path);
const post = (path: string, body?: unknown) => server.post(path, body);
const follow = (key: string, more = {}) => server.follow(key, more);
const errorOf = async (response: Response) => ({ status: response.status, ...((await response.json()) as object) });

describe("status", () => {
  it("is as its description says", async () => {
    await follow("a");
    await follow("bad");
    await server.pulled();
    const all = overview_shape.strict().parse(await (await get("/api/status")).json());
    expect(all).toMatchObject({
      database: "postgres",
      version: "1.2.3",
      sources: [{ source: "toy", followed: 2, resources: 2 }],
    });
    const one = source_shape.strict().parse(await (await get("/api/sources/toy")).json());
    expect(one).toMatchObject({ kinds: ["page"], upstreams: [{ upstream: "toy.example" }] });
    const list = list_shape.strict().parse(await (await get("/api/resources?source=toy&q=BA&limit=5")).json());
    expect(list.resources.map((r) => r.key)).toEqual(["bad"]);
    const bad = (await (await get("/api/resources/toy/page/bad")).json()) as Record<string, unknown>;
    resource_shape.parse(bad);
    expect(bad).toMatchObject({ description: "the page bad", failures: 1, next: { because: "retry" } });
    expect(typeof bad.resource_id).toBe("string");
  });

  it("tells a mistake with a code and a sentence", async () => {
    expect(await errorOf(await get("/api/sources/something"))).toMatchObject({
      status: 404,
      error: { code: "NotFollowed", sentence: 'There is no source "something"; there are: toy.' },
    });
    expect(await errorOf(await get("/api/resources?limit=1000"))).toMatchObject({
      status: 400,
      error: { code: "InputInvalid" },
    });
    expect((await get("/api/resources?status=odd")).status).toBe(400);
    expect((await get("/api/resources/toy/page/none")).status).toBe(404);
    expect(await errorOf(await get("/nothing/here"))).toMatchObject({ status: 404, error: { code: "InputInvalid" } });
  });

  it("does not tell a caller what nobody foresaw", async () => {
    const broken = createApp({
      ...server.parts,
      checkSchema: async () => {},
      db: { ...server.parts.db, kind: "postgres", query: () => Promise.reject(new Error("password=hunter2")) } as never,
    });
    const response = await broken.request("http://localhost/api/status");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("hunter2");
    expect(server.rig.surprises.splice(0)).toEqual(["password=hunter2"]);
  });
});

describe("changes", () => {
  it("follow, pause, resume, refresh and unfollow", async () => {
    expect(await (await follow("a")).json()).toEqual({ source: "toy", kind: "page", key: "a" });
    await server.pulled();
    expect((await post("/api/resources/toy/page/a/pause")).status).toBe(200);
    expect(await server.rig.statuses()).toEqual({ a: "paused" });
    expect(await errorOf(await post("/api/resources/toy/page/a/refresh"))).toMatchObject({ status: 400 });
    expect((await post("/api/resources/toy/page/a/resume")).status).toBe(200);
    expect(await server.rig.statuses()).toEqual({ a: "due" });
    expect((await post("/api/resources/toy/page/a/refresh")).status).toBe(200);
    expect(await (await post("/api/unfollow", { source: "toy", key: "a" })).json()).toMatchObject({ gone: 1 });
    expect((await post("/api/unfollow", { source: "toy", key: "a" })).status).toBe(404);
  });

  it("repeat what the source says is wrong, and what is not an option", async () => {
    expect(await errorOf(await follow("!x"))).toMatchObject({
      status: 400,
      error: { sentence: "A page does not begin with !." },
    });
    expect((await follow("a", { options: { every: "1h" } })).status).toBe(400);
    expect((await follow("a", { opptions: {} })).status).toBe(400);
    expect((await follow("")).status).toBe(400);
    expect((await follow("x".repeat(2000))).status).toBe(400);
    expect(await errorOf(await post("/api/follow", { source: "tyo", key: "a" }))).toMatchObject({
      status: 400,
      error: { sentence: 'There is no source "tyo"; there are: toy. Did you mean "toy"?' },
    });
  });

  it("refuse bodies that are too long, and those that are no JSON", async () => {
    expect((await follow("x".repeat(100_000))).status).toBe(413);
    const response = await server.app.request("http://localhost/api/follow", {
      method: "POST",
      headers: json,
      body: "{",
    });
    expect(await errorOf(response)).toMatchObject({ status: 400, error: { code: "InputInvalid" } });
  });
});

describe("keys", () => {
  const odd = [
    "a/b",
    "a%2Fb",
    "https://example.com/?q=1&r=%20#x",
    "ä ö+%",
    "100%",
    "a\\b",
    "..%2f..",
    "日本",
    "a;b=c",
    "%",
    "'\"<script>",
  ];

  it.each(odd)("like %s are one segment of a path, over a real connection too", async (key) => {
    expect((await follow(key)).status).toBe(200);
    const path = `/api/resources/toy/page/${encodeURIComponent(key)}`;
    expect(await (await get(path)).json()).toMatchObject({ key });
    const listening = await listen(server.app, "127.0.0.1", 0, server.rig.clock);
    try {
      expect(await (await fetch(`${listening.url}${path}`)).json()).toMatchObject({ key });
      const paused = await fetch(`${listening.url}${path}/pause`, { method: "POST", headers: json });
      expect(paused.status).toBe(200);
      expect(await server.rig.statuses()).toEqual({ [key]: "paused" });
    } finally {
      await listening.close();
    }
  });
});

describe("what else is served", () => {
  it("a source's own routes, which can read and not write, and note views", async () => {
    expect(await (await get("/toy/count")).json()).toEqual([{ one: 1 }]);
    expect((await get("/toy/write")).status).toBe(500);
    server.rig.surprises = [];
    await follow("a");
    await server.pulled();
    context.viewed("toy", { kind: "page", key: "a" });
    await server.parts.views.flush();
    expect(await server.rig.rows(sql`select viewed_at is not null as viewed from tidemark.resource`)).toEqual([
      { viewed: true },
    ]);
    await context.touch("toy", { kind: "page", key: "a" });
    expect(await server.rig.statuses()).toEqual({ a: "due" });
  });

  it("a description of every route of the API", async () => {
    const doc = (await (await get("/openapi.json")).json()) as { paths: Record<string, unknown> };
    expect(Object.keys(doc.paths).sort()).toEqual([
      "/api/budgets",
      "/api/demo",
      "/api/demo/{action}",
      "/api/events",
      "/api/follow",
      "/api/history",
      "/api/leases",
      "/api/messages",
      "/api/messages/{resource_id}/{seq}/retry",
      "/api/resources",
      "/api/resources/{source}/{kind}/{key}",
      "/api/resources/{source}/{kind}/{key}/pause",
      "/api/resources/{source}/{kind}/{key}/refresh",
      "/api/resources/{source}/{kind}/{key}/resume",
      "/api/sources/{source}",
      "/api/sources/{source}/rebuild",
      "/api/status",
      "/api/unfollow",
    ]);
  });

  it("metrics of this process and of the whole, and health in every role", async () => {
    await follow("a");
    await server.pulled();
    await follow("b");
    const text = await (await get("/metrics")).text();
    expect(text).toContain('tidemark_pulls_total{source="toy",kind="page",outcome="fresh"} 1');
    expect(text).toContain('tidemark_due_resources{source="toy",lane="page",upstream="toy.example",urgency="asked"} 1');
    expect(text).toContain("tidemark_workers 0");
    expect(text).toContain('tidemark_breakers{is="open"} 0');
    const small = createHealthApp({ ...server.parts, checkSchema: () => Promise.reject(new Error("too old")) });
    expect((await small.request("http://localhost/healthz")).status).toBe(200);
    expect((await small.request("http://localhost/readyz")).status).toBe(503);
    expect((await small.request("http://localhost/metrics")).status).toBe(200);
    expect((await small.request("http://localhost/api/status")).status).toBe(404);
    expect((await get("/readyz")).status).toBe(200);
  });
});
