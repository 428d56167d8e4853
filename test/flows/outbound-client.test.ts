/** The client over real connections: what it says of itself, what it tells, when it tries twice, and how it ends. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import { TidemarkError } from "../../src/errors.ts";
import { conditionalHeaders, validatorsOf } from "../../src/outbound/validators.ts";
import { client, closeAll, failureOf, rawServer, webServer } from "./outbound-rig.ts";

afterEach(closeAll);

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

describe("a call", () => {
  it("says who calls, and tells what it cost", async () => {
    const server = await webServer((_, response) => void response.end("hello"));
    const answer = await client({ user_agent: "tidemark/1 (+mailto:me@example.com)" }).call(
      `${server.url}/?token=secret`,
    );
    expect(server.requests[0]!.headers["user-agent"]).toBe("tidemark/1 (+mailto:me@example.com)");
    expect(answer.record).toEqual({
      host: `127.0.0.1:${server.port}`,
      status: 200,
      wire_bytes: 5,
      bytes: 5,
      ms: expect.any(Number),
      redirects: 0,
      remote_address: "127.0.0.1",
      repeated: false,
    });
  });

  it.each([200, 204, 304, 400, 401, 403, 404, 429, 500, 503])(
    "that is answered with %i is answered",
    async (status) => {
      const server = await webServer((_, response) => void response.writeHead(status).end());
      expect((await client().call(server.url)).status).toBe(status);
    },
  );

  it("sends its method, path, query and body as they are", async () => {
    const bodies: string[] = [];
    const server = await webServer((request, response) => {
      request.on("data", (part) => bodies.push(String(part)));
      request.on("end", () => response.end());
    });
    await client().call(`${server.url}/a%20b/../c?x=1&y=%2F#part`, { method: "put", body: new Uint8Array([104, 105]) });
    expect(server.requests[0]).toMatchObject({ method: "PUT", url: "/c?x=1&y=%2F" });
    expect(bodies).toEqual(["hi"]);
  });

  it("with a header that HTTP forbids is refused without repeating its value", async () => {
    const server = await webServer();
    const call = client().call(server.url, { headers: { authorization: "secret\r\nx-injected: 1" } });
    const error = await failureOf(call);
    expect(error.code).toBe("InputInvalid");
    expect(JSON.stringify([error.message, error.details])).not.toContain("secret");
    expect(server.requests).toHaveLength(0);
  });

  it("can ask only for what has changed", async () => {
    const server = await webServer((request, response) => {
      const unchanged = request.headers["if-none-match"] === 'W/"7"';
      response.writeHead(unchanged ? 304 : 200, { etag: 'W/"7"' }).end(unchanged ? undefined : "body");
    });
    const first = await client().call(server.url);
    const headers = conditionalHeaders(validatorsOf(first.headers, 0));
    expect(await client().call(server.url, { headers })).toMatchObject({ status: 304, bytes: Buffer.alloc(0) });
  });

  it("ends with the caller's own reason when the caller ends it", async () => {
    const server = await rawServer(() => undefined);
    const reason = new TidemarkError("LeaseLost", "The lease ended.");
    const before = new AbortController();
    before.abort(reason);
    expect(await failureOf(client().call(server.url, { signal: before.signal }))).toBe(reason);
    expect(server.connections).toHaveLength(0);
    const during = new AbortController();
    const hanging = await rawServer(() => during.abort(reason));
    expect(await failureOf(client().call(hanging.url, { signal: during.signal }))).toBe(reason);
  });

  it("that is under way when the client closes is ended", async () => {
    const one = client();
    const server = await rawServer(() => void one.close());
    expect((await failureOf(one.call(server.url))).message).toContain("no more calls are made");
    expect((await failureOf(one.call(server.url))).message).toContain("no more calls are made");
  });
});

describe("connections", () => {
  it("to one host are never more than allowed, over all its ports, and are used again", async () => {
    let at_once = 0;
    let most = 0;
    const serve: Parameters<typeof webServer>[0] = async (_, response) => {
      at_once += 1;
      most = Math.max(most, at_once);
      await realClock.sleep(2);
      at_once -= 1;
      response.end();
    };
    const [one, two] = [await webServer(serve), await webServer(serve)];
    const caller = client({ connections_per_host: 3 });
    await Promise.all(Array.from({ length: 40 }, (_, n) => caller.call(n % 2 ? one.url : two.url)));
    expect(most).toBe(3);
    expect(one.requests.length + two.requests.length).toBe(40);
    expect(one.connections.length + two.connections.length).toBeLessThan(40);
  });

  it("that are kept make room for one to another port of the same host", async () => {
    const keeping = () =>
      rawServer(
        (socket) => void socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=60\r\ncontent-length: 0\r\n\r\n"),
      );
    const [one, two] = [await keeping(), await keeping()];
    const caller = client({ connections_per_host: 1 });
    await caller.call(one.url);
    await caller.call(one.url);
    const [kept] = one.connections;
    expect([one.connections.length, kept!.socket.destroyed]).toEqual([1, false]);
    const ended = once(kept!.socket, "close");
    await caller.call(two.url);
    await ended;
  });

  it("to other hosts do not wait for one that hangs", async () => {
    const hanging = await rawServer(() => undefined);
    const server = await webServer(undefined, "127.0.0.2");
    const caller = client({ connections_per_host: 1 });
    const stop = new AbortController();
    const stuck = failureOf(caller.call(hanging.url, { signal: stop.signal }));
    expect((await caller.call(server.url)).status).toBe(200);
    stop.abort(new TidemarkError("LeaseLost", "enough"));
    await stuck;
  });
});

describe("a second try", () => {
  /** Answers the first request on each connection; what comes of the second is the test's to say. */
  const dying = (second: (socket: Socket, n: number) => void) => {
    const answered = new Set<Socket>();
    return rawServer((socket, n) => {
      if (answered.has(socket)) return second(socket, n);
      answered.add(socket);
      socket.write(ok);
    });
  };
  const hangUp = (socket: Socket) => void socket.destroy();

  it.each(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])(
    "is made of %s when a kept connection is closed under it",
    async (method) => {
      const server = await dying(hangUp);
      const caller = client();
      expect((await caller.call(server.url)).record.repeated).toBe(false);
      const answer = await caller.call(server.url, { method });
      expect([answer.status, answer.record.repeated, server.connections.length]).toEqual([200, true, 2]);
    },
  );

  it.each(["POST", "PATCH"])("is not made of %s, unless the caller says that it is safe", async (method) => {
    const server = await dying(hangUp);
    const caller = client();
    await caller.call(server.url);
    const error = await failureOf(caller.call(server.url, { method, body: "x" }));
    expect(error).toMatchObject({ code: "UpstreamDown", details: { repeated: false } });
    await caller.call(server.url);
    expect((await caller.call(server.url, { method, body: "x", repeatable: true })).record.repeated).toBe(true);
  });

  it("is not made of a GET that the caller says is not safe", async () => {
    const server = await dying(hangUp);
    const caller = client();
    await caller.call(server.url);
    expect(await failureOf(caller.call(server.url, { repeatable: false }))).toMatchObject({ code: "UpstreamDown" });
  });

  it("is not made once a byte of an answer has come", async () => {
    const server = await dying((socket) => void socket.write("H", () => socket.destroy()));
    const caller = client();
    await caller.call(server.url);
    expect(await failureOf(caller.call(server.url))).toMatchObject({ details: { repeated: false } });
  });

  it("is not made on a new connection", async () => {
    const server = await rawServer(hangUp);
    expect(await failureOf(client().call(server.url))).toMatchObject({ details: { repeated: false } });
    expect(server.connections).toHaveLength(1);
  });

  it("goes to a new connection, since the others that were kept may be closed as well", async () => {
    const server = await dying(hangUp);
    const caller = client();
    await Promise.all([caller.call(server.url), caller.call(server.url)]);
    expect(server.connections).toHaveLength(2);
    const answer = await caller.call(server.url);
    expect([answer.status, answer.record.repeated, server.connections.length]).toEqual([200, true, 3]);
  });

  it("is the last", async () => {
    const server = await rawServer((socket, n) => {
      if (n === 0 && socket.bytesWritten === 0) socket.write(ok);
      else socket.destroy();
    });
    const caller = client();
    await caller.call(server.url);
    expect(await failureOf(caller.call(server.url))).toMatchObject({ details: { repeated: true } });
    expect(server.connections).toHaveLength(2);
  });
});

it("a proxy that the environment names is not used", async () => {
  const proxy = await webServer((_, response) => void response.end("from the proxy"));
  const server = await webServer((_, response) => void response.end("from the server"));
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  const env = { ...Object.fromEntries(names.map((name) => [name, proxy.url])), NO_PROXY: "", NODE_USE_ENV_PROXY: "1" };
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const script = fileURLToPath(new URL("outbound-caller.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script, server.url], {
    cwd: root,
    env,
  });
  expect(stdout.trim()).toBe("200 from the server");
  expect(proxy.connections).toHaveLength(0);
});
