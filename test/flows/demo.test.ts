/** The demo as a newcomer meets it: one command, no network, no keys, and something true to see. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { expect, inject, it } from "vitest";
import { finished, tidemark } from "./processes.ts";

it("has something to see and search in each source", {
  timeout: 300_000,
}, async () => {
  const settings = { TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()), TIDEMARK_PORT: "0" };
  const up = tidemark(["up", "--demo"], settings);
  try {
    await up.says("Stop:    Ctrl-C");
    const url = /Look: +(http:\/\/[\d.:]+)/.exec(up.err)![1]!;
    const index = async () => (await (await fetch(`${url}/go/index`)).text()).split("\n").filter(Boolean);
    await expect.poll(async () => (await index()).length, { timeout: 200_000, interval: 500 }).toBeGreaterThan(150);
    const entries = (await index()).map((line) => JSON.parse(line) as { Path: string; Version: string });
    expect(entries).toContainEqual(expect.objectContaining({ Path: "github.com/acme/auth", Version: "v1.0.0" }));
    expect(entries.map((e) => e.Path)).toContain("github.com/acme/auth-kit/otel");
    expect(entries.map((e) => e.Path)).toContain("github.com/acme/auth-client/v2");
    const found = async () => (await (await fetch(`${url}/nuget/v3/search?q=json`)).json()) as { totalHits?: number };
    await expect.poll(async () => (await found()).totalHits ?? 0, { timeout: 200_000, interval: 500 }).toBe(3);
    for (const path of ["/issues/search?q=crash", "/web/search?q=permit"]) {
      const results = async () =>
        ((await (await fetch(`${url}${path}`)).json()) as { results?: object[] }).results ?? [];
      await expect.poll(async () => (await results()).length, { timeout: 200_000, interval: 500 }).toBeGreaterThan(0);
    }
    const report = async () => (await fetch(`${url}/repositories/git.example/acme/lighthouse`)).status;
    await expect.poll(report, { timeout: 200_000, interval: 500 }).toBe(200);
    const status = await finished(["status", "--json"], settings);
    expect(status).toMatchObject({ code: 0, err: "" });
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
  } finally {
    up.signal("SIGKILL");
    await up.ended;
  }
});
