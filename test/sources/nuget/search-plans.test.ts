/** How PostgreSQL searches a large feed: off indexes, reading no more packages than match, also words that were stored otherwise before. */
import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import type { Db, Queryable } from "../../../src/index.ts";
import { readSearch } from "../../../src/sources/nuget/search-request.ts";
import { complete, countFound, isSmall, search } from "../../../src/sources/nuget/search-rows.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations } from "./rig.ts";

const PACKAGES = 20_000;

interface Plan {
  "Node Type": string;
  "Index Name"?: string;
  "Relation Name"?: string;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Plan[];
}

describe("a search among many packages", () => {
  let db: Db;
  beforeAll(async () => {
    ({ db } = await testDatabase({ migrations: migrations() }));
    // Number n has the words of its last digits: word7 is in the id of one in ten, tag of one in a hundred, rare in the text of one in a thousand.
    await db.query(sql`
      insert into nuget.package (feed_id, lower_id, resource_id, id, id_ticks, ticks, stable_key, any_key, stable2_key, any2_key, search)
      select 1, 'package' || i, i, 'Package' || i, i, i, '1.0.0', '1.0.0', '1.0.0', '1.0.0',
             array_to_tsvector(array['i/package' || i, 'i/word' || i % 10, 't/tag' || i % 100, 'rare' || i % 1000, 'y/dependency'])
        from generate_series(1, ${PACKAGES}) i`);
    await db.query(sql`
      insert into nuget.version (feed_id, lower_id, version_key, resource_id, sort_key, ticks, stamp, leaf, id, version, full_version,
                                 deleted, listed, prerelease, semver2, read, package_types, details)
      select 1, 'package' || i, '1.0.0', i, '1', i, '', '', 'Package' || i, '1.0.0', '1.0.0', false, true, false, false, true, '{}', '{}'
        from generate_series(1, ${PACKAGES}) i`);
    await db.query(sql`vacuum analyze nuget.package`);
    await db.query(sql`vacuum analyze nuget.version`);
  });

  /** Which indexes its statements went by, and how many rows they read in vain. */
  const plansOf = async (work: (read: Queryable) => Promise<unknown>) => {
    const by = new Set<string>();
    let in_vain = 0;
    const read: Queryable = {
      async query(statement) {
        if (!statement.text.trimStart().startsWith("explain")) {
          const { rows } = await db.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
            sql`explain (analyze, format json) ${statement}`,
          );
          const nodes = [rows[0]!["QUERY PLAN"][0]!.Plan];
          for (const node of nodes) {
            nodes.push(...(node.Plans ?? []));
            if (node["Index Name"]) by.add(node["Index Name"]);
            if (node["Node Type"] === "Seq Scan") by.add(`all of ${node["Relation Name"]}`);
            in_vain += (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
          }
        }
        return db.query(statement);
      },
    };
    const found = await work(read);
    return { by, in_vain, found };
  };
  const asked = (q: string, more: Record<string, string> = {}) =>
    readSearch((name) => ({ q, semVerLevel: "2.0.0", ...more })[name]);

  it.each([
    ["word of ids", "word7", 20],
    ["tag", "tag33", 20],
    ["word of descriptions", "rare123", 20],
    ["pair of words", "word3 tag33", 20],
    ["beginning of an id", "package1999", 11],
  ])("for a %s goes by the index of words, and looks at no row in vain", async (_, q, hits) => {
    const { by, in_vain, found } = await plansOf((read) => search(read, 1n, asked(q), false));
    expect(found).toHaveLength(hits);
    expect([...by].sort()).toEqual(["package_pkey", "package_search", "version_live", "version_pkey"]);
    expect(in_vain).toBe(0);
  });

  it("for a type of package goes by the index of words, too", async () => {
    const { by, in_vain, found } = await plansOf((read) =>
      countFound(read, 1n, asked("", { packageType: "DotnetTool" }), false),
    );
    expect([found, [...by], in_vain]).toEqual([0, ["package_search"], 0]);
  });

  it("finds the same at once where packages are few, and level by level where they are many", async () => {
    expect(await isSmall(db)).toBe(false);
    for (const q of ["word7", "tag33", "rare123", "word3 tag33", "package1999", "tags:tag5 word5", ""])
      for (const more of [{}, { skip: "7", take: "9" }, { take: "1000", packageType: "dependency" }]) {
        const request = asked(q, more);
        expect(await search(db, 1n, request, true), q).toEqual(await search(db, 1n, request, false));
      }
  });

  it("for nothing in particular reads the newest off their index", async () => {
    const { by, found } = await plansOf((read) => complete(read, 1n, asked("", { take: "3" }), false));
    expect(found).toEqual(["Package20000", "Package19999", "Package19998"]);
    expect([...by].sort()).toEqual(["package_newest", "package_pkey"]);
  });

  it("counts matches one by one, and many by what the database knows of them", async () => {
    expect(await countFound(db, 1n, asked("word7"), false)).toBe(2_000);
    const { by, found } = await plansOf((read) =>
      countFound(read, 1n, asked("", { packageType: "dependency" }), false),
    );
    expect(by.size).toBe(0);
    expect(Math.abs((found as number) - PACKAGES)).toBeLessThan(PACKAGES / 10);
  });
});

describe("words that were stored with weights", () => {
  it("are found as before where they stood", async () => {
    const [own] = migrations();
    const { db } = await testDatabase({ migrations: [{ owner: "nuget", steps: own!.steps.slice(0, 1) }] });
    await db.query(sql`
      insert into nuget.package (feed_id, lower_id, resource_id, id, id_ticks, ticks, any2_key, package_types, search)
      values (1, 'some.json', 1, 'Some.Json', 1, 1, '1.0.0', '{DotnetTool}', '''json'':2A,3B ''some'':1A ''tag'':4B ''text'':5C'),
             (1, 'empty', 2, 'Empty', 1, 1, '1.0.0', '{}', '')`);
    await migrate(db, [own!]);
    const { rows } = await db.query<{ words: string[] }>(
      sql`select tsvector_to_array(search) as words from nuget.package order by resource_id`,
    );
    expect(rows.map(({ words }) => words.toSorted())).toEqual([
      ["i/json", "i/some", "t/json", "t/tag", "text", "y/dotnettool"],
      [],
    ]);
  });
});
