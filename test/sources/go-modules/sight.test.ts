/** Tokens of accounts that do not see the same: what one of them does not see is not gone. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { GitHub } from "../../../src/demo/github/hub.ts";
import { migrations } from "../../../src/sources/go-modules/tables.ts";
import { testDatabase } from "../../postgres.ts";
import { GoRig, gomod } from "./rig.ts";

const secret = "github.com/acme/secret";
let rig: GoRig;
let hub: GitHub;
beforeAll(async () => {
  rig = new GoRig((await testDatabase({ migrations: [{ owner: "go-modules", ...migrations }] })).db);
});
/** Ann is a member of acme and sees a private repository, bob does not. */
beforeEach(async () => {
  hub = await rig.reset({
    tokens: { "github.com": ["token-of-ann", "token-of-bob"] },
    settings: { refresh: "1h" },
    page_most: 2,
  });
  hub.account("ann", { member: ["acme"] });
  hub.account("bob");
  for (const name of ["secret", "one", "two", "three"]) {
    hub.repository(`acme/${name}`, { isPrivate: name === "secret" });
    hub.push(`acme/${name}`, "v1.0.0", { files: gomod(`github.com/acme/${name}`) });
  }
});
afterEach(() => rig.end());

/** Sweeps, and keeps house, until the versions are these; three hours of that at most. */
async function until(available: string[]): Promise<void> {
  const wanted = available.map((name) => `${name}@v1.0.0`).join();
  for (let n = 0; n < 36 && (await rig.names()).join() !== wanted; n += 1) {
    await rig.live(300_000);
    await rig.keepHouse();
  }
  expect(await rig.names()).toEqual(available.map((name) => `${name}@v1.0.0`));
}
const open = ["one", "three", "two"].map((name) => `github.com/acme/${name}`);
const everything = [...open, secret].sort();

it("a repository that only one of them sees is found, and stays for hours, whoever sweeps", async () => {
  await rig.follow("github.com/acme");
  await until(everything);
  for (let n = 0; n < 24; n += 1) {
    await rig.live(300_000);
    expect(await rig.names()).toHaveLength(4);
  }
  await rig.keepHouse();
  expect(await rig.count("repository")).toBe(4);
  expect(new Set(hub.calls.map((c) => c.viewer))).toEqual(new Set(["ann", "bob"]));
  const { rows } = await rig.db.query<{ n: number }>(
    sql`select count(*)::int as n from go_modules.version where deleted_at is not null or moved_at is not null`,
  );
  expect(rows).toEqual([{ n: 0 }]);
});

it("one that is deleted is gone once the account that saw it says so", async () => {
  await rig.follow("github.com/acme");
  await until(everything);
  hub.delete("acme/secret");
  hub.delete("acme/two");
  await until(["github.com/acme/one", "github.com/acme/three"]);
});

it("one that is followed by name is not given up because the wrong one asked", async () => {
  await rig.follow(secret);
  await until([secret]);
  for (let n = 0; n < 12; n += 1) {
    await rig.live(300_000);
    expect((await rig.status())[`named ${secret}`]?.status).not.toBe("gone");
  }
  expect(await rig.names()).toEqual([`${secret}@v1.0.0`]);
  hub.delete("acme/secret");
  await until([]);
});

it("the word of those who are left is believed when whoever saw it has not been asked for two periods", async () => {
  await rig.follow("github.com/acme");
  await until(everything);
  hub.revoke("token-of-ann");
  await rig.live(1_800_000);
  expect(await rig.names()).toHaveLength(4);
  await until(open);
});
