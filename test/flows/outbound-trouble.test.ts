/** Upstreams that break the protocol, drip, hang or hang up: each is a typed error that names the host and no secret, and ends in time. */
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import type { ErrorCode } from "../../src/errors.ts";
import type { Timeouts } from "../../src/outbound/call.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { client, closeAll, failureOf, rawServer } from "./outbound-rig.ts";

afterEach(closeAll);

const head = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;
const send = (text: string) => (socket: Socket) => void socket.write(text);
const sendAndEnd = (text: string) => (socket: Socket) => void socket.end(text);

/** Writes for as long as the other side listens. */
function endlessly(first: string, again: string, pause_ms = 0): (socket: Socket) => void {
  return async (socket) => {
    socket.write(first);
    while (!socket.destroyed) {
      if (!socket.write(again) || pause_ms > 0) await realClock.sleep(pause_ms);
    }
  };
}

const long = "x".repeat(70_000);
const many = Array.from({ length: 3000 }, (_, n) => `x-header-${n}: some value`).join("\r\n");

const malformed: [what: string, answer: (socket: Socket) => void, code: ErrorCode, words: string][] = [
  ["is not HTTP", send("220 mail.example ESMTP\r\n\r\n"), "UpstreamChanged", "not HTTP"],
  ["is nothing but a body", sendAndEnd("<html>no head</html>"), "UpstreamChanged", "not HTTP"],
  ["is HTTP/2", send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "UpstreamChanged", "not HTTP"],
  ["has a status of four digits", send("HTTP/1.1 2000 OK\r\n\r\n"), "UpstreamChanged", "not HTTP"],
  ["has a status that is no number", send("HTTP/1.1 abc OK\r\n\r\n"), "UpstreamChanged", "not HTTP"],
  ["has two lengths", send(`${head("content-length: 1", "content-length: 2")}ab`), "UpstreamChanged", "not HTTP"],
  ["has a length below nothing", send(`${head("content-length: -1")}ab`), "UpstreamChanged", "not HTTP"],
  ["has a length that is no number", send(`${head("content-length: many")}ab`), "UpstreamChanged", "not HTTP"],
  [
    "has a length and chunks",
    send(`${head("content-length: 3", "transfer-encoding: chunked")}0\r\n\r\n`),
    "UpstreamChanged",
    "not HTTP",
  ],
  ["has a header without a colon", send(head("nonsense")), "UpstreamChanged", "not HTTP"],
  ["has a header with a zero byte", send(head("x: a\0b")), "UpstreamChanged", "not HTTP"],
  ["has a chunk of no size", send(`${head("transfer-encoding: chunked")}ZZ\r\nab\r\n`), "UpstreamChanged", "not HTTP"],
  [
    "has a chunk longer than it says",
    send(`${head("transfer-encoding: chunked")}1\r\nabcdef\r\n0\r\n\r\n`),
    "UpstreamChanged",
    "not HTTP",
  ],
  [
    "has a chunk of absurd size",
    send(`${head("transfer-encoding: chunked")}FFFFFFFFFFFFFFFFF\r\nab`),
    "UpstreamChanged",
    "not HTTP",
  ],
  ["has one header that is too long", send(head(`x: ${long}`)), "UpstreamChanged", "too long"],
  ["has too many headers", send(head(many)), "UpstreamChanged", "too long"],
  [
    "has headers without end",
    endlessly("HTTP/1.1 200 OK\r\n", "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n"),
    "UpstreamChanged",
    "too long",
  ],
  [
    "has one header without end",
    endlessly("HTTP/1.1 200 OK\r\nx: ", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"),
    "UpstreamChanged",
    "too long",
  ],
  [
    "has hints without end",
    endlessly("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    "UpstreamChanged",
    "more than 20 hints",
  ],
  [
    "switches to another protocol",
    send("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    "UpstreamChanged",
    "fits no request",
  ],
  ["says to continue, unasked", send("HTTP/1.1 100 Continue\r\n\r\n"), "UpstreamChanged", "fits no request"],
  ["never comes, the connection ends", (socket) => void socket.end(), "UpstreamDown", "closed the connection"],
  [
    "never comes, the connection is reset",
    (socket) => void socket.resetAndDestroy(),
    "UpstreamDown",
    "closed the connection",
  ],
  ["ends in its head", sendAndEnd("HTTP/1.1 200 OK\r\nx: "), "UpstreamDown", ""],
  ["is shorter than it says", sendAndEnd(`${head("content-length: 100")}half`), "UpstreamDown", ""],
  ["ends between chunks", sendAndEnd(`${head("transfer-encoding: chunked")}2\r\nab\r\n`), "UpstreamDown", ""],
  ["ends in a chunk", sendAndEnd(`${head("transfer-encoding: chunked")}5\r\nab`), "UpstreamDown", ""],
  [
    "ends in a chunk and said that it would close",
    sendAndEnd(`${head("connection: close", "transfer-encoding: chunked")}5\r\nab`),
    "UpstreamDown",
    "before all of it had arrived",
  ],
  [
    "is shorter than it says and said that it would close",
    sendAndEnd(`${head("connection: close", "content-length: 9")}half`),
    "UpstreamDown",
    "before all of it had arrived",
  ],
  [
    "is reset in its body",
    (socket) => {
      socket.write(`${head("content-length: 100")}half`, () => socket.resetAndDestroy());
    },
    "UpstreamDown",
    "",
  ],
];

it.each(malformed)("an answer that %s is an error", async (_, answer, code, words) => {
  const server = await rawServer(answer);
  const error = await failureOf(
    client().call(`${server.url}/path?token=secret`, { headers: { authorization: "Bearer secret" } }),
  );
  expect({ code: error.code, message: error.message }).toMatchObject({ code });
  expect(error.message).toContain(words);
  expect(error.message).toContain(`127.0.0.1:${server.port}`);
  const told = JSON.stringify([
    error.message,
    error.details,
    String(error.cause),
    (error.cause as Error | undefined)?.message,
  ]);
  expect(told).not.toContain("secret");
  expect(error.details).toMatchObject({ host: `127.0.0.1:${server.port}`, remote_address: "127.0.0.1" });
});

it("an answer without length, ended by its connection, is whole", async () => {
  const server = await rawServer(sendAndEnd(`${head("connection: close")}all of it`));
  expect(Buffer.from((await client().call(server.url)).bytes).toString()).toBe("all of it");
});

it("hints before an answer are passed over", async () => {
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
  const server = await rawServer(send(`${hint}${hint}${head("content-length: 2")}ok`));
  expect((await client().call(server.url)).status).toBe(200);
});

it("headers have whatever names they like", async () => {
  const server = await rawServer(
    send(`${head("__proto__: x", "constructor: y", "Twice: 1", "twice: 2", "content-length: 0")}`),
  );
  const { headers } = await client().call(server.url);
  expect(Object.entries(headers)).toEqual(
    expect.arrayContaining([
      ["constructor", "y"],
      ["twice", "1, 2"],
    ]),
  );
  expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
});

describe("what takes too long", () => {
  const slow: [what: string, answer: (socket: Socket) => void, timeouts: Partial<Timeouts>, words: string][] = [
    ["never answers", () => undefined, { headers_ms: 30 }, "did not begin to answer within 30 ms"],
    [
      "sends its head forever",
      endlessly("HTTP/1.1 200 OK\r\n", "x: y\r\n", 5),
      { headers_ms: 100 },
      "did not begin to answer within 100 ms",
    ],
    ["falls silent in its body", send(`${head("content-length: 100")}half`), { body_ms: 30 }, "sent nothing for 30 ms"],
    [
      "sends a byte at a time",
      endlessly(head("content-length: 100000"), "x", 5),
      { whole_ms: 150 },
      "did not complete its answer within 150 ms",
    ],
    [
      "sends small chunks for ever",
      endlessly(head("transfer-encoding: chunked"), "1\r\nx\r\n", 5),
      { whole_ms: 150 },
      "did not complete its answer within 150 ms",
    ],
  ];

  it.each(slow)("is an upstream that %s", async (_, answer, timeouts, words) => {
    const server = await rawServer(answer);
    const error = await failureOf(client().call(`${server.url}/?token=secret`, { timeouts }));
    expect(error.code).toBe("UpstreamDown");
    expect(error.message).toContain(words);
    expect(error.message).not.toContain("secret");
  });

  it("is a server that accepts the connection and never begins TLS", async () => {
    const server = await rawServer(() => undefined);
    const call = client().call(`https://127.0.0.1:${server.port}/`, { timeouts: { connect_ms: 30 } });
    expect((await failureOf(call)).message).toContain("did not accept a connection within 30 ms");
  });

  it("is a resolver that does not answer", async () => {
    const resolve = () => new Promise<never>(() => undefined);
    const call = client({ resolve }).call("http://nowhere.example/", { timeouts: { connect_ms: 30 } });
    expect((await failureOf(call)).message).toBe("No address was found for nowhere.example within 30 ms.");
  });

  it("is judged by the clock that the client was given, and by no other", async () => {
    const clock = new VirtualClock();
    let heard!: () => void;
    const asked = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const server = await rawServer(() => heard());
    const error = failureOf(client({}, clock).call(server.url));
    await asked;
    await clock.advance(29_999);
    expect(await Promise.race([error, "still waiting"])).toBe("still waiting");
    await clock.advance(1);
    expect((await error).message).toContain("did not begin to answer within 30000 ms");
  });

  it("gives its slot back, so that the next call is not hindered", async () => {
    const server = await rawServer((socket, n) =>
      n === 0 ? undefined : sendAndEnd(head("content-length: 0"))(socket),
    );
    const one = client({ connections_per_host: 1 });
    const hanging = failureOf(one.call(server.url, { timeouts: { headers_ms: 30 } }));
    expect((await one.call(server.url)).status).toBe(200);
    expect((await hanging).code).toBe("UpstreamDown");
  });
});

it("nobody is there: it says so", async () => {
  const error = await failureOf(client().call("http://127.0.0.1:9/?token=secret"));
  expect(error).toMatchObject({ code: "UpstreamDown", message: "127.0.0.1:9 could not be reached (ECONNREFUSED)." });
  const none = async () => [];
  expect(await failureOf(client({ resolve: none }).call("http://x.example/"))).toMatchObject({
    details: { dns: "ENODATA" },
  });
});
