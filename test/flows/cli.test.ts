/** The whole program as a newcomer meets it: up in one terminal, commands in another, on both databases. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { testDatabase } from "../postgres.ts";
import { closeAll, proxyTo } from "./outbound-rig.ts";
import { finished, type Running, tidemark } from "./processes.ts";

const source = ["--source", fileURLToPath(new URL("./pages.mjs", import.meta.url))];
const started: Running[] = [];
let upstream: Server;
let page: string;
/** Who asked for the page. */
const callers = new Set<string>();

beforeAll(async () => {
  upstream = createServer((request, response) => {
    callers.add(request.headers["user-agent"] ?? "");
    response.end("hello");
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  page = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/a/b?c=d%2F`;
});
afterAll(() => upstream.close());
afterEach(async () => {
  for (const running of started.splice(0)) {
    running.signal("SIGKILL");
    await running.ended;
  }
  await closeAll();
});

function start(words: string[], settings: Record<string, string>): Running {
  const running = tidemark(words, settings);
  started.push(running);
  return running;
}

const urlOf = (running: Running) => /http:\/\/[\d.:]+/.exec(running.err)![0];

describe("on the embedded database", () => {
  const settings = () => ({
    TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()),
    TIDEMARK_PORT: "0",
    TIDEMARK_ALLOW_PRIVATE: "127.0.0.1",
  });

  it("a second terminal follows, sees it pulled, and the first one stops in good order", {
    timeout: 300_000,
  }, async () => {
    const proxy = await proxyTo((upstream.address() as AddressInfo).port);
    const mine = { ...settings(), TIDEMARK_CONTACT: "https://corp.example/who", TIDEMARK_PROXY: proxy.url };
    const up = start(["up", ...source], mine);
    await up.says("Stop:    Ctrl-C");
    const follow = await finished(["follow", "pages", page], mine);
    expect(follow).toMatchObject({ code: 0, err: "" });
    await up.says("is fresh after");
    expect([...callers]).toEqual([expect.stringMatching(/^tidemark\/[\d.]+ \(\+https:\/\/corp\.example\/who\)$/)]);
    expect(await (await fetch(`${urlOf(up)}/pages`)).json()).toEqual([{ url: page, bytes: 5 }]);
    const status = await finished(["status", "pages", page, "--json"], mine);
    expect(JSON.parse(status.out)).toMatchObject({
      status: "waiting",
      next: { why: "every 1h" },
      cursor: { pulls: 1 },
    });
    // Nothing of this machine answers there but the proxy.
    expect(await finished(["follow", "pages", "http://93.184.216.34/far"], mine)).toMatchObject({ code: 0, err: "" });
    await up.says("http://93.184.216.34/far is fresh after");
    expect(proxy.asked).toEqual([{ target: "93.184.216.34:80", authorization: undefined }]);
    expect(await finished(["follow", "pages", "nonsense"], mine)).toMatchObject({
      code: 2,
      err: 'tidemark: "nonsense" is not an address.\n',
    });
    expect((await finished(["up", ...source], mine)).code).toBe(2);
    const doctor = await finished(["doctor"], mine);
    expect(doctor).toMatchObject({ code: 0, err: "" });
    expect(doctor.out).not.toMatch(/^(!!|NO)/m);
    expect(doctor.out).toMatch(/^ok {2}sources +.*\bpages\b.* in the server\.$/m);
    expect(doctor.out).toContain(`The server at ${urlOf(up)} (process `);
    expect(doctor.out).toMatch(/^ok {2}database .*, and is well\.$/m);
    expect(doctor.out).toMatch(/^ok {2}schema +Up to date, says the server\.$/m);
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
    expect(existsSync(path.join(mine.TIDEMARK_DATA, "server.json"))).toBe(false);
    expect(existsSync(path.join(mine.TIDEMARK_DATA, "lock"))).toBe(false);
  });

  it("commands work while nothing runs, and after a process that was killed", { timeout: 300_000 }, async () => {
    const mine = settings();
    const up = start(["up", ...source], mine);
    await up.says("Stop:    Ctrl-C");
    up.signal("SIGKILL");
    await up.ended;
    expect(existsSync(path.join(mine.TIDEMARK_DATA, "server.json"))).toBe(true);
    const follow = await finished(["follow", "pages", page, ...source], mine);
    expect(follow).toMatchObject({ code: 0, err: "" });
    const status = await finished(["status", ...source], mine);
    expect(status.out).toContain("No worker is running");
    expect((await finished(["doctor", ...source], mine)).out).toContain("not a power loss");
  });
});

describe("on PostgreSQL", () => {
  it("roles run apart, commands speak to the database, and a worker is told at once", {
    timeout: 300_000,
  }, async () => {
    const { url } = await testDatabase();
    const mine = { DATABASE_URL: url, TIDEMARK_PORT: "0", TIDEMARK_ALLOW_PRIVATE: "127.0.0.1" };
    const early = await finished(["worker", ...source], mine);
    expect(early).toMatchObject({ code: 2 });
    expect(early.err).toContain("tidemark migrate");
    expect((await finished(["migrate", ...source], mine)).out).toContain("Applied migration 1 (page) of pages.");
    const worker = start(["worker", ...source], mine);
    const serve = start(["serve", ...source], mine);
    await Promise.all([worker.says("/metrics"), serve.says("Stop:    Ctrl-C")]);
    expect((await finished(["follow", "pages", page, ...source], mine)).code).toBe(0);
    await worker.says("is fresh after");
    expect(await (await fetch(`${urlOf(serve)}/pages`)).json()).toEqual([{ url: page, bytes: 5 }]);
    expect((await fetch(`${urlOf(worker)}/pages`)).status).toBe(404);
    expect(await (await fetch(`${urlOf(worker)}/metrics`)).text()).toContain('tidemark_pulls_total{source="pages"');
    for (const running of [worker, serve]) running.signal("SIGTERM");
    expect([await worker.ended, await serve.ended]).toEqual([0, 0]);
  });

  it("a role waits for a database that is not there, and can be told to stop", { timeout: 300_000 }, async () => {
    const worker = start(["worker"], { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none", TIDEMARK_PORT: "0" });
    await worker.says("the database does not answer");
    worker.signal("SIGTERM");
    expect(await worker.ended).toBe(0);
    const status = await finished(["status"], { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" });
    expect(status.code).toBe(1);
    expect(status.err).toContain("cannot be reached");
  });
});

describe("the source in the README", () => {
  it("is one that loads", async () => {
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const file = path.join(inject("scratch"), `${randomUUID()}.mjs`);
    await writeFile(file, /```js\n(.*?)```/s.exec(readme)![1]!);
    const { code, out, err } = await finished(["doctor", "--json", "--source", file], { TIDEMARK_DATA: "memory://" });
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(out).findings).toContainEqual({
      what: "sources",
      well: "yes",
      sentence: expect.stringMatching(/^go-modules, .*, pages\.$/),
    });
  });
});

describe("a file that is no source", () => {
  it.each([
    ["nothing.js", null, "There is no file "],
    ["none.mjs", "export const words = 1;", "exports no source"],
  ])("is told in one sentence: %s", async (name, text, sentence) => {
    const file = path.join(inject("scratch"), name);
    if (text !== null) await writeFile(file, text);
    const { code, err } = await finished(["config", "--source", file], {});
    expect(code).toBe(2);
    expect(err).toContain(sentence);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });
});
