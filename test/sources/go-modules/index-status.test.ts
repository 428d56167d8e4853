/** What there is to know about the index besides its lines: totals, versions that moved, paths that two repositories claim. */
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stores } from "../../postgres.ts";
import { IndexRig, many } from "./index-rig.ts";

interface Page<R> {
  results: R[];
  next: string | null;
  fresh_at: string | null;
}

describe.each(stores)("what is told about the index, on $store", ({ open }) => {
  let rig: IndexRig;
  const x = "github.com/acme/x";

  beforeAll(async () => {
    rig = await IndexRig.open(open);
  });
  beforeEach(() => rig.reset());

  /** Repositories 1 to n, of which all but the first claim what the first holds. */
  const dispute = async (n: number, paths: string[]) => {
    await rig.db.query(sql`
      insert into go_modules.repository (resource_id, host, node_id, name, root, is_fork, is_archived, is_disabled, is_private, has_go, tags, listing_no)
      select i, 'github.com', 'R_' || i, 'acme/r' || i, 'github.com/acme/r' || i, false, false, false, false, true, 1, 1 from generate_series(1, ${n}) i`);
    await rig.db.query(sql`
      insert into go_modules.conflict (path, resource_id, held_by)
      select p.path, i, 1 from unnest(${paths}::text[]) as p(path), generate_series(2, ${n}) i`);
  };

  /** Page after page, to the end. */
  const pages = async <R>(path: string): Promise<R[][]> => {
    const all: R[][] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: Page<R> = await rig.json<Page<R>>(`${path}&after=${encodeURIComponent(next)}`);
      all.push(page.results);
      next = page.next;
    }
    return all;
  };

  it("are how many there are of everything, and the newest", async () => {
    await rig.publish(...many("github.com/acme/y", 3));
    for (const name of many(x, 12)) await rig.publish(name);
    await rig.remove("github.com/acme/y");
    await rig.db.query(
      sql`update go_modules.version set moved_at = tidemark.now(), moved_oid = 'b' where version = 'v0.1.0'`,
    );
    await dispute(3, [x]);
    const status = await rig.json<Record<string, unknown> & { newest: { version: string }[] }>("/go/status");
    expect(status).toMatchObject({
      repositories: 3,
      versions: 12,
      versions_deleted: 3,
      versions_moved: 2,
      conflicts: 2,
      fresh_at: null,
    });
    expect(status.newest.map((v) => v.version)).toEqual(
      many(x, 12)
        .slice(2)
        .reverse()
        .map((name) => name.split("@")[1]),
    );
  });

  it("are versions whose tag moved, with both commits, a page at a time (A13)", async () => {
    await rig.publish(...many(x, 5), `${x}/v2@v2.0.0`);
    await rig.db.query(sql`
      update go_modules.version set moved_at = '2030-01-01T00:00:00Z', moved_oid = 'another' where version <> 'v0.3.0'`);
    expect((await rig.json<Page<object>>("/go/moved?limit=1")).results).toEqual([
      {
        path: x,
        version: "v0.0.0",
        tag: "v0.0.0",
        commit_oid: `commit of ${x}@v0.0.0`,
        moved_oid: "another",
        moved_at: "2030-01-01T00:00:00.000000Z",
        deleted_at: null,
      },
    ]);
    const all = await pages<{ version: string }>("/go/moved?limit=2");
    expect(all.map((page) => page.map((v) => v.version))).toEqual([
      ["v0.0.0", "v0.1.0"],
      ["v0.2.0", "v0.4.0"],
      ["v2.0.0"],
    ]);
  });

  it("are paths that a repository declares and another holds, a page at a time (A11)", async () => {
    await dispute(12, [x, `${x}/v2`]);
    const all = await pages<{ path: string; resource_id: string; repository: string; held_by: string }>(
      "/go/conflicts?limit=10",
    );
    expect(all.map((page) => page.length)).toEqual([10, 10, 2]);
    expect(all[0]![0]).toEqual({
      path: x,
      resource_id: "2",
      repository: "github.com/acme/r2",
      held_by: "github.com/acme/r1",
    });
    const told = all.flat().map((c) => `${c.path} ${c.resource_id}`);
    expect(told).toEqual([x, `${x}/v2`].flatMap((path) => Array.from({ length: 11 }, (_, i) => `${path} ${i + 2}`)));
  });

  it("has pages of 100 at most, and none where there is nothing", async () => {
    expect(await rig.json("/go/moved")).toEqual({ results: [], next: null, fresh_at: null });
    await dispute(150, [x]);
    expect((await rig.json<Page<object>>("/go/conflicts?limit=1000")).results).toHaveLength(100);
    expect((await rig.json<Page<object>>("/go/conflicts?limit=149")).next).toBe(`${x}@101`);
  });

  it.each([
    "/go/moved?limit=0",
    "/go/moved?limit=x",
    "/go/moved?after=x",
    "/go/conflicts?after=x@y",
    "/go/conflicts?after=x@9999999999999999999",
  ])("answers 400 and a sentence to %s", async (path) => {
    const answer = await rig.get(path);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/limit is a whole number|after is what the page before gave/);
  });
});
