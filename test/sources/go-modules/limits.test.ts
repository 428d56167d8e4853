/** GitHub on bad days: refusals, half answers, limits and timeouts; A18 and A19 of the pitfalls. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Mischief } from "../../../src/demo/github/hub.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase } from "../../postgres.ts";
import { type Given, GoRig, gomod } from "./rig.ts";

let rig: GoRig;
beforeAll(async () => {
  rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", steps: migrations.steps }] })).db);
});
afterEach(() => rig.end());

/** Five repositories with a version each, in pages of two. */
async function five(given: Given = {}): Promise<void> {
  const hub = await rig.reset({ page_most: 2, ...given });
  for (let n = 0; n < 5; n += 1) {
    hub.repository(`acme/r${n}`);
    hub.push(`acme/r${n}`, "v1.0.0", { files: gomod(`github.com/acme/r${n}`) });
  }
  await rig.follow("github.com/acme");
}

async function indexed(given: Given = {}): Promise<void> {
  await five(given);
  rig.start();
  await rig.calm();
  expect(await rig.names()).toHaveLength(5);
}

const HOUR_MS = 3_600_000;

const isSweep = (query: string) => query.includes("repositoryOwner");

describe("A18: what fails in the middle of a listing deletes nothing", () => {
  /** How the second page of the next sweep goes wrong. */
  const troubles: Record<string, () => void> = {
    "a token that is refused": () => {
      let sweeps = 0;
      rig.hub.mischief = (_, query) => {
        if (isSweep(query) && ++sweeps === 1) rig.hub.revoke("token-of-bot");
        return null;
      };
    },
    "a 403": () => {
      let sweeps = 0;
      rig.upstream.trouble = ({ body }) => (isSweep(body) && ++sweeps === 2 ? { trouble: "error", status: 403 } : null);
    },
    "a 404": () => {
      let sweeps = 0;
      rig.upstream.trouble = ({ body }) => (isSweep(body) && ++sweeps === 2 ? { trouble: "error", status: 404 } : null);
    },
    "a timeout": () => onSecond({ mischief: "timeout" }),
    "a page without its list": () =>
      onSecond({ mischief: "partial", paths: [["repositoryOwner", "repositories", "nodes"]] }),
    "an owner that is not answered for": () => onSecond({ mischief: "partial", paths: [["repositoryOwner"]] }),
    "a repository that is left out": () =>
      onSecond({ mischief: "partial", paths: [["repositoryOwner", "repositories", "nodes", 0]] }),
    "tags that are left out": () =>
      onSecond({ mischief: "partial", paths: [["repositoryOwner", "repositories", "nodes", 1, "refs"]] }),
  };

  function onSecond(mischief: Mischief): void {
    let sweeps = 0;
    rig.hub.mischief = (_, query) => (isSweep(query) && ++sweeps === 2 ? mischief : null);
  }

  it.each(Object.keys(troubles))("%s", async (name) => {
    await indexed();
    const before = await rig.feed();
    troubles[name]!();
    const ended = rig.ended.length;
    await rig.clock.until(() => rig.ended.slice(ended).some((e) => e.kind === "owner"));
    // At once, before the next sweep could bring back what this one lost.
    await rig.keepHouse();
    expect(await rig.feed()).toEqual(before);
    expect(await rig.count("repository")).toBe(5);
    // A token that was refused is not tried again for a while; everything else is well again with the next sweeps.
    if (name === "a token that is refused") return;
    await rig.sweep(600_000);
    expect(await rig.feed()).toEqual(before);
    expect(rig.ended.findLast((e) => e.kind === "owner")).toMatchObject({ outcome: "fresh" });
  });

  it("tags of one repository that are left out fail that one, and the others go on", async () => {
    await indexed();
    for (let n = 0; n < 5; n += 1) rig.hub.push(`acme/r${n}`, "v1.1.0", { files: gomod(`github.com/acme/r${n}`) });
    rig.hub.mischief = (_, query) =>
      query.includes("ALPHABETICAL") && query.includes("n1:") ? { mischief: "partial", paths: [["n1", "refs"]] } : null;
    await rig.clock.advance(330_000);
    expect((await rig.names()).filter((name) => name.endsWith("v1.1.0")).length).toBeGreaterThanOrEqual(3);
    expect(rig.ended.some((e) => e.outcome === "failed")).toBe(true);
    rig.hub.mischief = () => null;
    await rig.sweep(600_000);
    expect((await rig.names()).filter((name) => name.endsWith("v1.1.0"))).toHaveLength(5);
  });
});

describe("A19: limits", () => {
  it("with no points left nobody calls before the reset, and the listing goes on from its page", async () => {
    await five({ hub: { limits: { points: 2 } } });
    rig.start();
    const paid = () => rig.hub.calls.filter((c) => c.points > 0);
    await rig.clock.until(() => paid().length === 2, HOUR_MS);
    await rig.clock.advance(3_500_000);
    expect(paid(), "called before the reset").toHaveLength(2);
    // Two calls in each hour: after three, the three pages have been read.
    await rig.clock.advance(2 * HOUR_MS);
    const pages = paid().filter((c) => isSweep(c.query));
    const begins = pages.slice(0, 3).map((c) => c.variables.after === null);
    expect(begins, "the listing began anew instead of going on from its page").toEqual([true, false, false]);
    await rig.clock.until(async () => (await rig.names()).length === 5, 12 * HOUR_MS);
    const first_ms = paid()[0]!.at_ms;
    const hours = paid().map((c) => Math.floor((c.at_ms - first_ms) / HOUR_MS));
    for (const hour of hours) expect(hours.filter((h) => h === hour).length).toBeLessThanOrEqual(2);
    expect(rig.ended.filter((e) => e.outcome === "failed")).toEqual([]);
  });

  it("an allowance that somebody else spent is told with HTTP 200, and heeded as well", async () => {
    await indexed({ hub: { limits: { points: 40 } } });
    // Another program with the same token: GitHub's own count is what matters.
    const query = "query { rateLimit { cost } }";
    const headers = { authorization: "Bearer token-of-bot" };
    for (let n = 0; n < 60; n += 1)
      await rig.hub.answer({
        at_ms: rig.hub.now_ms,
        method: "POST",
        path: "/graphql",
        headers,
        body: JSON.stringify({ query }),
      });
    const before = rig.hub.count;
    await rig.clock.advance(1_800_000);
    // One call finds out, and perhaps one that was on its way.
    expect(rig.hub.count - before).toBeLessThanOrEqual(2);
    await rig.clock.advance(3_600_000);
    expect(rig.hub.count - before).toBeGreaterThan(3);
    expect(rig.ended.filter((e) => e.outcome === "failed")).toEqual([]);
  });

  it("a secondary limit (403 with Retry-After) is waited for, and is no failure", async () => {
    await five({ hub: { limits: { cpu_ms: 1 } } });
    rig.start();
    await rig.clock.advance(1_200_000);
    expect(await rig.names()).toHaveLength(5);
    expect(rig.ended.filter((e) => e.outcome === "failed")).toEqual([]);
    const refused = rig.upstream.requests.length - rig.hub.calls.length - 1;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(25);
  });

  it("calls at once stay within what is allowed, however many workers there are", { timeout: 120_000 }, async () => {
    await five({ page_most: 100, hub: { limits: { at_once: 10 }, latency_ms: 2_000 } });
    for (let n = 5; n < 60; n += 1) rig.hub.repository(`acme/r${n}`);
    for (let n = 0; n < 15; n += 1) rig.start({ slots: 1 });
    await rig.clock.until(async () => (await rig.count("repository")) === 60);
    await rig.calm();
    expect(rig.closed).toEqual([]);
  });

  it("a page that takes too long is asked for in smaller parts, and the listing comes to its end", async () => {
    await five({ page_most: 100 });
    for (let n = 5; n < 40; n += 1) rig.hub.repository(`acme/r${n}`);
    for (const { id } of rig.hub.owner("acme").repositories.values()) rig.hub.slow.set(id, 400);
    rig.start();
    await rig.clock.advance(240_000);
    expect(await rig.count("repository")).toBe(40);
    const sizes = rig.hub.calls.filter((c) => isSweep(c.query)).map((c) => c.variables.first);
    expect(sizes.slice(0, 4)).toEqual([100, 50, 25, 25]);
  });

  it("one repository that takes too long does not keep the others of its call from being read", async () => {
    await five({ page_most: 100 });
    const { id } = rig.hub.find("acme/r3")!;
    rig.hub.mischief = (_, query, variables) =>
      query.includes("ALPHABETICAL") && Object.values(variables).includes(id) ? { mischief: "timeout" } : null;
    rig.start();
    // Before a second try could come.
    await rig.clock.advance(8_000);
    expect(await rig.names()).toHaveLength(4);
    rig.hub.mischief = () => null;
    await rig.sweep(3_600_000);
    expect(await rig.names()).toHaveLength(5);
  });
});

describe("tokens", () => {
  it("of several accounts are spent in turn, and a private repository is found", async () => {
    await rig.reset();
    await rig.end();
    const hub = await rig.reset({
      hub: { limits: { points: 40 } },
      tokens: { "github.com": ["token-of-ann", "token-of-bob"] },
    });
    for (const login of ["ann", "bob"]) hub.account(login, { member: ["acme"] });
    hub.repository("acme/secret", { isPrivate: true });
    hub.push("acme/secret", "v1.0.0", { files: gomod("github.com/acme/secret") });
    await rig.follow("github.com/acme");
    rig.start();
    await rig.calm();
    expect(await rig.names()).toEqual(["github.com/acme/secret@v1.0.0"]);
    await rig.clock.advance(1_800_000);
    expect(new Set(hub.calls.map((c) => c.viewer))).toEqual(new Set(["ann", "bob"]));
  });

  it("go to their own host only, and an Enterprise Server needs no limits", async () => {
    await rig.reset();
    await rig.end();
    const hub = await rig.reset({ hub: { enterprise: true }, tokens: { "ghe.corp.example": ["token-of-bot"] } });
    hub.account("bot");
    hub.repository("Acme/X");
    hub.push("Acme/X", "v1.0.0", { files: gomod("ghe.corp.example/Acme/X") });
    await rig.follow("https://ghe.corp.example/Acme");
    rig.start();
    await rig.calm();
    expect(await rig.names()).toEqual(["ghe.corp.example/Acme/X@v1.0.0"]);
    expect(rig.upstream.requests.map((r) => r.path)).toEqual(["/api/v3/user", ...Array(3).fill("/api/graphql")]);
  });
});
