/** The demo as a newcomer meets it: one command, no network, no keys, and something true to see. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { expect, inject, it } from "vitest";
import { finished, tidemark } from "./processes.ts";

it("mirrors the modules and packages of pretend organisations and serves their index and feed", {
  timeout: 120_000,
}, async () => {
  const settings = { TIDEMARK_DATA: path.join(inject("scratch"), randomUUID()), TIDEMARK_PORT: "0" };
  const up = tidemark(["up", "--demo"], settings);
  try {
    await up.says("Stop:    Ctrl-C");
    const url = /Look: +(http:\/\/[\d.:]+)/.exec(up.err)![1]!;
    const index = async () => (await (await fetch(`${url}/go/index`)).text()).split("\n").filter(Boolean);
    await expect.poll(async () => (await index()).length, { timeout: 90_000, interval: 500 }).toBeGreaterThan(150);
    const entries = (await index()).map((line) => JSON.parse(line) as { Path: string; Version: string });
    expect(entries).toContainEqual(expect.objectContaining({ Path: "github.com/acme/auth", Version: "v1.0.0" }));
    expect(entries.map((e) => e.Path)).toContain("github.com/acme/auth-kit/otel");
    expect(entries.map((e) => e.Path)).toContain("github.com/acme/auth-client/v2");
    const found = async () => (await (await fetch(`${url}/nuget/v3/search?q=json`)).json()) as { totalHits?: number };
    await expect.poll(async () => (await found()).totalHits ?? 0, { timeout: 90_000, interval: 500 }).toBe(3);
    const status = await finished(["status", "--json"], settings);
    expect(status).toMatchObject({ code: 0, err: "" });
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
  } finally {
    up.signal("SIGKILL");
    await up.ended;
  }
});
