/** What a message brings to life, on both databases: it is its poster's child, and goes when nobody wants it any more. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { every, kind, refresh, unfollow } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

const box = kind<null, { n: number }>({
  upstream: { name: "toy.example" },
  schedule: every("1d"),
  cursor: z.null().default(null),
  message: z.object({ n: z.number() }),
  receive: async () => ({}),
});

const poster = toyKind({
  async *pull(pull) {
    const at = pull.cursor.at + 1;
    yield {
      post: [{ kind: "box", key: "b", message: { n: at } }],
      children: { found: [], complete: true },
      cursor: { at, done: false },
    };
    return undefined;
  },
});

describe.each(stores)("what a message brings to life, on $store", ({ open }) => {
  let rig: Rig;
  const named = (kind: string, key: string) => ({ source: "toy", kind, key });
  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(() => rig.reset(toySource({ poster, box })));
  afterEach(() => rig.end());

  it("outlives complete listings, and is gone with its poster", async () => {
    await rig.follow("poster:p");
    rig.start();
    await rig.calm();
    await refresh(rig.db, named("poster", "p"));
    await rig.calm();
    expect(await rig.statuses()).toEqual({ b: "waiting", p: "waiting" });
    await unfollow(rig.db, named("poster", "p"));
    expect(await rig.statuses()).toEqual({ b: "gone", p: "gone" });
  });

  it("is handled while its poster goes on", async () => {
    let handled_ms = Number.NaN;
    const receive = async () => {
      handled_ms = rig.clock.elapsed_ms();
      return {};
    };
    const long = toyKind({
      async *pull() {
        // The worker has looked for work by then, and sleeps.
        await rig.clock.sleep(100);
        yield { post: [{ kind: "box", key: "b", message: { n: 1 } }], cursor: { at: 1, done: false } };
        await rig.clock.sleep(5_000);
        return undefined;
      },
    });
    await rig.reset(toySource({ long, box: { ...box, receive } }));
    await rig.follow("long:p");
    rig.start();
    await rig.calm();
    expect(handled_ms).toBeLessThan(1_000);
  });

  it("survives its poster when it is followed itself, and comes back with a new message", async () => {
    await rig.follow("poster:p", "box:b");
    rig.start();
    await rig.calm();
    await unfollow(rig.db, named("poster", "p"));
    expect((await rig.statuses()).b).toBe("waiting");
    await unfollow(rig.db, named("box", "b"));
    expect((await rig.statuses()).b).toBe("gone");
    await rig.follow("poster:p");
    await rig.calm();
    expect((await rig.statuses()).b).toBe("waiting");
    const edges = await rig.rows(sql`select parent_id, child_id from tidemark.edge`);
    expect(edges).toHaveLength(1);
  });
});
