/** Coalescing and tidemarks on both databases: what is kept of messages that meet, and how far all are handled. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { stores } from "../postgres.ts";
import { box, Posting, to } from "./boxes.ts";
import { Rig } from "./rig.ts";
import { toySource } from "./toy.ts";

describe.each(stores)("how far, on $store", ({ open }) => {
  let rig: Rig;
  const posting = new Posting(() => rig);
  const { poster, begin, log, tidemark, again } = posting;

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  describe("coalescing", () => {
    const latest = () => box({ coalesce: (m) => m.same ?? String(m.n) });

    it("keeps the latest payload at the earliest position", async () => {
      await begin(latest(), {
        10: [to("x", 1, 2n, "s"), to("x", 9, 3n), to("x", 2, 5n, "s")],
        20: [to("x", 3, 15n, "s")],
      });
      // Nobody receives yet: all of it meets in the mailbox.
      await rig.db.query(sql`insert into tidemark.upstream (upstream) values ('toy.example') on conflict do nothing`);
      rig.use(toySource({ poster, box: { ...latest(), upstream: { name: "closed.example" } } }));
      await rig.db.query(
        sql`insert into tidemark.upstream (upstream, closed_until) values ('closed.example', tidemark.now() + interval '1 minute')`,
      );
      rig.start();
      await rig.clock.advance(5_000);
      const waiting = await rig.rows(sql`select payload, position from tidemark.message order by seq`);
      expect(waiting).toEqual([
        { payload: { n: 9 }, position: 3n },
        { payload: { n: 3, same: "s" }, position: 2n },
      ]);
      expect((await tidemark())!.position).toBe(1n);
      await rig.clock.advance(60_000);
      expect(await log()).toEqual([9, 3]);
      expect(await tidemark()).toMatchObject({ position: 20n });
    });

    it("of messages from two posters lets neither tidemark pass what is not handled", async () => {
      await rig.reset(toySource({ poster, box: { ...latest(), upstream: { name: "closed.example" } } }));
      await rig.db.query(
        sql`insert into tidemark.upstream (upstream, closed_until) values ('closed.example', tidemark.now() + interval '1 minute')`,
      );
      posting.posts = { 10: [to("x", 1, 5n, "s")] };
      await rig.follow("p");
      rig.start();
      await rig.clock.advance(1_000);
      posting.posts = { 1000: [to("x", 2, 700n, "s")] };
      await rig.follow("q");
      await rig.clock.advance(11_000);
      posting.posts = { 20: [] };
      await again("p");
      await rig.clock.advance(11_000);
      const marks = await rig.rows(
        sql`select r.key, t.position from tidemark.tidemark t join tidemark.resource r using (resource_id) order by r.key`,
      );
      expect(marks).toEqual([
        { key: "p", position: 4n },
        { key: "q", position: 699n },
      ]);
      await rig.clock.advance(60_000);
      expect((await log()).at(-1)).toBe(2);
      expect(await rig.rows(sql`select position from tidemark.tidemark order by position`)).toEqual([
        { position: 20n },
        { position: 1000n },
      ]);
    });
  });

  describe("a tidemark", () => {
    it("moves only past what is handled: of three finishing 2, 3, 1 it passes all with the last", async () => {
      const gates = new Map<string, () => void>();
      const gated = box({
        async receive(_messages, pull) {
          await new Promise<void>((resolve) => gates.set(pull.resource.key, resolve));
          return {};
        },
      });
      await begin(gated, { 30: [to("t1", 1, 10n), to("t2", 2, 20n), to("t3", 3, 30n)] });
      rig.start();
      await rig.clock.until(() => gates.size === 3);
      const marks = [(await tidemark())!.position];
      for (const key of ["t2", "t3", "t1"]) {
        gates.get(key)!();
        await rig.clock.advance(100);
        marks.push((await tidemark())!.position);
      }
      expect(marks).toEqual([9n, 9n, 9n, 30n]);
    });

    it("counts a position that arrives late as an anomaly, and waits for it at the cursor's place", async () => {
      await begin(box(), { 30: [to("x", 1, 10n)], 40: [to("y", 2, 5n), to("x", 3, 35n)] });
      rig.start();
      await rig.calm();
      expect(await log()).toHaveLength(3);
      expect(await tidemark()).toEqual({ internal: 40n, position: 40n, anomalies: 1n });
    });

    it("never goes back", async () => {
      await begin(box(), { 30: [to("x", 1, 10n)] });
      rig.start();
      await rig.calm();
      posting.posts = { 31: [to("x", 2, 3n)] };
      await again("p");
      await rig.calm();
      expect((await tidemark())!.position).toBe(31n);
    });
  });
});
