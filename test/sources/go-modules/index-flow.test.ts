/** From tags at GitHub to a client that reads as pkgsite does: what it sees of odd repositories. */
import { Hono } from "hono";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { routes } from "../../../src/sources/go-modules/api.ts";
import { escapePath } from "../../../src/sources/go-modules/module-path.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { EPOCH } from "../../../src/testing/virtual-clock.ts";
import { testDatabase } from "../../postgres.ts";
import { Poller } from "./index-poller.ts";
import { GoRig, gomod } from "./rig.ts";

describe("a client of the index, behind an owner at GitHub", () => {
  let rig: GoRig;
  let app: Hono;
  let poller: Poller;
  const get = async (path: string) => app.request(`http://localhost${path}`);
  const json = async <T>(path: string) => (await (await get(path)).json()) as T;

  /** Follows acme, lets the index settle, and reads it to its end. */
  const seen = async (): Promise<string[]> => {
    await rig.follow("github.com/acme");
    rig.start();
    await rig.calm();
    await poller.toEnd();
    return (await poller.seen()).sort();
  };

  beforeAll(async () => {
    rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", ...migrations }] })).db);
  });
  afterEach(() => rig.end());
  beforeEach(async () => {
    await rig.reset();
    app = new Hono();
    routes(app, { read: rig.db });
    poller = await new Poller(rig.db, get).open();
  });

  it("sees a tag that is pushed today on a commit of two years ago (A2)", async () => {
    rig.hub.repository("acme/x");
    for (let i = 0; i < 15; i += 1) rig.hub.push("acme/x", `v1.${i}.0`, { files: gomod("github.com/acme/x") });
    expect(await seen()).toHaveLength(15);
    const date_ms = Date.parse(EPOCH) - 2 * 365 * 86_400_000;
    rig.hub.push("acme/x", "v0.9.0", { files: gomod("github.com/acme/x"), date_ms });
    await rig.sweep();
    await poller.toEnd();
    expect((await poller.seen()).at(-1)).toBe("github.com/acme/x@v0.9.0");
    expect(new Set(poller.news.values())).toEqual(new Set([1]));
  });

  it("sees modules in directories and major versions in both layouts, and no tag that is none (A8, A9, A10)", async () => {
    const x = "github.com/acme/x";
    rig.hub.repository("acme/x");
    const both = { ...gomod(x), ...gomod(`${x}/v2`, "v2/go.mod"), ...gomod(`${x}/sub`, "sub/go.mod") };
    for (const tag of ["v1.0.0", "v2.0.0", "sub/v0.1.0", "nothing/v0.1.0", "v1", "1.0.0", "v1.0.0+meta", "release-1"])
      rig.hub.push("acme/x", tag, { commit: "one", files: both });
    rig.hub.push("acme/x", "v3.0.0", { files: gomod(`${x}/v3`) });
    rig.hub.push("acme/x", "v1.1.0", { files: gomod(`${x}/v3`) });
    rig.hub.repository("acme/old");
    for (const tag of ["v1.0.0", "v2.0.0", "v3.0.0"])
      rig.hub.push("acme/old", tag, { files: { "old.go": "package old" } });
    expect(await seen()).toEqual([
      "github.com/acme/old@v1.0.0",
      "github.com/acme/old@v2.0.0+incompatible",
      "github.com/acme/old@v3.0.0+incompatible",
      `${x}/sub@v0.1.0`,
      `${x}/v2@v2.0.0`,
      `${x}/v3@v3.0.0`,
      `${x}@v1.0.0`,
    ]);
  });

  it("sees the declared path, whose capitals a proxy escapes, once; a second repository that declares it is a conflict (A11, A21)", async () => {
    rig.hub.repository("acme/Tools");
    rig.hub.push("acme/Tools", "v1.0.0", { files: gomod("go.acme.example/Tools") });
    rig.hub.repository("acme/Upper");
    rig.hub.push("acme/Upper", "v1.0.0", { files: gomod("github.com/acme/Upper") });
    rig.hub.repository("acme/fork");
    rig.hub.push("acme/fork", "v1.0.0", { files: gomod("github.com/acme/Upper") });
    expect(await seen()).toEqual(["github.com/acme/Upper@v1.0.0", "go.acme.example/Tools@v1.0.0"]);
    expect((await poller.seen()).map((name) => escapePath(name.split("@")[0]!)).sort()).toEqual([
      "github.com/acme/!upper",
      "go.acme.example/!tools",
    ]);
    const { results } = await json<{ results: object[] }>("/go/conflicts");
    expect(results).toMatchObject([
      { path: "github.com/acme/Upper", repository: "github.com/acme/fork", held_by: "github.com/acme/Upper" },
    ]);
    expect(await json("/go/status")).toMatchObject({ repositories: 3, versions: 2, conflicts: 1 });
  });

  it("is told how fresh it is: as of the last sweep, which looked at everything", async () => {
    rig.hub.repository("acme/x");
    rig.hub.push("acme/x", "v1.0.0", { files: gomod("github.com/acme/x") });
    await seen();
    const fresh = async () => (await get("/go/index")).headers.get("tidemark-fresh-at");
    const first = await fresh();
    expect(first).not.toBeNull();
    await rig.sweep();
    expect((await fresh())! > first!).toBe(true);
  });
});
