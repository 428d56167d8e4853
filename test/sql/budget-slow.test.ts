/** Names, connections, redirects and databases that are slow: no stretch of time holds more than was declared, and every call is made in the end. */
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Budget, Upstream } from "../../src/index.ts";
import type { Db } from "../../src/store/db.ts";
import { overspent } from "../../src/testing/replay.ts";
import { certificate, key } from "../flows/outbound-certificate.ts";
import { testEmbedded } from "../postgres.ts";
import { CallRig, codeOf } from "./call-rig.ts";

let rig: CallRig;
beforeAll(async () => {
  rig = new CallRig((await testEmbedded({ thread: false })).db);
});
beforeEach(() => rig.reset(3));
afterEach(() => rig.end());

const pace = { shape: "pace", per_second: 5, burst: 2 } as const;
const calls = () => rig.upstream.requests.map(({ at_ms }) => ({ at_ms, cost: 1 }));

/** One call each so many milliseconds, from one process after the other, until the time is over. */
async function flow(u: Upstream, every_ms: number, ms: number): Promise<string[]> {
  const begun = [];
  for (let n = 0; n * every_ms < ms; n += 1) {
    begun.push(rig.begin(u, {}, BigInt(n), n % 3));
    await rig.clock.advance(every_ms);
  }
  return (await rig.ended(...begun)).map(codeOf);
}

it("calls whose host takes four seconds to find go out no faster than declared", async () => {
  const resolve = async () => {
    await rig.clock.sleep(4_000);
    return [{ address: "127.0.0.1", family: 4 as const }];
  };
  await rig.restart({}, rig.db, { resolve });
  rig.origin = rig.upstream.url.replace("127.0.0.1", "slow.example");
  const outcomes = await flow({ name: "u", budget: pace }, 100, 9_000);
  expect(new Set(outcomes)).toEqual(new Set(["answer", "UpstreamBusy"]));
  expect(rig.calls).toBeGreaterThan(3);
  expect(overspent(calls(), pace)).toBeNull();
});

describe("calls to a host that takes three seconds to accept a connection", () => {
  let sent: { at_ms: number; cost: number }[];
  let end: () => Promise<void>;

  beforeEach(async () => {
    sent = [];
    const sockets: Socket[] = [];
    const secure = createServer({ key, cert: certificate }, (_, response) => {
      sent.push({ at_ms: rig.clock.elapsed_ms(), cost: 1 });
      response.setHeader("connection", "close");
      response.end("well");
    });
    const slow = createTcpServer(async (socket) => {
      sockets.push(socket.on("error", () => undefined));
      await rig.clock.waiting(rig.clock.sleep(3_000), "call");
      secure.emit("connection", socket);
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
    await rig.restart({}, rig.db, { resolve, ca: certificate });
    rig.origin = `https://secure.example:${(slow.address() as AddressInfo).port}`;
    end = async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => slow.close(resolve));
    };
  });
  afterEach(() => end());

  it("go out no faster than declared", async () => {
    const outcomes = await flow({ name: "u", budget: pace }, 100, 6_000);
    expect(outcomes).toContain("answer");
    expect(sent.length).toBeGreaterThan(5);
    expect(overspent(sent, pace)).toBeNull();
  });

  it("are not made when it was closed meanwhile", async () => {
    const u: Upstream = { name: "u", budget: { shape: "pace", per_second: 100, burst: 200 } };
    const late = rig.begin(u);
    await rig.clock.advance(1_000);
    rig.origin = null;
    rig.answer = () => ({ status: 429, headers: { "retry-after": "60" } });
    await rig.call(u, {}, 1n, 1);
    expect((await rig.ended(late)).map(codeOf)).toEqual(["UpstreamBusy"]);
    expect(sent).toEqual([]);
  });
});

it.each<[string, Budget]>([
  ["pace", pace],
  ["window", { shape: "window", most: 5, period_ms: 2_000 }],
])("redirects are calls of their own, and wait for their turn in a %s", async (_, budget) => {
  rig.answer = ({ path }) => (path === "/" ? { status: 302, headers: { location: "/there" } } : { body: "well" });
  const u: Upstream = { name: "u", budget };
  const all = await rig.ended(
    ...Array.from({ length: 6 }, (_, i) => rig.begin(u, { redirects: "any" }, BigInt(i), i % 3)),
  );
  expect(all.map(codeOf)).toContain("answer");
  expect(overspent(calls(), budget)).toBeNull();
});

describe("on a database that answers late", () => {
  let takes: number;
  const slowDown = async (ms: number) => {
    takes = 0;
    const query: Db["query"] = async (statement, options) => {
      if (!statement.text.includes("tidemark.take(")) return rig.db.query<never>(statement, options);
      takes += 1;
      // Half of it on the way there, half on the way back.
      await rig.clock.sleep(ms / 2);
      const result = await rig.db.query<never>(statement, options);
      await rig.clock.sleep(ms / 2);
      return result;
    };
    await rig.restart({}, Object.assign(Object.create(rig.db) as Db, { query }));
  };

  it.each<[string, number, Budget]>([
    ["a burst of one", 150, { shape: "pace", per_second: 1, burst: 1 }],
    ["a burst of one, very late", 3_000, { shape: "pace", per_second: 1, burst: 1 }],
    ["a pace", 900, { shape: "pace", per_second: 20, burst: 40 }],
    ["a window", 2_000, { shape: "window", most: 5, period_ms: 1_000 }],
  ])("a call is made after a few takes, and never too many are: %s", async (_, ms, budget) => {
    await slowDown(ms);
    const u: Upstream = { name: "u", budget };
    for (let n = 0; n < 6; n += 1) {
      takes = 0;
      const codes = (await rig.ended(...[0, 1, 2].map((p) => rig.begin(u, {}, BigInt(p), p)))).map(codeOf);
      expect(takes).toBeLessThan(30);
      if (n === 0) expect(codes).toContain("answer");
      await rig.clock.advance(2_000 + 4 * ms);
    }
    expect(rig.calls).toBeGreaterThan(2);
    expect(overspent(calls(), budget)).toBeNull();
  });
});
