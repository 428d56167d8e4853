/** Calls outside of pulls spend a share, and the API shows every budget as its description says. */
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Source } from "../../src/index.ts";
import { budgets_shape } from "../../src/server/budget-shapes.ts";
import { type PretendUpstream, pretendUpstream } from "../../src/testing/upstream.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { ServerRig } from "./server-rig.ts";

let server: ServerRig;
let pretend: PretendUpstream;
const upstream = {
  name: "embeddings",
  budgets: { tokens: { shape: "window", most: 100, period_ms: 60_000 } },
  shares: { search: 0.2, init: 0.8 },
} as const;

beforeAll(async () => {
  server = await ServerRig.open();
});
beforeEach(async () => {
  const source: Source = {
    ...toySource({ page: toyKind() }),
    upstreams: [upstream, { name: "plain", budget: { shape: "pace", per_second: 5, burst: 5 } }],
    routes: (app, { upstream: calls }) => {
      app.get("/ask/:name", async (c) => {
        const name = c.req.param("name");
        const asked = name === "plain" ? calls(name) : calls(name, "search");
        const answer = await asked.fetch(pretend.url, { cost: name === "plain" ? 1 : 10 });
        return c.text(answer.text());
      });
    },
  };
  await server.reset(source);
  pretend = await pretendUpstream(server.rig.clock, () => ({ body: "embedded" }));
});
afterEach(async () => {
  await server.end();
  await pretend.close();
});

it("a route calls an upstream that its source declares, in the share it names", async () => {
  for (let n = 0; n < 2; n += 1) expect(await (await server.get("/ask/embeddings")).text()).toBe("embedded");
  const busy = await server.get("/ask/embeddings");
  expect([busy.status, (await busy.text()).includes('share \\"search\\"')]).toEqual([503, true]);
  expect(Number(busy.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(pretend.requests).toHaveLength(2);
  expect((await server.get("/ask/elsewhere")).status).toBe(400);
});

it("/api/budgets shows what is used, left and kept, and who waits", async () => {
  for (let n = 0; n < 3; n += 1) await server.get("/ask/embeddings");
  const { budgets, breakers } = budgets_shape.strict().parse(await (await server.get("/api/budgets")).json());
  expect(breakers).toEqual([]);
  expect(budgets).toMatchObject([
    {
      budget: "embeddings/tokens",
      upstream: "embeddings",
      shape: "window",
      room: 100,
      used: 20,
      left: 80,
      reserved: 80,
    },
  ]);
  expect(budgets[0]!.shares).toMatchObject([
    { share: "search", used: 20, left: 0, waiting: true },
    { share: "init", used: 0, left: 80, waiting: false },
    { share: "", left: 0 },
  ]);
  const metrics = await (await server.get("/metrics")).text();
  expect(metrics).toContain('tidemark_budget_left{budget="embeddings/tokens"} 80');
  expect(metrics).toContain('tidemark_budget_waiting{budget="embeddings/tokens"} 1');
});

it("a pace without shares keeps nothing for any, and /metrics says so", async () => {
  await server.get("/ask/plain");
  const { budgets } = budgets_shape.strict().parse(await (await server.get("/api/budgets")).json());
  expect(budgets).toMatchObject([{ budget: "plain", shape: "pace", reserved: 0 }]);
  const metrics = await server.get("/metrics");
  expect(metrics.status).toBe(200);
  expect(await metrics.text()).toContain('tidemark_budget_reserved{budget="plain"} 0');
});
