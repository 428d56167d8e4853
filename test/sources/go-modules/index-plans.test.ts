/** How PostgreSQL reads the feed when it is large: off an index, from `since` on, without sorting and without reading what is hidden. */
import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { indexPage } from "../../../src/sources/go-modules/feed-rows.ts";
import type { IndexRequest } from "../../../src/sources/go-modules/index-request.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { IndexRig } from "./index-rig.ts";

/** 40 owners with 10 modules of 200 versions each; the versions of the last owner came last, those of the first are deleted. */
const VERSIONS = 80_000;
const EPOCH = "2030-01-01T00:00:00Z";

interface Plan {
  "Node Type": string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

describe("the feed of a large index", () => {
  let rig: IndexRig<TestPostgres>;
  const asked: IndexRequest = { since: "-infinity", most: 2_000, all: false, prefix: null };

  /** Which indexes it went by, whether it sorted, and how many rows it read in vain. */
  const read = async (request: Partial<IndexRequest>) => {
    const { rows } = await rig.db.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      sql`explain (analyze, format json) ${indexPage({ ...asked, ...request })}`,
    );
    const nodes: Plan[] = [rows[0]!["QUERY PLAN"][0]!.Plan];
    for (const node of nodes) nodes.push(...(node.Plans ?? []));
    return {
      by: nodes.flatMap((node) => node["Index Name"] ?? (node["Node Type"] === "Seq Scan" ? ["all of it"] : [])),
      sorted: nodes.some((node) => node["Node Type"].includes("Sort")),
      in_vain: nodes.reduce((sum, node) => sum + (node["Rows Removed by Filter"] ?? 0), 0),
      rows: nodes[0]!["Actual Rows"],
    };
  };

  beforeAll(async () => {
    rig = await IndexRig.open(testDatabase);
    await rig.db.query(sql`
      insert into go_modules.version (path, version, resource_id, tag, commit_oid, published_at, deleted_at)
      select 'github.com/owner' || lpad((i / 2000)::text, 2, '0') || '/m' || i / 200 % 10, 'v0.' || i % 200 || '.0', i / 200, 'v', 'c',
             ${EPOCH}::timestamptz + i * interval '1 microsecond', case when i < 2000 then now() end
        from generate_series(0, ${VERSIONS - 1}) i`);
    await rig.db.query(sql`vacuum analyze go_modules.version`);
  });

  it("is read off the index of what is available, and what is deleted is not even skipped", async () => {
    expect(await read({})).toEqual({ by: ["version_available"], sorted: false, in_vain: 0, rows: 2_000 });
    expect(await read({ since: "2030-01-01T00:00:00.079990Z" })).toMatchObject({
      by: ["version_available"],
      in_vain: 0,
      rows: 10,
    });
  });

  it("with all that ever was is read off the index of stamps", async () => {
    expect(await read({ all: true })).toEqual({ by: ["version_published"], sorted: false, in_vain: 0, rows: 2_000 });
  });

  it("of one owner is read off the index of owners, wherever in the feed it stands", async () => {
    const page = { sorted: false, in_vain: 0, rows: 200, by: ["version_by_owner"] };
    expect(await read({ prefix: "github.com/owner39", most: 200 })).toEqual(page);
    expect(await read({ prefix: "github.com/owner05", most: 200 })).toEqual(page);
  });

  it("of one module reads little more than its versions", async () => {
    const page = await read({ prefix: "github.com/owner39/m7" });
    expect(page.rows).toBe(200);
    expect(page.in_vain).toBeLessThanOrEqual(2_000);
    expect(page.by).not.toContain("all of it");
    expect(page.by).not.toContain("version_available");
  });

  it("of one host is read like the whole", async () => {
    expect(await read({ prefix: "github.com" })).toMatchObject({
      by: ["version_available"],
      sorted: false,
      in_vain: 0,
      rows: 2_000,
    });
  });
});
