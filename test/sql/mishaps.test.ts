/** What goes wrong around a pull, on both databases: it costs that pull alone, never a slot, a neighbour or the worker. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { every } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("a mishap, on $store", ({ open }) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  const endLeases = async () => {
    await rig.db.query(sql`
      update tidemark.due set lease_until = tidemark.now() where resource_id in (select resource_id from tidemark.resource where key = 'a')`);
    await rig.db.query(sql`update tidemark.hold set until = tidemark.now()`);
  };

  it("lost lease that its own worker claims again leaves the lane as many slots as it had", async () => {
    let begun = 0;
    let running = 0;
    let most = 0;
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const page = toyKind({
      lane: () => ({ name: "narrow", slots: 2 }),
      // biome-ignore lint/correctness/useYield: it only takes its time
      async *pull({ resource: { key } }) {
        if (key === "a") begun += 1;
        if (key === "a" && begun === 1) await gate;
        if (key === "a") return undefined;
        running += 1;
        most = Math.max(most, running);
        await rig.clock.sleep(5_000);
        running -= 1;
        return undefined;
      },
    });
    const tick = toyKind({ schedule: every("1s") });
    await rig.reset(toySource({ page, tick }));
    await rig.follow("page:a", "tick:t");
    rig.start();
    await rig.clock.advance(2_000);
    await endLeases();
    await rig.clock.advance(3_000);
    expect(begun).toBe(2);
    release();
    await rig.follow("page:b", "page:c");
    await rig.clock.advance(20_000);
    expect(most).toBe(2);
  });

  it("pull that lost its lease and listens to nobody loses its slot, too", async () => {
    let lost = 0;
    const page = toyKind({
      async *pull({ resource: { key } }) {
        if (key === "a") await new Promise(() => undefined);
        return undefined;
      },
    });
    await rig.reset(toySource({ page }));
    rig.events.on("lease_lost", () => {
      lost += 1;
    });
    await rig.follow("a");
    rig.start({ slots: 1, pull_timeout_ms: 60_000 });
    await rig.clock.advance(1_000);
    await rig.db.query(
      sql`update tidemark.due set lease_no = lease_no + 1, lease_until = null, due_at = tidemark.now() + interval '1 day'`,
    );
    await rig.follow("b");
    await rig.clock.advance(120_000);
    expect((await rig.resource("b")).fresh_at).not.toBeNull();
    expect(lost).toBe(1);
  });

  it("resource of a kind that this release does not know is left to another, and charged to nobody", async () => {
    const lane = () => ({ name: "shared" });
    const newer = toySource({ page: toyKind({ lane }), novel: toyKind({ lane }) });
    await rig.reset(newer);
    await rig.follow("page:a", "novel:x", "page:b");
    rig.use(toySource({ page: toyKind({ lane }) }));
    const old = rig.start();
    await rig.clock.advance(300_000);
    expect([await rig.resource("a"), await rig.resource("b")]).toMatchObject([{ failures: 0 }, { failures: 0 }]);
    expect((await rig.resource("a")).fresh_at).not.toBeNull();
    expect(await rig.resource("x")).toMatchObject({ failures: 0, fresh_at: null });
    expect((await rig.resource("x")).lease_no).toBeLessThan(10n);
    await rig.stop(old);
    rig.use(newer);
    rig.start();
    await rig.clock.advance(61_000);
    expect((await rig.resource("x")).fresh_at).not.toBeNull();
  });

  it("way to group pulls that fails for one of them fails that one alone, and the worker lives", async () => {
    const page = toyKind({
      together: {
        most: 5,
        by({ cursor, resource: { key } }) {
          if (key === "bad") throw new Error("no group for this one");
          return String(cursor.at);
        },
      },
      async *pullTogether() {},
    });
    await rig.reset(toySource({ page }));
    await rig.follow("bad", "good");
    rig.start();
    await rig.clock.advance(1_000);
    expect(await rig.resource("bad")).toMatchObject({ failures: 1, reason: "no group for this one" });
    expect((await rig.resource("good")).fresh_at).not.toBeNull();
  });

  it("end that cannot be written is charged to its own resource, not to those that end in the same moment", async () => {
    const wait = (key: string) => (key === "bad" ? 1e300 : 3600_000);
    const page = (key: string) =>
      toyKind({ lane: () => ({ name: "one" }), schedule: { next: () => ({ wait_ms: wait(key), why: "" }) } });
    await rig.reset(toySource({ good: page("good"), bad: page("bad") }));
    await rig.follow("good:a", "bad:b", "good:c");
    rig.start();
    await rig.clock.advance(1_000);
    expect(await rig.resource("b")).toMatchObject({ failures: 1 });
    expect(rig.ended.map((e) => [e.key, e.outcome]).sort()).toEqual([
      ["a", "fresh"],
      ["b", "failed"],
      ["c", "fresh"],
    ]);
  });

  it("lane that becomes first come with a later release still gives what had no place in line", async () => {
    const source = (order?: "first come") =>
      toySource({ page: toyKind({ lane: () => ({ name: "l", ...(order ? { order } : {}) }) }) });
    await rig.reset(source());
    await rig.follow("a");
    rig.use(source("first come"));
    rig.start();
    await rig.clock.advance(11_000);
    expect((await rig.resource("a")).fresh_at).not.toBeNull();
  });
});
