/** Whoever is named by the hook is told what is parked, and can neither hinder nor break anything here. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { realClock } from "./clock.ts";
import { Events } from "./events.ts";
import { startParkedHook } from "./parked-hook.ts";
import { VirtualClock } from "./testing/virtual-clock.ts";

let server: Server;
let got: { path: string; authorization: string | undefined; body: Record<string, unknown> }[];
let answer: (end: () => void) => void;
let warnings: string[];
const warn = (warning: Error) => warnings.push(warning.message);
const parked = { source: "toy", kind: "page", key: "a", reason: "it is down", failures: 8 };

beforeEach(async () => {
  got = [];
  warnings = [];
  answer = (end) => end();
  process.on("warning", warn);
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      got.push({ path: request.url!, authorization: request.headers.authorization, body: JSON.parse(text) });
      answer(() => response.end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  process.off("warning", warn);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const url = (rest = "/hook/secret?x=1") => `http://127.0.0.1:${(server.address() as AddressInfo).port}${rest}`;

it("tells of resources and messages, and of nothing after it was stopped", async () => {
  const events = new Events();
  const hook = startParkedHook(url(), events, realClock);
  events.emit("parked", parked);
  events.emit("message_parked", { source: "toy", kind: "page", key: "b", message_id: 7n, reason: "poison", tries: 5 });
  await hook.stop();
  events.emit("parked", parked);
  expect(got.map(({ path, body }) => [path, body.event, body.key]).toSorted()).toEqual([
    ["/hook/secret?x=1", "message_parked", "b"],
    ["/hook/secret?x=1", "parked", "a"],
  ]);
  expect(got.find(({ body }) => body.event === "parked")!.body).toMatchObject({
    sentence: "toy page a is parked after 8 failures: it is down",
    reason: "it is down",
  });
});

it("sends what stands before an @ as credentials, and not in the address", async () => {
  const events = new Events();
  const hook = startParkedHook(url().replace("://", "://user:word@"), events, realClock);
  events.emit("parked", parked);
  await hook.stop();
  const basic = `Basic ${Buffer.from("user:word").toString("base64")}`;
  expect(got).toMatchObject([{ path: "/hook/secret?x=1", authorization: basic }]);
});

it("gives up on one that does not answer", async () => {
  const clock = new VirtualClock();
  const events = new Events();
  const heard = new Promise<void>((resolve) => {
    answer = () => resolve();
  });
  const hook = startParkedHook(url(), events, clock);
  events.emit("parked", parked);
  await heard;
  await clock.advance(10_000);
  await hook.stop();
  expect(got).toHaveLength(1);
});

it("does not mind an address where nobody is, and does not repeat the address", async () => {
  const events = new Events();
  const hook = startParkedHook("http://127.0.0.1:1/hook/secret", events, realClock);
  events.emit("parked", parked);
  await hook.stop();
  await realClock.sleep(0);
  expect(warnings.join()).toContain("TIDEMARK_PARKED_HOOK");
  expect(warnings.join()).not.toContain("secret");
});

it("sends at most a hundred at once", async () => {
  const events = new Events();
  const hook = startParkedHook(url(), events, realClock);
  for (let n = 0; n < 150; n += 1) events.emit("parked", parked);
  await hook.stop();
  expect(got).toHaveLength(100);
});
