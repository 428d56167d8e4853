/** The life of a worker on both databases: due resources are pulled, leases end well, the dead are replaced. */
import { getMaxListeners } from "node:events";
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { later } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource, words } from "./toy.ts";

describe.each(stores)("a worker, on $store", ({ open }) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  it("pulls what is followed and mirrors it, once", async () => {
    await rig.reset(
      toySource({
        page: toyKind({
          async *pull({ resource: { key, resource_id } }) {
            yield {
              put: [words.rows([{ owner_id: resource_id, word: key, version: 1 }])],
              cursor: { at: 1, done: true },
            };
            return undefined;
          },
        }),
      }),
    );
    await rig.follow("a", "b");
    rig.start();
    await rig.calm();
    expect(await rig.rows(sql`select word, version from toy.word order by word`)).toEqual([
      { word: "a", version: 1 },
      { word: "b", version: 1 },
    ]);
    expect(await rig.statuses()).toEqual({ a: "waiting", b: "waiting" });
    expect((await rig.resource("a")).cursor).toEqual({ at: 1, done: true });
    expect(rig.ended.map((e) => e.outcome)).toEqual(["fresh", "fresh"]);
  });

  it("lets a pull make many calls at once, each of which listens to its signal", async () => {
    const listeners: number[] = [];
    await rig.reset(
      toySource({
        page: toyKind({
          // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
          async *pull({ signal }) {
            listeners.push(getMaxListeners(signal));
            return undefined;
          },
        }),
      }),
    );
    await rig.follow("a");
    rig.start();
    await rig.calm();
    // With more than so many, Node warns of a leak.
    expect(listeners).toEqual([1_000]);
  });

  it("waits as long as it was asked to, and counts no failure", async () => {
    await rig.reset(
      toySource({
        page: toyKind({
          // biome-ignore lint/correctness/useYield: it is told to wait before there is anything to yield
          async *pull() {
            return later(7_000, "asked to wait");
          },
        }),
      }),
    );
    await rig.follow("a");
    rig.start();
    await rig.clock.advance(1_000);
    expect(await rig.resource("a")).toMatchObject({ failures: 0, status: "waiting", reason: "asked to wait" });
    expect(rig.ended).toHaveLength(1);
    await rig.clock.advance(5_900);
    expect(rig.ended).toHaveLength(1);
    await rig.clock.advance(200);
    expect(rig.ended).toHaveLength(2);
  });
});
