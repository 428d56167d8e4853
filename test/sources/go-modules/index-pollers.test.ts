/** A client that reads as pkgsite does, on a real PostgreSQL: it sees every version once, whoever publishes meanwhile and however. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Queryable } from "../../../src/store/db.ts";
import { blocks, letGo, Session } from "../../interleavings/session.ts";
import { type TestPostgres, testDatabase } from "../../postgres.ts";
import { Poller } from "./index-poller.ts";
import { entry, IndexRig, many, publishNames } from "./index-rig.ts";

const x = "github.com/acme/x";
const y = "github.com/acme/y";
const z = "github.com/acme/z";

describe("a client that reads as pkgsite does", () => {
  let rig: IndexRig<TestPostgres>;
  let poller: Poller;
  const get = (path: string) => rig.get(path);
  const published = async (): Promise<string[]> => {
    const { rows } = await rig.db.query<{ name: string }>(sql`
      select path || '@' || version as name from go_modules.version order by published_at`);
    return rows.map(({ name }) => name);
  };
  /** All of it, in order, and each once. */
  const sawEverything = async () => {
    expect(await poller.seen()).toEqual(await published());
    expect([...poller.news.keys()].sort()).toEqual((await published()).sort());
    expect(new Set(poller.news.values())).toEqual(new Set([1]));
  };

  beforeAll(async () => {
    rig = await IndexRig.open(testDatabase);
  });
  afterEach(letGo);
  beforeEach(async () => {
    await rig.reset();
    poller = await new Poller(rig.db, get).open();
  });

  it("begins at the beginning: 25 versions at 10 a look are 25 versions (A1)", async () => {
    for (const name of many(x, 25)) await rig.publish(name);
    expect(await poller.toEnd()).toBe(4);
    await sawEverything();
  });

  it("would never see a tag that is pushed today on an old commit, if that commit's date were its stamp (A2)", async () => {
    for (const name of many(x, 12)) await rig.publish(name);
    await poller.toEnd();
    await rig.publish(`${y}@v0.0.1`);
    await rig.db.query(
      sql`update go_modules.version set published_at = published_at - interval '2 years' where path = ${y}`,
    );
    await poller.toEnd();
    expect(await poller.seen()).toEqual(many(x, 12));
  });

  it("gets on when 50 versions were published in one commit (A3)", async () => {
    await rig.publish(...many(x, 50));
    await poller.toEnd();
    await sawEverything();
  });

  it("would stand still if they had one stamp: that is what the test above is for", async () => {
    await rig.publish(...many(x, 50));
    await rig.db.query(sql`drop index go_modules.version_published`);
    await rig.db.query(sql`update go_modules.version set published_at = '2030-01-01T00:00:00Z'`);
    await poller.toEnd();
    expect(await poller.seen()).toHaveLength(10);
    await rig.db.query(sql`truncate go_modules.version`);
    await rig.db.query(sql`create unique index version_published on go_modules.version (published_at)`);
  });

  it("gets what was begun first and committed last (A4)", async () => {
    await rig.publish(`${x}@v0.1.0`);
    await poller.toEnd();
    const a = await Session.begin(rig.db);
    const b = await Session.begin(rig.db);
    await publishNames(a.tx, [`${y}@v0.1.0`, `${y}@v0.2.0`]);
    const second = publishNames(b.tx, [`${z}@v0.1.0`]);
    await blocks(rig.db, second);
    await poller.toEnd();
    await a.commit();
    await second;
    await poller.toEnd();
    await b.commit();
    await poller.toEnd();
    expect((await poller.seen()).at(-1)).toBe(`${z}@v0.1.0`);
    await sawEverything();
  });

  it("would miss it if each stamped with the time of day: that is what the test above is for", async () => {
    const naive = (tx: Queryable, name: string) => {
      const { path, version, tag, commit_oid } = entry(name);
      return tx.query(sql`
        insert into go_modules.version (path, version, resource_id, tag, commit_oid, published_at)
        values (${path}, ${version}, 1, ${tag}, ${commit_oid}, clock_timestamp())`);
    };
    const a = await Session.begin(rig.db);
    const b = await Session.begin(rig.db);
    await naive(a.tx, `${x}@v0.1.0`);
    await naive(b.tx, `${y}@v0.1.0`);
    await b.commit();
    await poller.toEnd();
    await a.commit();
    await poller.toEnd();
    expect(await poller.seen()).toEqual([`${y}@v0.1.0`]);
  });

  it("never has one version twice in a batch, though it was published, deleted and published again (A5)", async () => {
    const greedy = await new Poller(rig.db, get, 2_000).open();
    await rig.publish(...many(x, 300));
    await rig.remove(x);
    await rig.publish(...many(y, 100), ...many(x, 310));
    await rig.db.query(sql`update go_modules.version set deleted_at = null`);
    await greedy.toEnd();
    expect(await greedy.seen()).toEqual(await published());
    expect(greedy.news.size).toBe(410);
  });

  it("resumes from its newest stamp as it was emitted: no entry is repeated but the last, and none is lost (A6)", async () => {
    for (const name of many(x, 21)) await rig.publish(name);
    for (let look = 0; look < 4; look += 1) await poller.poll();
    const since = await poller.cursor();
    const lines = await rig.lines(`?since=${since}`);
    expect(lines[0]!.Timestamp).toBe(since);
    await sawEverything();
    // Seconds would not do: all of these were published in the same few.
    const seconds = since.replace(/\.\d+Z$/, "Z");
    expect((await rig.lines(`?since=${seconds}`)).length).toBeGreaterThan(lines.length);
  });

  it("sees everything while eight connections publish, and some of them fail (A4)", async () => {
    let writing = true;
    const reading = (async () => {
      while (writing) await poller.poll();
    })();
    const write = async (w: number) => {
      for (let i = 0; i < 12; i += 1)
        await rig.db
          .transaction(async (tx) => {
            await publishNames(tx, many(`github.com/acme/w${w}-${i}`, 1 + ((w * 5 + i) % 4)));
            await tx.query(sql`select pg_sleep(${(w + i) % 3 === 0 ? 0.003 : 0})`);
            if (i % 5 === 4) throw new Error("it fails");
          })
          .catch((error: Error) => {
            if (error.message !== "it fails") throw error;
          });
    };
    await Promise.all(Array.from({ length: 8 }, (_, w) => write(w)));
    writing = false;
    await reading;
    await poller.toEnd();
    expect(await published()).not.toHaveLength(0);
    await sawEverything();
  });

  it("goes on where it was after a restart, because its table is all that it remembers", async () => {
    for (const name of many(x, 15)) await rig.publish(name);
    await poller.poll();
    const again = new Poller(rig.db, get);
    await again.toEnd();
    expect(await again.seen()).toEqual(await published());
    expect(again.news.size).toBe(5);
  });

  it("would fail on an answer with one version in it twice: that is what uniqueness is for (A5)", async () => {
    await rig.publish(`${x}@v0.1.0`);
    const twice = new Poller(rig.db, async (path) => new Response((await (await get(path)).text()).repeat(2)));
    await expect(twice.poll()).rejects.toThrow(/cannot affect row a second time/);
  });
});
