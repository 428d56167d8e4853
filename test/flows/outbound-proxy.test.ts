/** A proxy that was named for us leads to the open Internet and to nothing else; one that was named for others is not used. */
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { certificate, key } from "./outbound-certificate.ts";
import { v4 } from "./outbound-hostile.ts";
import { client, closeAll, failureOf, proxyTo, rawServer, webServer } from "./outbound-rig.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  await closeAll();
  for (const close of closing.splice(0)) await close();
});

const GOOD = "93.184.216.34";
const nowhere = async (): Promise<never> => {
  throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
};
/** Every name is of the open Internet, but for those that begin with "inside". */
const resolve = async (name: string) => [v4(name.startsWith("inside") ? "127.0.0.1" : GOOD)];

async function secureServer(): Promise<{ port: number; hosts: string[] }> {
  const hosts: string[] = [];
  const server = createSecureServer({ key, cert: certificate }, (request, response) => {
    hosts.push(request.headers.host!);
    response.end("secure");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { port: (server.address() as AddressInfo).port, hosts };
}

describe("a call through the proxy", () => {
  it.each([
    ["has an address here", resolve],
    ["has none here", nowhere],
  ])("reaches a host by its name where that %s, over TLS from end to end", async (_, found) => {
    const server = await secureServer();
    const proxy = await proxyTo(server.port);
    const ours = client({ proxy: proxy.url, resolve: found, ca: certificate, allow_private: [] });
    const { bytes } = await ours.call("https://secure.example/path");
    expect(String(bytes)).toBe("secure");
    expect(server.hosts).toEqual(["secure.example"]);
    expect(proxy.asked).toEqual([{ target: "secure.example:443", authorization: undefined }]);
  });

  it("reaches a plain host too, and uses its connection again", async () => {
    const server = await webServer();
    const proxy = await proxyTo(server.port);
    const ours = client({ proxy: proxy.url, resolve, allow_private: [] });
    for (const path of ["/a", "/b"]) expect((await ours.call(`http://plain.example:8000${path}`)).status).toBe(200);
    expect(server.requests.map(({ url }) => url)).toEqual(["/a", "/b"]);
    expect(proxy.asked.map(({ target }) => target)).toEqual(["plain.example:8000"]);
  });

  it("shows the proxy its user name and password, and the host nothing of them", async () => {
    const server = await webServer();
    const proxy = await proxyTo(server.port);
    const named = proxy.url.replace("://", "://user:p%40ss@");
    await client({ proxy: named, resolve, allow_private: [] }).call("http://plain.example/");
    expect(proxy.asked[0]!.authorization).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`);
    expect(JSON.stringify(server.requests[0]!.headers)).not.toMatch(/proxy|Basic/i);
  });

  it("speaks TLS to a proxy that wants it, and TLS to the host within", async () => {
    const server = await secureServer();
    const proxy = await proxyTo(server.port, { key, cert: certificate });
    const ours = client({ proxy: proxy.url, resolve, ca: certificate, allow_private: [] });
    expect(String((await ours.call("https://other.example/")).bytes)).toBe("secure");
    expect(proxy.asked[0]!.target).toBe("other.example:443");
  });

  it("goes on through it where it is redirected", async () => {
    const server = await webServer((request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "http://second.example/there" }).end();
      else response.end("there");
    });
    const proxy = await proxyTo(server.port);
    const ours = client({ proxy: proxy.url, resolve, allow_private: [] });
    const { bytes } = await ours.call("http://first.example/", { redirects: { follow: "any" } });
    expect(String(bytes)).toBe("there");
    expect(proxy.asked.map(({ target }) => target)).toEqual(["first.example:80", "second.example:80"]);
  });
});

describe("the guard before a proxy", () => {
  it("calls what is private and allowed directly", async () => {
    const server = await webServer();
    const proxy = await proxyTo(1);
    const ours = client({ proxy: proxy.url, resolve, allow_private: ["127.0.0.1"] });
    for (const host of ["inside.example", "127.0.0.1"])
      expect((await ours.call(`http://${host}:${server.port}/`)).status).toBe(200);
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://0x7f.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://inside.example/",
  ])("refuses %s, and the proxy hears nothing of it", async (url) => {
    const proxy = await proxyTo(1);
    const ours = client({ proxy: proxy.url, resolve, allow_private: [] });
    expect(await failureOf(ours.call(url))).toMatchObject({ code: "OutboundForbidden" });
    expect(proxy.asked).toEqual([]);
  });

  it.each(["localhost", "intranet", "metadata.google.internal", "printer.local", "db.LAN."])(
    "refuses %s where it has no address here: the proxy would look in its own neighbourhood",
    async (host) => {
      const proxy = await proxyTo(1);
      const ours = client({ proxy: proxy.url, resolve: nowhere, allow_private: [] });
      const failure = await failureOf(ours.call(`http://${host}/`));
      expect(failure).toMatchObject({ code: "OutboundForbidden" });
      expect(proxy.asked).toEqual([]);
    },
  );
});

describe("a proxy that does not help", () => {
  const failureWith = async (answer: string) => {
    const broken = await rawServer((socket) => void socket.end(answer));
    return failureOf(client({ proxy: broken.url, resolve, allow_private: [] }).call("https://far.example/"));
  };

  it.each([
    ["HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "UpstreamDown", "Write them into TIDEMARK_PROXY"],
    ["HTTP/1.1 403 Forbidden\r\n\r\n", "OutboundForbidden", "does not let far.example be called (HTTP 403)"],
    ["HTTP/1.1 502 Bad Gateway\r\n\r\n", "UpstreamDown", "did not reach far.example (HTTP 502)"],
    ["SSH-2.0-OpenSSH\r\n\r\n", "UpstreamDown", "is no proxy or a broken one"],
    ["HTTP/1.1 200 OK\r\n\r\nand more", "UpstreamDown", "is no proxy or a broken one"],
    [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`, "UpstreamDown", "is no proxy or a broken one"],
    ["HTTP/1.1 2", "UpstreamDown", "The proxy closed the connection meant for far.example"],
  ])("with %j says what to do", async (answer, code, words) => {
    const failure = await failureWith(answer);
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(words);
  });

  it("is named when nobody is there", async () => {
    const ours = client({ proxy: "http://127.0.0.1:1", resolve, allow_private: [] });
    const failure = await failureOf(ours.call("http://far.example/"));
    expect(failure.message).toContain("The proxy on the way to far.example could not be reached (ECONNREFUSED)");
  });

  it("is given up on after the time that connecting may take", async () => {
    const silent = await rawServer(() => undefined);
    const ours = client({ proxy: silent.url, resolve, allow_private: [] });
    const failure = await failureOf(ours.call("http://far.example/", { timeouts: { connect_ms: 50 } }));
    expect(failure.message).toContain("did not accept a connection within 50 ms");
  });
});

it("does not use a proxy that the environment names for others", async () => {
  const server = await webServer();
  const proxy = await proxyTo(server.port);
  for (const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
    vi.stubEnv(name, proxy.url);
  expect((await client().call(server.url)).status).toBe(200);
  expect(proxy.asked).toEqual([]);
});
