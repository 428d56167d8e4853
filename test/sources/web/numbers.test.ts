/** Numbers of domain64 are given once: by the file that people keep, and after it to whoever comes. */
import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { encode } from "../../../src/sources/web/domain64.ts";
import { readEntries, readStandard } from "../../../src/sources/web/domain64-file.ts";
import { partsOf } from "../../../src/sources/web/names.ts";
import { prepareDomain } from "../../../src/sources/web/numbers.ts";
import type { Db } from "../../../src/store/db.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations } from "./rig.ts";

let db: Db;
beforeAll(async () => {
  ({ db } = await testDatabase({ migrations: migrations() }));
});

const follow = (host: string, text?: string) =>
  prepareDomain(db, partsOf(host), text === undefined ? readStandard() : readEntries(text, "mine.json"));
const domains = async () =>
  Object.fromEntries(
    (
      await db.query<{ name: string; no: string }>(sql`
        select d.domain || '.' || t.tld as name, d.tld_id || ':' || d.domain_no as no from web.domain d join web.tld t on t.tld_id = d.tld_id order by 1`)
    ).rows.map(({ name, no }) => [name, no]),
  );

describe("C19: a number", () => {
  it("is the file's, or the next that nobody ever had, also not who is retired", async () => {
    const file = `{"01": {"name": "gov", "children": {"000001": {"name": "gsa"}, "7": {"name": "old", "retired": true}}}}`;
    await follow("www.gsa.gov", file);
    await follow("nih.gov", file);
    await follow("www.example.unheardof", file);
    expect(await domains()).toMatchObject({
      "gsa.gov": "1:1",
      "old.gov": "1:7",
      "nih.gov": "1:8",
      "example.unheardof": "2:1",
    });
    await expect(follow("www.old.gov", file)).rejects.toThrow("old.gov is retired");
    await follow("gsa.gov", file);
    expect((await domains())["gsa.gov"]).toBe("1:1");
  });

  it("that is taken cannot be given by the file", async () => {
    await expect(follow("gsa.gov", `{"01": {"name": "gov", "children": {"8": {"name": "nasa"}}}}`)).rejects.toThrow(
      "nasa the number 8",
    );
    await expect(follow("gsa.gov", `{"01": {"name": "mil"}}`)).rejects.toThrow("mil the number 1");
  });

  it.each([
    ["{", "not JSON"],
    ['{"zz": {"name": "gov"}}', "hexadecimal"],
    ['{"100": {"name": "gov"}}', "hexadecimal number from 1 to ff"],
    ['{"01": {"name": "GOV"}}', "lower case"],
    ['{"01": {"name": "gov"}, "02": {"name": "gov"}}', "nothing is given twice"],
    ['{"01": {"name": "gov", "children": {"1": {"name": "a"}, "01": {"name": "b"}}}}', "nothing is given twice"],
  ])("is not read from %s", (text, sentence) => {
    expect(() => readEntries(text, "mine.json")).toThrow(sentence);
  });
});

describe("a partition", () => {
  const partitionOf = async (domain64: bigint) =>
    (
      await db.query<{ name: string }>(sql`
      insert into web.search (domain64, page_id, part, words) values (${domain64}::bigint, 1, 0, 'x') returning tableoid::regclass::text as name`)
    ).rows[0]!.name;

  it("C19: holds the first and the last number of its domain, below zero too, and shares none", async () => {
    await db.query(sql`insert into web.tld (tld_id, tld) values (127, 'aaa'), (128, 'bbb'), (255, 'ccc')`);
    for (const tld of ["aaa", "bbb", "ccc"]) await follow(`one.${tld}`, "{}");
    for (const tld of [127, 128, 255]) {
      const first = encode({ tld, domain: 1, subdomain: 0 });
      const last = encode({ tld, domain: 1, subdomain: 0xffffff }) + 255n;
      expect([await partitionOf(first), await partitionOf(last)]).toEqual([
        `web.search_${tld}_1`,
        `web.search_${tld}_1`,
      ]);
    }
    await expect(partitionOf(encode({ tld: 128, domain: 2, subdomain: 0 }))).rejects.toThrow("no partition");
  });

  it("is one for many beyond the first 128", async () => {
    await db.query(sql`insert into web.domain (tld_id, domain_no, domain) values (1, 16777214, 'last')`);
    await follow("www.beyond.gov", "{}");
    expect((await domains())["beyond.gov"]).toBe("1:16777215");
    expect(await partitionOf(encode({ tld: 1, domain: 0xffffff, subdomain: 1 }))).toBe("web.search_1_from_16776192");
    await expect(follow("www.onemore.gov", "{}")).rejects.toThrow("all are taken");
  });
});
