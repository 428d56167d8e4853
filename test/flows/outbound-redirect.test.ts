/** Redirects over real connections: what is followed, what arrives there, and that credentials stay with the host they are for. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Redirects } from "../../src/outbound/call.ts";
import { certificate, key } from "./outbound-certificate.ts";
import { v4 } from "./outbound-hostile.ts";
import { client, closeAll, failureOf, rawServer, webServer } from "./outbound-rig.ts";

/** What arrived, in order: the host that was named, the request, its body and its credentials. */
let arrived: { host: string; line: string; body: string; credentials: string[] }[];
/** Where each path leads: a status and a location, in which PLAIN and SECURE stand for the two ports. */
let ways: Record<string, [status: number, location: string]>;
let plain: number;
let secure: number;
let stop: () => Promise<void>;

const resolve = async () => [v4("127.0.0.1")];
const caller = () => client({ resolve, ca: certificate });
const credentials = { authorization: "Bearer secret", cookie: "session=secret", "x-key": "secret" };
const ask = (url: string, redirects: Redirects, more: object = {}) =>
  caller().call(filled(url), { redirects, headers: credentials, secret_headers: ["X-Key"], ...more });
const filled = (text: string) => text.replace("PLAIN", String(plain)).replace("SECURE", String(secure));

beforeEach(async () => {
  arrived = [];
  ways = {};
  const serve: Parameters<typeof webServer>[0] = (request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += String(part);
    });
    request.on("end", () => {
      const { host = "", ...headers } = request.headers;
      const line = `${request.method} ${request.url}`;
      const shown = Object.keys(credentials).filter((name) => name in headers);
      arrived.push({ host: host.split(":")[0]!, line, body, credentials: shown });
      const way = ways[request.url!.split("?")[0]!];
      if (way) response.writeHead(way[0], { location: filled(way[1]) }).end("moved");
      else response.end("here");
    });
  };
  plain = (await webServer(serve)).port;
  const server = createServer({ key, cert: certificate }, serve);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  secure = (server.address() as AddressInfo).port;
  stop = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(() => done()));
  };
});
afterEach(async () => {
  await closeAll();
  await stop();
});

describe("credentials", () => {
  const all = Object.keys(credentials);

  it.each([
    ["on the same host go along", "http://a.example:PLAIN/from", "/to", [all, all]],
    ["do not go to another host", "http://a.example:PLAIN/from", "http://b.example:PLAIN/to", [all, []]],
    ["do not go to a host below", "http://a.example:PLAIN/from", "http://x.a.example:PLAIN/to", [all, []]],
    ["do not go from https to http", "https://secure.example:SECURE/from", "http://secure.example:PLAIN/to", [all, []]],
    ["stay within https", "https://secure.example:SECURE/from", "https://secure.example:SECURE/to", [all, all]],
    [
      "do not go to another host of https",
      "https://secure.example:SECURE/from",
      "https://other.example:SECURE/to",
      [all, []],
    ],
    ["do not go to another port", "http://secure.example:PLAIN/from", "https://secure.example:SECURE/to", [all, []]],
  ])("%s", async (_, from, to, expected) => {
    ways["/from"] = [302, to];
    const answer = await ask(from, { follow: "any" });
    expect(answer.status).toBe(200);
    expect(arrived.map((one) => one.credentials)).toEqual(expected);
    expect(arrived[1]!.line).toBe("GET /to");
    expect(answer.record.redirects).toBe(1);
  });

  it("do not come back when the way leads home again", async () => {
    ways["/from"] = [302, "http://b.example:PLAIN/away"];
    ways["/away"] = [302, "http://a.example:PLAIN/home"];
    await ask("http://a.example:PLAIN/from", { follow: "any" });
    expect(arrived.map(({ host, credentials: shown }) => [host, shown.length])).toEqual([
      ["a.example", 3],
      ["b.example", 0],
      ["a.example", 0],
    ]);
  });

  it("in a location are not sent, and not told", async () => {
    ways["/from"] = [302, "http://user:hunter2@a.example:PLAIN/to"];
    const answer = await caller().call(filled("http://a.example:PLAIN/from"), { redirects: { follow: "any" } });
    expect(arrived[1]!.credentials).toEqual([]);
    expect(answer.url).toBe(filled("http://a.example:PLAIN/to"));
  });
});

describe("a policy", () => {
  it("of none gives the redirect itself", async () => {
    ways["/from"] = [301, "/to"];
    const answer = await caller().call(filled("http://a.example:PLAIN/from"));
    expect(answer).toMatchObject({ status: 301, headers: { location: "/to" }, record: { redirects: 0 } });
    expect(Buffer.from(answer.bytes).toString()).toBe("moved");
    expect(arrived).toHaveLength(1);
  });

  it("of the same host follows there, and gives the redirect that leads away", async () => {
    ways["/from"] = [302, "/next"];
    ways["/next"] = [302, "http://b.example:PLAIN/to"];
    const answer = await ask("http://a.example:PLAIN/from", { follow: "same host" });
    expect(answer).toMatchObject({ status: 302, record: { redirects: 1 } });
    expect(answer.headers.location).toContain("b.example");
    expect(answer.url).toBe(filled("http://a.example:PLAIN/next"));
    expect(arrived.map(({ host }) => host)).toEqual(["a.example", "a.example"]);
  });

  it("of a site follows among its hosts", async () => {
    ways["/from"] = [308, "http://www.a.example:PLAIN/next"];
    ways["/next"] = [308, "http://b.example:PLAIN/to"];
    const answer = await ask("http://a.example:PLAIN/from", { follow: "same site", site: ["www.a.example"] });
    expect(answer.status).toBe(308);
    expect(arrived.map(({ host }) => host)).toEqual(["a.example", "www.a.example"]);
  });

  it("ends a circle after as many as are allowed", async () => {
    ways["/from"] = [302, "/from?again"];
    const error = await failureOf(ask("http://a.example:PLAIN/from?token=secret", { follow: "any", most: 3 }));
    expect(error).toMatchObject({ code: "UpstreamChanged", details: { redirects: 3, status: 302 } });
    expect(error.message).toMatch(/^a\.example:\d+ redirected more than 3 times\.$/);
    expect(arrived).toHaveLength(4);
  });
});

it.each(["/again", "https://[nonsense/"])(
  "one to %s that is not followed any more holds no connection",
  async (location) => {
    const endless = await rawServer((socket) => {
      socket.write(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 1000000\r\n\r\nhalf`);
    });
    const one = client({ connections_per_host: 1 });
    for (let round = 0; round < 2; round += 1) {
      const error = await failureOf(one.call(endless.url, { redirects: { follow: "any", most: 0 } }));
      expect(error).toMatchObject({ code: "UpstreamChanged", details: { status: 302 } });
    }
  },
);

it.each([
  [303, "GET /to", ""],
  [301, "GET /to", ""],
  [302, "GET /to", ""],
  [307, "POST /to", "text"],
  [308, "POST /to", "text"],
])("a POST that meets %i goes on as %s", async (status, line, body) => {
  ways["/from"] = [status, "/to"];
  await ask("http://a.example:PLAIN/from", { follow: "any" }, { method: "POST", body: "text" });
  expect(arrived.map((one) => [one.line, one.body])).toEqual([
    ["POST /from", "text"],
    [line, body],
  ]);
});

it("a certificate for another host, or of nobody, is no secure connection", async () => {
  const wrong = await failureOf(caller().call(filled("https://third.example:SECURE/?token=secret")));
  expect(wrong.code).toBe("UpstreamDown");
  expect(wrong.message).toMatch(
    /^There is no secure connection to third\.example:\d+ \(ERR_TLS_CERT_ALTNAME_INVALID\)\.$/,
  );
  const untrusted = await failureOf(client({ resolve }).call(filled("https://secure.example:SECURE/")));
  expect(untrusted.message).toContain("no secure connection to secure.example");
  expect(arrived).toHaveLength(0);
});
