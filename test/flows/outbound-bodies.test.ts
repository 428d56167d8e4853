/** Bodies: every encoding is undone, every bomb is stopped while it arrives, and nobody reads faster than somebody wants. */
import type { Socket } from "node:net";
import zlib from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type Clock, realClock } from "../../src/clock.ts";
import type { Call } from "../../src/outbound/call.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { client, closeAll, failureOf, rawServer, webServer } from "./outbound-rig.ts";

afterEach(closeAll);

const text = "tide ".repeat(20_000);
type Compress = (data: Uint8Array) => Buffer;
const zstd = (zlib as unknown as { zstdCompressSync?: Compress }).zstdCompressSync;
const by_name: Record<string, Compress> = {
  gzip: zlib.gzipSync,
  "x-gzip": zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  ...(zstd ? { zstd } : {}),
};

/** The same with a few bytes of the middle turned over. */
function broken(wire: Buffer): Buffer {
  return Buffer.from(wire.map((byte, at) => (at > wire.length / 2 && at < wire.length / 2 + 9 ? byte ^ 0xff : byte)));
}

async function serving(body: Uint8Array, encoding: string, headers: Record<string, string> = {}) {
  const server = await webServer((_, response) => {
    response.writeHead(200, { "content-encoding": encoding, ...headers }).end(body);
  });
  return (call: Call = {}) => client().call(`${server.url}/?token=secret`, call);
}

describe("an encoding", () => {
  it.each(Object.keys(by_name))("%s is undone", async (name) => {
    const wire = by_name[name]!(Buffer.from(text));
    const answer = await (await serving(wire, name))();
    expect(Buffer.from(answer.bytes).toString()).toBe(text);
    expect(answer.record).toMatchObject({ wire_bytes: wire.length, bytes: text.length });
  });

  it("deflate is undone without its wrapping too, as some servers send it", async () => {
    const answer = await (await serving(zlib.deflateRawSync(text), "deflate"))();
    expect(Buffer.from(answer.bytes).toString()).toBe(text);
  });

  it.each([
    ["gzip, br", (data: Uint8Array) => zlib.brotliCompressSync(zlib.gzipSync(data))],
    ["GZIP , identity,gzip", (data: Uint8Array) => zlib.gzipSync(zlib.gzipSync(data))],
    ["br, deflate, gzip", (data: Uint8Array) => zlib.gzipSync(zlib.deflateSync(zlib.brotliCompressSync(data)))],
  ])("on another is undone in turn: %s", async (names, compress) => {
    const answer = await (await serving(compress(Buffer.from(text)), names))();
    expect(Buffer.from(answer.bytes).toString()).toBe(text);
  });

  it("in several members is undone to its end", async () => {
    const wire = Buffer.concat([zlib.gzipSync("one "), zlib.gzipSync("two")]);
    expect(Buffer.from((await (await serving(wire, "gzip"))()).bytes).toString()).toBe("one two");
  });

  it("of nothing is nothing", async () => {
    expect((await (await serving(Buffer.alloc(0), "gzip"))()).bytes).toHaveLength(0);
    const head = await (await serving(zlib.gzipSync(text), "gzip"))({ method: "HEAD" });
    expect(head.bytes).toHaveLength(0);
  });

  it.each(["compress", "gzip, secret", "__proto__", "constructor"])("%s was not asked for", async (name) => {
    const error = await failureOf((await serving(Buffer.from("x"), name))());
    expect(error).toMatchObject({ code: "UpstreamChanged" });
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+ sent its answer in an encoding that was not asked for\.$/);
  });

  it("four times is too often", async () => {
    const error = await failureOf((await serving(Buffer.from("x"), "gzip, gzip, gzip, gzip"))());
    expect(error.message).toContain("encoded its answer more than 3 times");
  });

  it.each([
    ["gzip", "cut short", zlib.gzipSync(text).subarray(0, -20)],
    ["gzip", "another thing", Buffer.from(text)],
    ["gzip", "broken in the middle", broken(zlib.gzipSync(text))],
    ["deflate", "cut short", zlib.deflateSync(text).subarray(0, -20)],
    ["br", "cut short", zlib.brotliCompressSync(text).subarray(0, -4)],
    ["br", "another thing", Buffer.from(text)],
  ])("%s that is %s is no answer", async (name, _, wire) => {
    const error = await failureOf((await serving(wire, name))());
    expect(error).toMatchObject({ code: "UpstreamChanged" });
    expect(error.message).toContain(`sent a body that is not the ${name} it is said to be`);
  });
});

describe("a bomb", () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024);
  /** A gigabyte of nothing in a megabyte: 64 members of 16 MB. */
  const gigabyte = () => Buffer.concat(new Array<Buffer>(64).fill(zlib.gzipSync(zeros)));

  it.each<[string, string, () => Buffer]>([
    ["gzip", "gzip", gigabyte],
    ["brotli", "br", () => zlib.brotliCompressSync(zeros)],
    ["deflate", "deflate", () => zlib.deflateSync(zeros)],
    ["gzip in gzip", "gzip, gzip", () => zlib.gzipSync(gigabyte())],
    ["gzip in brotli", "gzip, br", () => zlib.brotliCompressSync(gigabyte())],
    ["gzip in gzip in gzip", "gzip, gzip, gzip", () => zlib.gzipSync(zlib.gzipSync(gigabyte()))],
    ...(zstd ? [["zstd", "zstd", () => zstd(zeros)] satisfies [string, string, () => Buffer]] : []),
  ])("of %s is stopped while it arrives", async (_, encoding, make) => {
    const wire = make();
    const call = await serving(wire, encoding);
    const before = process.memoryUsage();
    const error = await failureOf(call({ bytes_max: 4 * 1024 * 1024 }));
    const after = process.memoryUsage();
    expect(error).toMatchObject({ code: "UpstreamChanged" });
    expect(error.message).toContain("sent more than 4194304 bytes when decompressed");
    expect(error.details.bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    // Not the whole gigabyte, nor a hundredth of it that one careless buffer would be.
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
    if (wire.length > 500_000) expect(error.details.wire_bytes).toBeLessThan(wire.length / 2);
  });

  it.each(zstd ? ["zstd"] : [])("of %s that asks for a window of 128 MB does not get it", async (name) => {
    // A frame with one byte in it; the sixth byte is its window: 10 + n / 8 bits.
    const frame = (window: number) => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window, 9, 0, 0, 0x78]);
    expect((await (await serving(frame(13 * 8), name))()).bytes).toEqual(Buffer.from("x"));
    const error = await failureOf((await serving(frame(17 * 8), name))());
    expect(error.message).toContain("is not the zstd it is said to be");
  });

  it("that goes off between two steps is stopped there", async () => {
    // The outer gzip holds 16 MB, of which the inner one would make almost nothing.
    const inner = Buffer.concat([zlib.gzipSync("small"), zlib.deflateRawSync(""), zeros]);
    const call = await serving(zlib.gzipSync(inner), "deflate, gzip");
    expect(await failureOf(call({ bytes_max: 1024 * 1024 }))).toMatchObject({ code: "UpstreamChanged" });
  });
});

describe("a size", () => {
  it("that is announced and too big is refused before anything is read", async () => {
    const call = await serving(Buffer.alloc(100_000), "identity", { "content-length": "100000" });
    const error = await failureOf(call({ wire_bytes_max: 99_999 }));
    expect(error.message).toContain("wants to send more than 99999 bytes");
    expect((await call({ wire_bytes_max: 100_000 })).bytes).toHaveLength(100_000);
  });

  it("that is not announced is bounded while it arrives", async () => {
    const server = await webServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on("drain", more);
      more();
    });
    const error = await failureOf(client().call(server.url, { wire_bytes_max: 1_000_000 }));
    expect(error).toMatchObject({ code: "UpstreamChanged", details: { status: 200 } });
    expect(error.message).toContain("sent more than 1000000 bytes");
    expect(error.details.wire_bytes).toBeLessThan(1_200_000);
  });

  it("is bounded for the reader where there is no encoding", async () => {
    const call = await serving(Buffer.alloc(1001), "identity");
    expect((await failureOf(call({ bytes_max: 1000 }))).message).toContain("sent more than 1000 bytes");
    expect((await call({ bytes_max: 1001 })).bytes).toHaveLength(1001);
  });
});

describe("a stream", () => {
  const endless = () =>
    webServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on("drain", more);
      more();
    });

  it("gives the body as it arrives, and its record at the end", async () => {
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(zlib.gzipSync(text));
    });
    const answer = await client().stream(server.url);
    expect(answer.status).toBe(200);
    const parts: Uint8Array[] = [];
    for await (const part of answer.body) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe(text);
    expect(parts.length).toBeGreaterThan(1);
    expect(answer.record()).toMatchObject({ bytes: text.length, status: 200 });
  });

  it("takes no more off the connection than somebody reads", async () => {
    const server = await endless();
    const answer = await client().stream(server.url, { wire_bytes_max: 1e9, bytes_max: 1e9 });
    const reading = answer.body[Symbol.asyncIterator]();
    await reading.next();
    for (let turn = 0; turn < 50; turn += 1) await realClock.sleep(2);
    expect(answer.record().wire_bytes).toBeLessThan(512 * 1024);
    answer.body.cancel();
  });

  it.each([
    ["cancelled", "cancel"],
    ["left in the middle", "break"],
  ])("that is %s ends its connection, and gives its slot back", async (_, how) => {
    const server = await endless();
    const one = client({ connections_per_host: 1 });
    for (let round = 0; round < 3; round += 1) {
      const answer = await one.stream(server.url, { wire_bytes_max: 1e9, bytes_max: 1e9 });
      if (how === "cancel") answer.body.cancel();
      else for await (const _part of answer.body) break;
    }
    expect(server.connections).toHaveLength(3);
  });

  it("that is left while its encoding waits for more is ended at once", async () => {
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const zip = zlib.createGzip();
      zip.pipe(response);
      // Two parts are told apart on the way; a third never comes.
      zip.write("one");
      zip.flush(() => zip.write("two", () => zip.flush()));
    });
    const one = client({ connections_per_host: 1 });
    for (let round = 0; round < 2; round += 1) {
      const answer = await one.stream(server.url);
      for await (const _part of answer.body) break;
    }
    expect(server.requests).toHaveLength(2);
  });

  it("that is forgotten is ended by the whole time, and gives its slot back", async () => {
    const server = await endless();
    const clock = new VirtualClock();
    const one = client({ connections_per_host: 1 }, clock);
    const forgotten = await one.stream(server.url, { timeouts: { whole_ms: 1000 } });
    const next = one.stream(server.url);
    await clock.advance(1000);
    (await next).body.cancel();
    const reading = (async () => {
      for await (const _ of forgotten.body);
    })();
    expect((await failureOf(reading)).message).toContain("did not complete its answer within 1000 ms");
  });

  it.each([
    ["is broken off", (socket: Socket) => void socket.resetAndDestroy()],
    ["has arrived in full", (socket: Socket) => void socket.write("xxxxx")],
  ])("that nobody reads leaves nothing behind once it %s", async (_, then) => {
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nxxxxx");
    });
    let sleepers = 0;
    const sleep: Clock["sleep"] = async (ms, signal) => {
      sleepers += 1;
      await realClock.sleep(ms, signal);
      sleepers -= 1;
    };
    await client({}, { ...realClock, sleep }).stream(server.url);
    expect(sleepers).toBe(1);
    then(server.connections[0]!.socket);
    // Far less than the whole time, whose end would be waited for otherwise.
    await expect.poll(() => sleepers, { timeout: 20_000 }).toBe(0);
  });

  it("is bounded like a call", async () => {
    const server = await endless();
    const answer = await client().stream(server.url, { wire_bytes_max: 300_000 });
    const reading = (async () => {
      for await (const _ of answer.body);
    })();
    expect(await failureOf(reading)).toMatchObject({ code: "UpstreamChanged", details: { status: 200 } });
  });
});
