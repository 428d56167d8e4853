/** Bodies that go into a file instead of memory, under the same limits. */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import zlib from "node:zlib";
import { afterEach, describe, expect, inject, it } from "vitest";
import { client, closeAll, failureOf, webServer } from "./outbound-rig.ts";

afterEach(closeAll);

describe("a body that is saved", () => {
  const place = () => path.join(inject("scratch"), randomUUID());

  it("is in the file, decompressed, and not in the answer", async () => {
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(zlib.gzipSync("x".repeat(100_000)));
    });
    const file = place();
    const answer = await client().call(server.url, { save_to: file });
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    expect((await readFile(file, "utf8")).length).toBe(100_000);
    expect(answer.record.bytes).toBe(100_000);
  });

  it("is in the answer where that is not what was asked for", async () => {
    const server = await webServer((_, response) => void response.writeHead(404).end("none"));
    const file = place();
    const answer = await client().call(server.url, { save_to: file });
    expect([answer.status, String(answer.bytes)]).toEqual([404, "none"]);
    await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends at the same limit", async () => {
    const server = await webServer((_, response) => void response.end("x".repeat(100_000)));
    const call = client().call(server.url, { save_to: place(), bytes_max: 50_000 });
    expect((await failureOf(call)).message).toContain("more than 50000 bytes");
  });

  it("does not replace a file that is there", async () => {
    const server = await webServer();
    const file = place();
    await writeFile(file, "mine");
    await expect(client().call(server.url, { save_to: file })).rejects.toThrow();
    expect(await readFile(file, "utf8")).toBe("mine");
  });
});
