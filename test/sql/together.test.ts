/** Pulls that share a call, and what a listing may say of its children, on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Batch, type Child, every, kind, type Pull } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource, words } from "./toy.ts";

type Shared = { pull: Pull<{ n: number }>; batch: Batch<{ n: number }> };

describe.each(stores)("together, on $store", ({ open }) => {
  let rig: Rig;
  let calls: string[][] = [];
  const cursor = z.object({ n: z.number() }).default({ n: 0 });
  const keys = (pulls: { resource: { key: string } }[]) => pulls.map((p) => p.resource.key).sort();

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  it("one call pulls many, in groups of one upstream and no larger than asked", async () => {
    calls = [];
    const page = kind<{ n: number }>({
      upstream: (key) => ({ name: key.split("/")[0]! }),
      schedule: every("1h"),
      cursor,
      together: { most: 2 },
      async *pullTogether(pulls) {
        calls.push(keys(pulls));
        yield pulls.map((pull): Shared => {
          const row = { word: pull.resource.key, version: 1 };
          return { pull, batch: { put: [words.rows([row])], cursor: { n: 1 } } };
        });
      },
    });
    await rig.reset(toySource({ page }));
    await rig.follow("x/1", "x/2", "x/3", "y/1");
    rig.start();
    await rig.calm();
    expect(calls.map((c) => c.length).sort()).toEqual([1, 1, 2]);
    expect(calls.every((c) => new Set(c.map((key) => key.split("/")[0])).size === 1)).toBe(true);
    expect(await rig.rows(sql`select word from toy.word order by word`)).toHaveLength(4);
    expect(rig.ended.map((e) => e.outcome)).toEqual(["fresh", "fresh", "fresh", "fresh"]);
  });

  it("what falls due within a fifth of the period comes along, so that those of one call keep together", async () => {
    calls = [];
    const page = kind<{ n: number }>({
      upstream: { name: "toy.example" },
      schedule: every("1h"),
      cursor,
      together: { most: 10 },
      async *pullTogether(pulls) {
        calls.push(keys(pulls));
        yield pulls.map((pull): Shared => ({ pull, batch: { cursor: { n: pull.cursor.n + 1 } } }));
      },
    });
    await rig.reset(toySource({ page }));
    await rig.follow("a", "b", "c");
    rig.start();
    await rig.calm();
    const minutes = { a: 20, b: 31, c: 33 };
    for (const [key, n] of Object.entries(minutes))
      await rig.db.query(sql`
        update tidemark.due d set due_at = tidemark.now() + ${n}::int * interval '1 minute'
          from tidemark.resource r where r.resource_id = d.resource_id and r.key = ${key}`);
    calls = [];
    await rig.clock.advance(19 * 60_000);
    // Nothing is due yet, and nothing is pulled forward for its own sake.
    expect(calls).toEqual([]);
    await rig.clock.advance(2 * 60_000);
    expect(calls).toEqual([["a", "b"]]);
    await rig.clock.advance(13 * 60_000);
    expect(calls).toEqual([["a", "b"], ["c"]]);
  });

  it("a batch that is refused fails alone, and the others of its call commit", async () => {
    const page = kind<{ n: number }>({
      upstream: { name: "toy.example" },
      schedule: every("1h"),
      cursor,
      together: { most: 10 },
      async *pullTogether(pulls) {
        yield pulls.map((pull): Shared => {
          const rows = pull.resource.key === "bad" ? [{ version: 1 }] : [{ word: pull.resource.key, version: 1 }];
          return { pull, batch: { put: [words.rows(rows)], cursor: { n: 1 } } };
        });
      },
    });
    await rig.reset(toySource({ page }));
    await rig.follow("bad", "good");
    rig.start();
    await rig.clock.until(() => rig.ended.length >= 2);
    expect(Object.fromEntries(rig.ended.map((e) => [e.key, e.outcome]))).toEqual({ bad: "failed", good: "fresh" });
    expect(await rig.rows(sql`select word from toy.word`)).toEqual([{ word: "good" }]);
  });

  it("one probe says for many that nothing changed, and only the rest is pulled", async () => {
    calls = [];
    const pulled: string[] = [];
    const page = kind<{ n: number }>({
      upstream: { name: "toy.example" },
      schedule: every("1h"),
      cursor,
      together: { most: 10 },
      async probe(pulls) {
        calls.push(keys(pulls));
        return pulls.map((pull) => ({ pull, unchanged: pull.resource.key !== "new" }));
      },
      async *pull({ resource }) {
        pulled.push(resource.key);
        yield { cursor: { n: 1 } };
        return undefined;
      },
    });
    await rig.reset(toySource({ page }));
    await rig.follow("a", "b", "new");
    rig.start();
    await rig.calm();
    expect([calls, pulled]).toEqual([[["a", "b", "new"]], ["new"]]);
    expect(await rig.statuses()).toEqual({ a: "waiting", b: "waiting", new: "waiting" });
  });

  it("a listing does not vouch for what was never pulled, and gives its children new options", async () => {
    let found: Child[] = [{ kind: "page", key: "c", options: { depth: 1 } }];
    const list = toyKind({
      async *pull(pull) {
        const at = pull.cursor.at + 1;
        yield { children: { found, complete: true }, vouch: found, cursor: { at, done: false } };
        return undefined;
      },
    });
    const page = toyKind({ options: z.object({ depth: z.number() }) });
    await rig.reset(toySource({ list, page }));
    await rig.follow("list:l");
    const worker = rig.start();
    await rig.calm();
    expect(rig.ended.map((e) => e.key)).toEqual(["l", "c"]);
    found = [{ kind: "page", key: "c", options: { depth: 2 } }];
    await rig.db.query(sql`update tidemark.due set due_at = tidemark.now() where resource_id = 1`);
    await rig.calm();
    expect(await rig.rows(sql`select options from tidemark.resource where key = 'c'`)).toEqual([
      { options: { depth: 2 } },
    ]);
    await rig.stop(worker);
  });
});
