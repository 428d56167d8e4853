/** What the server gives the dashboard: its files under a strict policy, the past, places in line, leases, and the demo's actions. */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { Claims } from "../../src/engine/claims.ts";
import { Housekeeping } from "../../src/engine/housekeeping.ts";
import { createApp } from "../../src/server/app.ts";
import { dashboardRoutes } from "../../src/server/dashboard.ts";
import { newApp } from "../../src/server/parts.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { json, ServerRig } from "./server-rig.ts";

let server: ServerRig;

beforeAll(async () => {
  server = await ServerRig.open();
});
beforeEach(() => server.reset(toySource({ page: toyKind() })));
afterEach(() => server.end());

const read = async <T>(path: string): Promise<T> => (await (await server.get(path)).json()) as T;

describe("the files of the dashboard", () => {
  async function built() {
    const folder = path.join(inject("scratch"), randomUUID());
    await mkdir(path.join(folder, "assets"), { recursive: true });
    await writeFile(path.join(folder, "index.html"), "<!doctype html>");
    await writeFile(path.join(folder, "assets", "main-1.js"), "let a;");
    await writeFile(path.join(folder, "secret.txt"), "not for you");
    const app = newApp();
    dashboardRoutes(app, folder);
    return (at: string, headers: Record<string, string> = {}) => app.request(`http://localhost${at}`, { headers });
  }

  it("come under a policy that allows nothing inline and nothing from elsewhere", async () => {
    const response = await (await built())("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|http|\*|data:/);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toBe("<!doctype html>");
  });

  it("come packed to those who can unpack them, and are kept by their name", async () => {
    const get = await built();
    const packed = await get("/assets/main-1.js", { "accept-encoding": "gzip, br" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("cache-control")).toMatch(/immutable/);
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe("let a;");
    const again = await get("/", { "if-none-match": (await get("/")).headers.get("etag")! });
    expect(again.status).toBe(304);
  });

  it.each(["/assets/..%2fsecret.txt", "/assets/../secret.txt", "/assets/none.js", "/assets/", "/secret.txt"])(
    "are only those that were built, not %s",
    async (at) => {
      expect((await (await built())(at)).status).toBe(404);
    },
  );

  it("say what to do where nothing was built", async () => {
    const app = newApp();
    dashboardRoutes(app, path.join(inject("scratch"), "nothing"));
    const response = await app.request("http://localhost/");
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("npm run build");
  });
});

describe("off loopback", () => {
  it("the page comes without a token, which it then asks for, and nothing else does", async () => {
    const settings = { host: "0.0.0.0", admin_token: "a".repeat(20), read_token: "r".repeat(20) };
    const app = createApp({ ...server.parts, settings });
    const status = async (at: string) => (await app.request(`http://example.com${at}`)).status;
    expect(await status("/")).not.toBe(401);
    expect(await status("/assets/none.js")).toBe(404);
    for (const at of ["/api/status", "/api/history", "/api/leases", "/api/demo", "/api/events", "/assets", "//"])
      expect(await status(at), at).toBe(401);
  });
});

describe("the past", () => {
  interface Past {
    step_ms: number;
    moments: string[];
    sources: { source: string; pulls: number[]; fresh_percent: (number | null)[]; due: (number | null)[] }[];
  }

  it("has the pulls of each minute and how much was fresh, with nothing where nothing was noted", async () => {
    await server.follow("a");
    await server.pulled();
    const housekeeping = new Housekeeping(server.rig);
    await housekeeping.turn();
    await server.follow("b");
    // Not twice in a minute: it would count the new one.
    await housekeeping.turn();
    const { step_ms, moments, sources } = await read<Past>("/api/history");
    expect(step_ms).toBe(60_000);
    expect(moments).toHaveLength(61);
    const [toy] = sources;
    expect(toy).toMatchObject({ source: "toy" });
    expect(toy!.pulls.reduce((a, b) => a + b)).toBe(1);
    expect(toy!.fresh_percent.filter((n) => n !== null)).toEqual([100]);
    expect(toy!.due.filter((n) => n !== null)).toEqual([0]);
    await server.rig.clock.advance(60_000);
    await housekeeping.turn();
    const later = (await read<Past>("/api/history")).sources[0]!;
    expect(later.fresh_percent.filter((n) => n !== null)).toEqual([100, 50]);
  });

  it("is told in wider steps over longer times, and forgotten after seven days", async () => {
    await server.follow("a");
    const housekeeping = new Housekeeping(server.rig);
    await housekeeping.turn();
    const week = await read<Past>("/api/history?hours=168");
    expect(week.moments.length).toBeLessThanOrEqual(182);
    expect(week.sources[0]!.due.filter((n) => n !== null)).toEqual([1]);
    await server.rig.clock.advance(8 * 86_400_000);
    await housekeeping.turn();
    const left = await server.rig.rows(sql`select count(*)::int as n from tidemark.freshness`);
    expect(left).toEqual([{ n: 1 }]);
    expect((await server.get("/api/history?hours=169")).status).toBe(400);
  });
});

describe("the line", () => {
  it("has a place for each that is due, in the order in which they are pulled, and none for the others", async () => {
    await server.follow("first");
    await server.pulled();
    for (const key of ["c", "b", "a"]) {
      await server.follow(key);
      await server.rig.clock.advance(1_000);
    }
    const { resources } = await read<{ resources: { key: string; place: number | null }[] }>(
      "/api/resources?source=toy",
    );
    const places = Object.fromEntries(resources.map(({ key, place }) => [key, place]));
    expect(places).toEqual({ first: null, c: 1, b: 2, a: 3 });
    for (const key of ["c", "b", "a"]) {
      const one = await read<{ line: { place: number } }>(`/api/resources/toy/page/${key}`);
      expect(one.line.place).toBe(places[key]);
    }
  });
});

describe("leases", () => {
  it("are listed by worker with what they are on, while they live", async () => {
    await server.follow("a");
    await server.follow("b");
    const { db, lanes, clock } = server.rig;
    expect(await read("/api/leases")).toEqual({ leases: [] });
    const claims = new Claims({ db, lanes, clock, slots: 100 });
    await claims.next(1, { busy: () => 0, asked: 0 }, { worker_id: 1, ttl_ms: 30_000 });
    expect(await read("/api/leases")).toMatchObject({
      leases: [{ worker_id: 1, source: "toy", kind: "page", key: "a", description: null }],
    });
    await clock.advance(31_000);
    expect(await read("/api/leases")).toEqual({ leases: [] });
    await db.query(sql`update tidemark.due set lease_until = null`);
  });
});

describe("the demo", () => {
  it("has no actions where the upstreams are real, and says so", async () => {
    expect(await read("/api/demo")).toEqual({ actions: [], happened: [] });
    const response = await server.post("/api/demo/push-tag");
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("tidemark up --demo");
  });

  it("does what it is told, and says what it can where it cannot", async () => {
    const actions = [{ action: "wave", title: "Wave", says: "It waves." }];
    const demo = { actions, happened: () => [], act: (name: string) => (name === "wave" ? "It waved." : null) };
    const app = createApp({ ...server.parts, demo });
    const post = (action: string) =>
      app.request(`http://localhost/api/demo/${action}`, { method: "POST", headers: json, body: "{}" });
    expect(await (await post("wave")).json()).toEqual({ sentence: "It waved." });
    const unknown = await post("jump");
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toContain("there are: wave");
  });
});
