/** The guard against real sockets: whatever leads to this machine or a private one, however it is spelt, nothing arrives there. */
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import { makeConnector } from "../../src/outbound/connector.ts";
import { answers, elsewhere, loopback, nonsense, v4 } from "./outbound-hostile.ts";
import { client, closeAll, failureOf, type Opened, rawServer, webServer } from "./outbound-rig.ts";

afterEach(closeAll);

let server: Opened;
beforeEach(async () => {
  server = await webServer();
});
const at = (text: string) => text.replaceAll(":P", `:${server.port}`);

it("is shown with more than a hundred ways to get there", () => {
  expect(new Set([...loopback, ...elsewhere, ...nonsense]).size + answers.length).toBeGreaterThan(120);
});

describe("an address", () => {
  it.each(loopback)("%j is refused, and reaches the server once it is allowed", async (text) => {
    const error = await failureOf(client({ allow_private: [] }).call(at(text)));
    expect(error.code).toBe("OutboundForbidden");
    expect(error.message).toContain("TIDEMARK_ALLOW_PRIVATE=");
    expect(server.connections).toHaveLength(0);
    // The table is only worth something if these really lead here.
    const answer = await client({ allow_private: ["127.0.0.0/8", "::1"] }).call(at(text));
    expect(answer.status).toBe(200);
    expect(server.connections.length).toBeGreaterThan(0);
  });

  it.each(elsewhere)("%j is refused", async (text) => {
    expect(await failureOf(client({ allow_private: [] }).call(at(text)))).toMatchObject({ code: "OutboundForbidden" });
    expect(server.connections).toHaveLength(0);
  });

  it.each(nonsense)("%j is not even an address to call", async (text) => {
    const error = await failureOf(client().call(at(text)));
    expect(error.code).toBe("InputInvalid");
    expect(error.message).not.toContain("hunter2");
    expect(server.connections).toHaveLength(0);
  });
});

describe("a name", () => {
  it.each(answers)("that resolves to %s is refused", async (_, addresses) => {
    const guarded = client({ allow_private: [], resolve: async () => addresses });
    const error = await failureOf(guarded.call(at("http://innocent.example:P/?token=secret")));
    expect(error.code).toBe("OutboundForbidden");
    expect(error.message).toContain("innocent.example");
    expect(error.message).not.toContain("secret");
    expect(server.connections).toHaveLength(0);
  });

  it("is resolved once: what it resolves to a moment later changes nothing", async () => {
    const good = await webServer(undefined, "127.0.0.2");
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return [v4(asked.length === 1 ? "127.0.0.2" : "127.0.0.1")];
    };
    // The system says 127.0.0.1 of this name: whoever looked it up again to connect would arrive at the wrong place.
    const guarded = client({ allow_private: ["127.0.0.2"], resolve });
    const answer = await guarded.call(`http://localhost:${good.port}/`);
    expect(answer.record.remote_address).toBe("127.0.0.2");
    expect(asked).toEqual(["localhost"]);
    const next = await failureOf(guarded.call(`http://localhost:${good.port}/`));
    expect(next).toMatchObject({ code: "OutboundForbidden", details: { address: "127.0.0.1" } });
    expect(asked).toHaveLength(2);
    expect(server.connections).toHaveLength(0);
  });

  it("is connected to at the next of its checked addresses when one does not answer", async () => {
    const good = await webServer(undefined, "127.0.0.3");
    const resolve = async () => [v4("127.0.0.2"), v4("127.0.0.3")];
    const answer = await client({ resolve }).call(`http://two.example:${good.port}/`);
    expect(answer.record.remote_address).toBe("127.0.0.3");
  });
});

describe("a redirect", () => {
  const targets = [
    ...["http://127.0.0.1:P/", "http://2130706433:P/", "http://0x7f.1:P/", "//127.0.0.1:P/", "http://localhost:P/"],
    ...["http://[::1]:P/", "http://[::ffff:127.0.0.1]:P/", "http://rebound.example:P/", "\\\\127.0.0.1:P\\"],
    ...["http://user:hunter2@127.0.0.1:P/", "file:///etc/passwd", "gopher://127.0.0.1:P/", "http://169.254.169.254/"],
  ];

  it.each(targets)("to %j is guarded like a call", async (location) => {
    const moved = await webServer((_, response) => {
      response.writeHead(302, { location: at(location) }).end();
    }, "127.0.0.2");
    const resolve = async (name: string) => [v4(name === "first.example" ? "127.0.0.2" : "127.0.0.1")];
    const guarded = client({ allow_private: ["127.0.0.2"], resolve });
    const call = guarded.call(`http://first.example:${moved.port}/`, { redirects: { follow: "any" } });
    const error = await failureOf(call);
    expect(error.code).toBe("OutboundForbidden");
    expect(error.details).toMatchObject({ redirects: 1, status: 0 });
    expect(moved.requests).toHaveLength(1);
    expect(server.connections).toHaveLength(0);
  });

  it("after a redirect is guarded again, though the host was fine a moment ago", async () => {
    const moved = await webServer((_, response) => {
      response.writeHead(307, { location: "/again" }).end();
    }, "127.0.0.2");
    let asked = 0;
    const resolve = async () => [v4(asked++ === 0 ? "127.0.0.2" : "127.0.0.1")];
    const guarded = client({ allow_private: ["127.0.0.2"], resolve });
    const call = guarded.call(`http://turning.example:${moved.port}/`, { redirects: { follow: "same host" } });
    expect(await failureOf(call)).toMatchObject({ code: "OutboundForbidden" });
    expect([asked, moved.requests.length, server.connections.length]).toEqual([2, 1, 0]);
  });
});

describe("a connection", () => {
  const connected = async (
    protocol: "http:" | "https:",
    checkAddress: (address: string) => void,
    checked: string[],
  ) => {
    const listening = await rawServer(() => undefined);
    const { signal } = new AbortController();
    const wanted = { addresses: checked.map(v4), through_proxy: false, connect_ms: 10_000, signal };
    const connect = makeConnector({ clock: realClock, checkAddress })(wanted);
    const error = await new Promise<Error | null>((resolve) => {
      connect({ hostname: "127.0.0.1", protocol, port: String(listening.port) }, (...[thrown]) => resolve(thrown));
    });
    const [connection] = listening.connections;
    if (connection && !connection.socket.destroyed) await once(connection.socket.resume(), "close");
    return { error, received: connection?.received() };
  };

  it.each(["http:", "https:"] as const)(
    "over %s to an address that was not checked ends before a byte is sent",
    async (p) => {
      const { error, received } = await connected(p, () => undefined, ["127.0.0.9"]);
      expect(error).toMatchObject({ code: "OutboundForbidden" });
      expect(error?.message).toContain("127.0.0.1, which had not been checked");
      expect(received).toBe(0);
    },
  );

  it.each(["http:", "https:"] as const)(
    "over %s is judged by whom it reached, before a byte is sent",
    async (protocol) => {
      const refuse = (address: string) => {
        throw new Error(`refused ${address}`);
      };
      const { error, received } = await connected(protocol, refuse, ["127.0.0.1"]);
      expect(error?.message).toBe("refused 127.0.0.1");
      expect(received).toBe(0);
    },
  );

  it("that is kept is used again only while its address is among those that were checked", async () => {
    const kept = await webServer();
    let addresses = [v4("127.0.0.1")];
    const caller = client({ resolve: async () => addresses });
    const ask = async () => (await caller.call(`http://moving.example:${kept.port}/`)).record.remote_address;
    expect([await ask(), await ask()]).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(kept.connections).toHaveLength(1);
    addresses = [v4("127.0.0.2")];
    // Nobody listens there at this port; what matters is that the kept connection is not taken for it.
    expect((await failureOf(ask())).message).toContain("could not be reached");
    expect(kept.requests).toHaveLength(2);
  });
});
