/** A host that was looked up ahead of its call, and leave that is asked for when its connection stands. */
import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import { TidemarkError } from "../../src/errors.ts";
import { v4 } from "./outbound-hostile.ts";
import { client, closeAll, failureOf, webServer } from "./outbound-rig.ts";

afterEach(closeAll);
const { signal } = new AbortController();

describe("what was found ahead of a call", () => {
  it("is where it goes, and is not looked up again", async () => {
    const good = await webServer(undefined, "127.0.0.2");
    let asked = 0;
    const resolve = async () => [v4(asked++ === 0 ? "127.0.0.2" : "127.0.0.1")];
    const guarded = client({ allow_private: ["127.0.0.2"], resolve });
    const url = `http://turning.example:${good.port}/`;
    const found = await guarded.find(url, signal);
    expect((await guarded.call(url, { found })).record.remote_address).toBe("127.0.0.2");
    expect(asked).toBe(1);
  });

  it("is guarded like a call", async () => {
    const guarded = client({ allow_private: [], resolve: async () => [v4("10.0.0.1")] });
    for (const url of ["http://inner.example/", "http://0x7f.1/", "http://127.0.0.1:25/"])
      expect(await failureOf(guarded.find(url, signal))).toMatchObject({ code: "OutboundForbidden" });
  });

  it("counts only where this client found it, and for the host that it was found for", async () => {
    const server = await webServer();
    const resolve = async (name: string) => [v4(name === "good.example" ? "127.0.0.1" : "10.0.0.1")];
    const guarded = client({ allow_private: ["127.0.0.1"], resolve });
    const bad = `http://bad.example:${server.port}/`;
    const forged = { origin: new URL(bad).origin, addresses: [v4("127.0.0.1")], through_proxy: false };
    const other = await guarded.find(`http://good.example:${server.port}/`, signal);
    for (const found of [forged, other])
      expect(await failureOf(guarded.call(bad, { found }))).toMatchObject({ code: "OutboundForbidden" });
    expect(server.connections).toHaveLength(0);
  });

  it("counts for the first request alone", async () => {
    const moved = await webServer((_, response) => void response.writeHead(307, { location: "/again" }).end());
    let asked = 0;
    const resolve = async () => [v4(asked++ === 0 ? "127.0.0.1" : "10.0.0.1")];
    const guarded = client({ allow_private: ["127.0.0.1"], resolve });
    const url = `http://turning.example:${moved.port}/`;
    const found = await guarded.find(url, signal);
    const error = await failureOf(guarded.call(url, { found, redirects: { follow: "any" } }));
    expect([error.code, asked, moved.requests.length]).toEqual(["OutboundForbidden", 2, 1]);
  });
});

describe("leave to send", () => {
  it("is asked for when the connection stands, before each request is written", async () => {
    const server = await webServer((request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "/there" }).end();
      else response.end("there");
    });
    const asked: { path: string; sent: number; connections: number; requests: number }[] = [];
    await client().call(`${server.url}/`, {
      redirects: { follow: "any" },
      admit: async ({ url, sent }) => {
        const { connections, requests } = server;
        asked.push({ path: url.pathname, sent, connections: connections.length, requests: requests.length });
      },
    });
    expect(asked).toMatchObject([
      { path: "/", sent: 0, requests: 0 },
      { path: "/there", sent: 1, connections: 1, requests: 1 },
    ]);
  });

  it("that is not given ends the call unsent, with its own error and its own wait", async () => {
    const server = await webServer();
    const admit = async () => {
      throw new TidemarkError("UpstreamBusy", "not now", { wait_ms: 7_000 });
    };
    const caller = client();
    expect(await failureOf(caller.call(server.url, { admit }))).toMatchObject({ code: "UpstreamBusy", wait_ms: 7_000 });
    expect(server.requests).toHaveLength(0);
    expect((await caller.call(server.url)).status).toBe(200);
  });

  it("is asked for again on another connection when the first was closed meanwhile", async () => {
    const server = await webServer();
    const ours: Socket[] = [];
    const made = (message: unknown) => void ours.push((message as { socket: Socket }).socket);
    diagnostics.subscribe("net.client.socket", made);
    let asked = 0;
    const admit = async () => {
      asked += 1;
      if (asked > 1) return;
      const closed = once(ours[0]!, "close");
      while (server.connections.length === 0) await realClock.sleep(1);
      server.connections[0]!.socket.destroy();
      await closed;
    };
    expect((await client().call(server.url, { admit })).status).toBe(200);
    diagnostics.unsubscribe("net.client.socket", made);
    expect([asked, server.requests.length, server.connections.length]).toEqual([2, 1, 2]);
  });
});
