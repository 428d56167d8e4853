/** Lanes on both databases: rows made once and brought up to date when the code declares them otherwise, and bounds that workers keep. */
import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Lanes } from "../../src/engine/lanes.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("a lane, on $store", ({ open }) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(() => rig.reset());

  const declared = (slots: number, fleet: number) =>
    new Lanes([toySource({ repo: toyKind({ lane: () => ({ name: "line", slots, fleet }) }) })]);
  const ensure = (lanes: Lanes) => lanes.ensure(rig.db, lanes.spec("toy", "repo", "a", {}, undefined));
  const row = async () => (await rig.rows(sql`select slots, fleet from tidemark.lane where urgency = 'routine'`))[0];

  it("is known with its bounds to a worker that has not pulled anything yet", async () => {
    await ensure(declared(2, 3));
    const fresh = declared(2, 3);
    await fresh.load(rig.db);
    expect(fresh.rows().map((r) => [fresh.slots(r, 100), r.fleet])).toEqual([
      [2, 3],
      [2, 3],
    ]);
  });

  it("is brought up to date by a worker that starts, before it claims anything", async () => {
    await ensure(declared(0, 1));
    await declared(4, 2).declare(rig.db);
    expect(await row()).toEqual({ slots: 4, fleet: 2 });
  });

  it("follows what a later release declares, and keeps its rows", async () => {
    const before = await ensure(declared(2, 3));
    const later = declared(4, 1);
    await later.load(rig.db);
    expect(await ensure(later)).toEqual(before);
    expect(await row()).toEqual({ slots: 4, fleet: 1 });
  });

  it("lets only so many pulls run at once in one worker, asked or routine, while another lane has the rest", async () => {
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    const held = (name: string, slots?: number) =>
      toyKind({
        lane: () => ({ name, ...(slots === undefined ? {} : { slots }) }),
        // biome-ignore lint/correctness/useYield: it only takes its time
        async *pull(pull) {
          const now = (running.get(name) ?? 0) + 1;
          running.set(name, now);
          most.set(name, Math.max(most.get(name) ?? 0, now));
          await rig.clock.sleep(30_000, pull.signal);
          running.set(name, running.get(name)! - 1);
          return undefined;
        },
      });
    await rig.reset(toySource({ narrow: held("narrow", 3), wide: held("wide") }));
    const keys = Array.from({ length: 10 }, (_, n) => `k${n}`);
    for (const name of ["narrow", "wide"]) await rig.follow(...keys.map((key) => `${name}:${key}`));
    // Half of them are routine: both halves together keep to the bound.
    await rig.db.query(sql`
      update tidemark.due d set lane_id = b.lane_id
        from tidemark.lane a join tidemark.lane b on (a.source, a.name, a.upstream, b.urgency) = (b.source, b.name, b.upstream, 'routine')
       where a.lane_id = d.lane_id and d.resource_id % 2 = 0`);
    rig.start({ slots: 20 });
    await rig.calm();
    expect(Object.fromEntries(most)).toEqual({ narrow: 3, wide: 10 });
    expect(rig.ended).toHaveLength(20);
    // Two workers have twice as many.
    most.clear();
    rig.start({ slots: 20 });
    await rig.db.query(sql`update tidemark.due set due_at = tidemark.now()`);
    await rig.calm();
    expect(most.get("narrow")).toBe(6);
    await rig.end();
  });
});
