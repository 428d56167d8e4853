/** What one pull says of others, and what its neighbours in the same commit do to it, on both databases. */
import sql, { raw } from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Batch, type Kind, type Source, together } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { type ToyCursor, toyKind, toySource, words } from "./toy.ts";

describe.each(stores)("in one commit, on $store", ({ open }) => {
  let rig: Rig;
  const versions = (name: string) =>
    rig.rows<{ key: string; xmin: string }>(
      raw(`select to_jsonb(t)->>'word' as key, xmin::text as xmin from ${name} t order by 1`),
    );

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  describe("one pull", () => {
    const batches = (given: Record<string, Batch<ToyCursor>>): Source => {
      const page: Kind = toyKind({
        async *pull({ resource: { key } }) {
          const batch = given[key];
          if (batch) yield { cursor: { at: 1, done: true }, ...batch };
          return undefined;
        },
      });
      return toySource({ page });
    };
    const again = (...keys: string[]) =>
      rig.db.query(sql`
        update tidemark.due set due_at = tidemark.now()
         where resource_id in (select resource_id from tidemark.resource where key = any(${keys}::text[]))`);

    it("shares a statement with its neighbours, after the records of all of them", async () => {
      const calls: string[][] = [];
      const counted = together<string>(async (tx, values) => {
        const { rows } = await tx.query<{ n: number }>(sql`select count(*)::int as n from toy.word`);
        calls.push([`${rows[0]!.n} words`, ...values.toSorted()]);
      });
      const given = ["a", "b", "c"].map((key): [string, Batch<ToyCursor>] => [
        key,
        {
          put: [words.rows([{ owner_id: 1n, word: key, version: 1, facts: {} }])],
          ...(key === "c" ? {} : { write_together: counted(key) }),
        },
      ]);
      await rig.reset(batches(Object.fromEntries(given)));
      await rig.follow("a", "b", "c");
      rig.start();
      await rig.calm();
      expect(calls).toEqual([["3 words", "a", "b"]]);
    });

    it("confirms others as of its own beginning and postpones them, but never one that is leased", async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const ref = (key: string) => ({ kind: "page", key });
      const page = toyKind({
        async *pull({ resource: { key } }) {
          if (key === "leased") await gate;
          if (key === "owner") {
            await rig.clock.sleep(5_000);
            yield { cursor: { at: 1, done: true }, vouch: [ref("a"), ref("leased"), ref("nobody")] };
          }
          return undefined;
        },
      });
      await rig.reset(toySource({ page }));
      await rig.follow("a");
      rig.start();
      await rig.calm();
      await rig.clock.advance(1_000_000);
      await rig.follow("leased", "owner");
      await rig.clock.until(async () => (await rig.resource("owner")).status === "waiting");
      const owner = await rig.resource("owner");
      const a = await rig.resource("a");
      expect(a.fresh_at).toBe(owner.fresh_at);
      expect(a.lease_no).toBe(1n);
      expect((await rig.resource("leased")).fresh_at).toBeNull();
      release();
      await rig.calm();
      expect(rig.ended.filter((e) => e.key === "a")).toHaveLength(1);
    });

    it("does not make what is already fresher look older by confirming it", async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const page = toyKind({
        async *pull({ resource: { key } }) {
          if (key === "owner") await gate;
          if (key === "owner") yield { cursor: { at: 1, done: true }, vouch: [{ kind: "page", key: "a" }] };
          return undefined;
        },
      });
      await rig.reset(toySource({ page }));
      await rig.follow("owner");
      rig.start();
      await rig.clock.advance(12_000);
      await rig.follow("a");
      await rig.clock.until(async () => (await rig.resource("a")).status === "waiting");
      const before = await rig.resource("a");
      release();
      await rig.calm();
      expect((await rig.resource("a")).fresh_at).toBe(before.fresh_at);
      expect((await rig.resource("owner")).fresh_at! < before.fresh_at!).toBe(true);
    });

    it("makes others due by touching them", async () => {
      await rig.reset(batches({ owner: { touch: [{ kind: "page", key: "a" }] } }));
      await rig.follow("a");
      rig.start();
      await rig.calm();
      await rig.follow("owner");
      await rig.calm();
      expect(rig.ended.map((e) => e.key)).toEqual(["a", "owner", "a"]);
    });

    it("that changed nothing is not said to have changed because its neighbour in the same commit did", async () => {
      const given: Record<string, Batch<ToyCursor>> = {
        a: { put: [words.rows([{ word: "a", version: 1 }])] },
        b: { put: [words.rows([{ word: "b", version: 1 }])] },
      };
      await rig.reset(batches(given));
      await rig.follow("a", "b");
      rig.start();
      await rig.calm();
      const before = await rig.resource("b");
      await rig.clock.advance(60_000);
      given.a = { put: [words.rows([{ word: "a", version: 2 }])] };
      rig.ended.length = 0;
      await again("a", "b");
      await rig.calm();
      expect(rig.ended.map((e) => [e.key, e.changed]).sort()).toEqual([
        ["a", true],
        ["b", false],
      ]);
      expect((await rig.resource("b")).changed_at).toBe(before.changed_at);
    });

    it("whose batch is bad fails alone; its neighbours in the same commit are written", async () => {
      await rig.reset(
        batches({
          bad: { put: [words.rows([{ word: "bad", version: "no number" }])] },
          good: { put: [words.rows([{ word: "good", version: 1 }])] },
        }),
      );
      await rig.follow("bad", "good");
      rig.start();
      await rig.clock.advance(1_000);
      expect(await rig.rows(sql`select word from toy.word`)).toEqual([{ word: "good" }]);
      expect((await rig.resource("bad")).failures).toBe(1);
      expect((await rig.resource("good")).status).toBe("waiting");
    });

    it("with too big a batch writes nothing of it and says why", async () => {
      const rows = Array.from({ length: 5001 }, (_, i) => ({ word: `w${i}` }));
      await rig.reset(batches({ a: { put: [words.rows(rows)] } }));
      await rig.follow("a");
      rig.start();
      await rig.clock.advance(1_000);
      expect(rig.ended[0]).toMatchObject({ outcome: "failed", error_code: "BatchTooBig" });
      expect(await rig.rows(sql`select word from toy.word`)).toEqual([]);
    });

    it("that finds nothing new writes nothing but its due row", async () => {
      await rig.reset(batches({ a: { put: [words.rows([{ word: "a", version: 1 }])] } }));
      await rig.follow("a");
      rig.start();
      await rig.calm();
      const cold = () => rig.rows(sql`select xmin::text as xmin from tidemark.resource`);
      const before = [await cold(), await versions("toy.word")];
      const fresh_at = (await rig.resource("a")).fresh_at!;
      await rig.clock.advance(1_000);
      await again("a");
      await rig.calm();
      expect([await cold(), await versions("toy.word")]).toEqual(before);
      expect((await rig.resource("a")).fresh_at! > fresh_at).toBe(true);
    });
  });
});
