/** Lanes as rows, on both databases: made once, and brought up to date when the code declares them otherwise. */
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
});
