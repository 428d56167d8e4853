/** From parked back to fresh because somebody looked: a request, the noted view, one more try by a worker. */
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Source } from "../../src/index.ts";
import { settings } from "../sql/rig.ts";
import { toyKind, toySource } from "../sql/toy.ts";
import { ServerRig } from "./server-rig.ts";

let server: ServerRig;
let broken: boolean;
let pulls: number;

function source(): Source {
  const page = toyKind({
    // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
    async *pull() {
      pulls += 1;
      if (broken) throw new Error("it does not work");
      return undefined;
    },
  });
  return {
    ...toySource({ page }),
    routes: (routes, { viewed }) =>
      void routes.get("/toy/pages/:key", (c) => {
        viewed("toy", { kind: "page", key: c.req.param("key") });
        return c.text("what the mirror has");
      }),
  };
}

beforeAll(async () => {
  server = await ServerRig.open();
});
beforeEach(async () => {
  broken = true;
  pulls = 0;
  await server.reset(source());
});
afterEach(() => server.end());

it("what is parked is tried once more when a person looks at it, and is well again if that succeeds", {
  timeout: 300_000,
}, async () => {
  const { rig } = server;
  const status = async () =>
    ((await (await server.get("/api/resources/toy/page/a")).json()) as { status: string }).status;
  await server.follow("a");
  rig.start();
  const views = new AbortController();
  const noting = server.parts.views.run(views.signal);
  await rig.clock.until(async () => (await rig.resource("a")).status === "parked", 86_400_000);
  expect(pulls).toBe(settings.park_after);
  await rig.clock.advance(60_000);
  expect(pulls).toBe(settings.park_after);
  // Looking at its status is no view: whoever watches over the fleet must not bring back what it parked.
  expect(await status()).toBe("parked");
  await server.get("/toy/pages/a");
  await rig.clock.until(() => pulls === settings.park_after + 1, 60_000);
  await rig.clock.until(async () => (await rig.resource("a")).status === "parked", 60_000);
  broken = false;
  await rig.clock.advance(120_000);
  // It has had its one try; a second view does not bring it back, a person's refresh does.
  await server.get("/toy/pages/a");
  await rig.clock.advance(60_000);
  expect(pulls).toBe(settings.park_after + 1);
  await server.post("/api/resources/toy/page/a/refresh");
  await rig.clock.until(async () => (await status()) === "waiting", 60_000);
  views.abort();
  await noting;
});

it("what is well again when a person looks at what is parked is fresh within half a minute", async () => {
  const { rig } = server;
  await server.follow("a");
  rig.start();
  const views = new AbortController();
  const noting = server.parts.views.run(views.signal);
  await rig.clock.until(async () => (await rig.resource("a")).status === "parked", 86_400_000);
  broken = false;
  await server.get("/toy/pages/a");
  await rig.clock.advance(30_000);
  expect(await rig.resource("a")).toMatchObject({ status: "waiting", failures: 0, reason: null, error: null });
  views.abort();
  await noting;
});
