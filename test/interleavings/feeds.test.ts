/** A feed while two writers commit out of order, on a real PostgreSQL: a reader that polls misses nothing. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readFeed } from "../../src/index.ts";
import { publish } from "../../src/mirror/feed.ts";
import type { Queryable } from "../../src/store/db.ts";
import { news, toyKind, toySource } from "../sql/toy.ts";
import { blocks, letGo, Session } from "./session.ts";
import { Workbench } from "./workbench.ts";

/** Reads on from the last entry it saw, as a client of the feed does. */
class Reader {
  readonly seen: string[] = [];
  #since: string | null = null;
  readonly #bench: Workbench;

  constructor(bench: Workbench) {
    this.#bench = bench;
  }

  async poll(): Promise<void> {
    const { rows } = await this.#bench.db.query<{ name: string; published_at: string }>(
      readFeed(news, ["name"], this.#since, 100),
    );
    for (const { name, published_at } of rows) {
      if (published_at !== this.#since) this.seen.push(name);
      this.#since = published_at;
    }
  }
}

describe("two writers of one feed", () => {
  let bench: Workbench;
  const say = (tx: Queryable, name: string) => publish(tx, news, [{ name, version: "1" }]);

  beforeAll(async () => {
    bench = await Workbench.open();
  });
  afterEach(letGo);
  beforeEach(() => bench.reset(toySource({ page: toyKind() })));

  it("become visible in the order of their stamps: the second waits until the first has committed", async () => {
    const reader = new Reader(bench);
    await bench.db.transaction((tx) => say(tx, "before"));
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    await say(a.tx, "from a");
    const second = say(b.tx, "from b");
    await blocks(bench.db, second);
    await reader.poll();
    expect(reader.seen).toEqual(["before"]);
    await a.commit();
    await second;
    await reader.poll();
    await b.commit();
    await reader.poll();
    await reader.poll();
    expect(reader.seen).toEqual(["before", "from a", "from b"]);
  });

  it("lose nothing when the first rolls back", async () => {
    const reader = new Reader(bench);
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    await say(a.tx, "from a");
    const second = say(b.tx, "from b");
    await blocks(bench.db, second);
    await a.rollback();
    await second;
    await b.commit();
    await reader.poll();
    expect(reader.seen).toEqual(["from b"]);
  });

  it("that both publish the same entry publish it once", async () => {
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    await say(a.tx, "same");
    const second = say(b.tx, "same");
    await blocks(bench.db, second);
    await a.commit();
    expect(await second).toBe(0);
    await b.commit();
    expect(await bench.rows(sql`select name from toy.entry`)).toEqual([{ name: "same" }]);
  });

  it("would lose an entry if each stamped it with the time of day", async () => {
    const reader = new Reader(bench);
    const naive = (tx: Queryable, name: string) =>
      tx.query(sql`insert into toy.entry (name, version, published_at) values (${name}, '1', clock_timestamp())`);
    const a = await Session.begin(bench.db);
    const b = await Session.begin(bench.db);
    await naive(a.tx, "from a");
    await naive(b.tx, "from b");
    await b.commit();
    await reader.poll();
    await a.commit();
    await reader.poll();
    expect(reader.seen).toEqual(["from b"]);
  });

  it("and six more at once: a reader that polls all the while sees every entry, once and in order", async () => {
    const reader = new Reader(bench);
    let writing = true;
    const reading = (async () => {
      while (writing) await reader.poll();
    })();
    const writer = async (w: number) => {
      for (let i = 0; i < 15; i += 1)
        await bench.db.transaction(async (tx) => {
          await say(tx, `${w}-${i}`);
          await tx.query(sql`select count(*) from tidemark.due`);
        });
    };
    await Promise.all(Array.from({ length: 8 }, (_, w) => writer(w)));
    writing = false;
    await reading;
    await reader.poll();
    expect(reader.seen).toHaveLength(8 * 15);
    for (let w = 0; w < 8; w += 1)
      expect(reader.seen.filter((n) => n.startsWith(`${w}-`))).toEqual(
        Array.from({ length: 15 }, (_, i) => `${w}-${i}`),
      );
  });
});
