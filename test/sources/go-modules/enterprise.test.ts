/** An Enterprise Server as a company has it: a certificate of its own authority, its own paths, and limits only if somebody set some. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { environmentWith } from "../../../src/config.ts";
import { GitHub } from "../../../src/demo/github/hub.ts";
import { type ServedGitHub, serveGitHub } from "../../../src/demo/github/server.ts";
import { Lanes } from "../../../src/engine/lanes.ts";
import { follow } from "../../../src/index.ts";
import { goModules } from "../../../src/sources/go-modules/source.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { wipe } from "../../../src/testing/wipe.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { authority, certificate, key } from "./enterprise-certificate.ts";
import type { Order } from "./index-worker.ts";
import { all_tables, GoRig, gomod } from "./rig.ts";

const HOST = "ghe.corp.example";

describe("an Enterprise Server with a certificate of its own authority", () => {
  let store: TestPostgres;
  let served: ServedGitHub;
  let hub: GitHub;
  let child: ChildProcess | undefined;
  let closed: Promise<unknown> | undefined;

  beforeAll(async () => {
    store = await testDatabase({ migrations: [{ owner: "go-modules", ...migrations }] });
    hub = new GitHub({ enterprise: true });
    hub.account("bot");
    hub.repository("Acme/X");
    hub.push("Acme/X", "v1.0.0", { files: gomod(`${HOST}/Acme/X`) });
    served = await serveGitHub(hub, () => performance.timeOrigin + performance.now(), 0, { cert: certificate, key });
    return () => served.close();
  });
  afterEach(async () => {
    child?.kill("SIGKILL");
    await closed;
  });

  /** A worker of its own that follows the server, with these settings of Node; what it says of the first pull of an owner. */
  async function firstPull(environment: Record<string, string>): Promise<string> {
    await wipe(store.db, all_tables);
    await follow(store.db, new Lanes([goModules()]), "go-modules", `https://${HOST}/Acme`);
    const api = `${served.url}/api`;
    const order: Order = {
      database_url: store.url,
      name: "w",
      host: HOST,
      api,
      token: "token-of-bot",
      late_ms: 0,
    };
    const file = fileURLToPath(new URL("index-worker.ts", import.meta.url));
    child = spawn(process.execPath, ["--import", "tsx", file, JSON.stringify(order)], {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      env: { ...environmentWith(), ...environment } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "ignore"],
    });
    closed = once(child, "close");
    for await (const line of readline.createInterface({ input: child.stdout! }))
      if (/^\w+ owner /.test(line)) return line;
    throw new Error("the worker ended");
  }

  it("is indexed by whoever names that authority in NODE_EXTRA_CA_CERTS", { timeout: 120_000 }, async () => {
    const file = path.join(inject("scratch"), "corp-authority.pem");
    await writeFile(file, authority);
    expect(await firstPull({ NODE_EXTRA_CA_CERTS: file })).toMatch(/^fresh owner/);
    await expect
      .poll(async () => (await store.db.query(sql`select path, version from go_modules.version`)).rows, {
        timeout: 240_000,
      })
      .toEqual([{ path: `${HOST}/Acme/X`, version: "v1.0.0" }]);
    expect(hub.calls.length).toBeGreaterThanOrEqual(3);
  });

  it("is not spoken to otherwise, and the reason says what to do", { timeout: 120_000 }, async () => {
    const before = hub.count;
    expect(await firstPull({ NODE_EXTRA_CA_CERTS: "" })).toMatch(
      /no secure connection to 127\.0\.0\.1:\d+ \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\).*NODE_EXTRA_CA_CERTS/,
    );
    expect(hub.count).toBe(before);
  });
});

describe("limits of an Enterprise Server", () => {
  let rig: GoRig;
  beforeAll(async () => {
    rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", ...migrations }] })).db);
  });
  afterEach(() => rig.end());

  /** The server, with four repositories of a version each. */
  async function four(limits?: { points: number }): Promise<void> {
    const hub = await rig.reset({
      hub: { enterprise: true, ...(limits ? { limits } : {}) },
      tokens: { [HOST]: ["token-of-bot"] },
      page_most: 2,
    });
    hub.account("bot");
    for (let n = 0; n < 4; n += 1) {
      hub.repository(`acme/r${n}`);
      hub.push(`acme/r${n}`, "v1.0.0", { files: gomod(`${HOST}/acme/r${n}`) });
    }
    await rig.follow(`${HOST}/acme`);
    rig.start();
  }

  it("are none unless somebody set some: no answer speaks of any, and nobody waits", async () => {
    await four();
    await rig.calm();
    expect(await rig.names()).toHaveLength(4);
    expect(rig.closed).toEqual([]);
    expect(new Set(rig.upstream.requests.map((r) => r.path))).toEqual(new Set(["/api/v3/user", "/api/graphql"]));
  });

  it("that an administrator set are learned from its answers, and kept", async () => {
    await four({ points: 3 });
    await rig.clock.until(() => rig.hub.calls.length >= 3, 3_600_000);
    await rig.clock.advance(3_400_000);
    // Those that were out at once may have found out together that nothing is left; after that nobody asks.
    const refused = rig.hub.calls.filter(({ points }) => points === 0);
    expect(rig.hub.calls.length - refused.length).toBe(3);
    expect(new Set(refused.map(({ at_ms }) => at_ms)).size).toBe(1);
    await rig.clock.until(async () => (await rig.names()).length === 4, 4 * 3_600_000);
    expect(rig.ended.filter((e) => e.outcome === "failed")).toEqual([]);
  });
});
