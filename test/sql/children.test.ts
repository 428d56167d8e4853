/** Follow, unfollow and children by their edges: what lives, what becomes gone, and what comes back. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Child, follow, unfollow } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource, words } from "./toy.ts";

describe.each(stores)("following, on $store", ({ open }) => {
  let rig: Rig;
  /** What each owner's listing finds, page by page; a page that is an Error fails the listing there. */
  let listings: Record<string, (string[] | Error)[]>;
  const named = (kind: string, key: string) => ({ source: "toy", kind, key });
  const gone = async () =>
    (await rig.rows<{ key: string }>(sql`select key from tidemark.status where status = 'gone' order by key`)).map(
      (r) => r.key,
    );
  const again = async (...keys: string[]) => {
    await rig.db.query(sql`
      update tidemark.due d set due_at = tidemark.now() from tidemark.resource r
       where r.resource_id = d.resource_id and r.key = any(${keys}::text[])`);
    await rig.calm();
  };

  const owner = toyKind({
    async *pull(pull) {
      const pages = listings[pull.resource.key] ?? [[]];
      for (const [i, page] of pages.entries()) {
        if (page instanceof Error) throw page;
        const found: Child[] = page.map((key) => ({ kind: key.startsWith("o") ? "owner" : "repo", key }));
        const last = i === pages.length - 1;
        yield { children: { found, complete: last }, cursor: { at: pull.cursor.at + 1, done: last } };
      }
      return undefined;
    },
  });
  const repo = toyKind({
    async *pull({ resource: { key, resource_id } }) {
      yield { put: [words.rows([{ owner_id: resource_id, word: key, version: 1 }])], cursor: { at: 1, done: true } };
      return undefined;
    },
  });

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(async () => {
    listings = {};
    await rig.reset(toySource({ owner, repo }));
  });
  afterEach(() => rig.end());

  describe("what a listing finds", () => {
    it("is pulled, though nobody follows it by name", async () => {
      listings = { o: [["a", "b"], ["c"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      expect(await rig.rows(sql`select word from toy.word order by word`)).toEqual([
        { word: "a" },
        { word: "b" },
        { word: "c" },
      ]);
      expect(await rig.statuses()).toEqual({ a: "waiting", b: "waiting", c: "waiting", o: "waiting" });
    });

    it("may be named twice in one page", async () => {
      listings = { o: [["a", "b", "a"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      expect(rig.ended.every((e) => e.outcome === "fresh")).toBe(true);
      expect(await rig.rows(sql`select child_id from tidemark.edge`)).toHaveLength(2);
    });

    it("is gone once a complete listing no longer finds it, and only that", async () => {
      listings = { o: [["a", "b"], ["c"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      listings = { o: [["a"], ["c"]] };
      await again("o");
      expect(await gone()).toEqual(["b"]);
      expect((await rig.resource("b")).reason).toBe("owner o no longer lists it");
      expect((await rig.resource("b")).due_at).toBe("infinity");
    });

    it("stays when a listing fails or is cut before its end", async () => {
      listings = { o: [["a", "b"], ["c"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      listings = { o: [["a"], new Error("the second page is broken")] };
      await again("o");
      expect(rig.ended.at(-1)).toMatchObject({ outcome: "failed", key: "o" });
      expect(await gone()).toEqual([]);
      expect(await rig.rows(sql`select child_id from tidemark.edge`)).toHaveLength(3);
    });

    it("comes back, from its beginning, when a listing finds it again", async () => {
      listings = { o: [["a", "b"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      listings = { o: [["a"]] };
      await again("o");
      expect(await gone()).toEqual(["b"]);
      listings = { o: [["a", "b"]] };
      rig.ended.length = 0;
      await again("o");
      expect(await gone()).toEqual([]);
      expect(rig.ended.map((e) => e.key)).toEqual(["o", "b"]);
      expect(await rig.resource("b")).toMatchObject({ status: "waiting", reason: null, cursor: { at: 1, done: true } });
    });
  });

  describe("unfollowing", () => {
    it("takes what only it brought forth with it, all the way down", async () => {
      listings = { o: [["o2", "a"]], o2: [["b", "c"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      expect(await unfollow(rig.db, named("owner", "o"))).toEqual({ gone: 5 });
      expect(await gone()).toEqual(["a", "b", "c", "o", "o2"]);
      expect(await rig.rows(sql`select child_id from tidemark.edge`)).toEqual([]);
    });

    it("leaves what another owner lists as well", async () => {
      listings = { o: [["a", "b"]], o2: [["b"]] };
      await rig.follow("o", "o2");
      rig.start();
      await rig.calm();
      expect(await unfollow(rig.db, named("owner", "o"))).toEqual({ gone: 2 });
      expect(await gone()).toEqual(["a", "o"]);
      expect(await unfollow(rig.db, named("owner", "o2"))).toEqual({ gone: 2 });
      expect(await gone()).toEqual(["a", "b", "o", "o2"]);
    });

    it("leaves what is followed directly and through its owner, whichever is unfollowed", async () => {
      listings = { o: [["a"]] };
      await rig.follow("o", "repo:a");
      rig.start();
      await rig.calm();
      expect(await unfollow(rig.db, named("repo", "a"))).toEqual({ gone: 0 });
      expect(await gone()).toEqual([]);
      await follow(rig.db, rig.lanes, "toy", "repo:a");
      expect(await unfollow(rig.db, named("owner", "o"))).toEqual({ gone: 1 });
      expect(await gone()).toEqual(["o"]);
      expect((await rig.resource("a")).status).toBe("waiting");
    });

    it("is refused for what is not followed itself, with a sentence", async () => {
      listings = { o: [["a"]] };
      await rig.follow("o");
      rig.start();
      await rig.calm();
      await expect(unfollow(rig.db, named("repo", "a"))).rejects.toThrow("toy repo a is not followed itself.");
      await expect(unfollow(rig.db, named("repo", "zzz"))).rejects.toMatchObject({ code: "NotFollowed" });
      expect(await gone()).toEqual([]);
    });

    it("revokes the lease of a pull under way: nothing of it is written any more", async () => {
      await rig.follow("repo:a");
      let arrive = () => {};
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      rig.use(
        toySource({
          repo: toyKind({
            async *pull({ resource: { resource_id, key } }) {
              arrive();
              await gate;
              yield {
                put: [words.rows([{ owner_id: resource_id, word: key, version: 9 }])],
                cursor: { at: 9, done: true },
              };
              return undefined;
            },
          }),
        }),
      );
      rig.start();
      await arrived;
      await unfollow(rig.db, named("repo", "a"));
      go();
      await rig.clock.advance(1_000);
      expect(rig.ended.map((e) => e.outcome)).toEqual(["lost"]);
      expect(await rig.rows(sql`select word from toy.word`)).toEqual([]);
      expect(await rig.resource("a")).toMatchObject({ status: "gone", cursor: null, lease_no: 2n });
    });
  });

  describe("following", () => {
    it("twice changes nothing, and again after unfollowing begins anew", async () => {
      await rig.follow("repo:a", "repo:a");
      rig.start();
      await rig.calm();
      expect(rig.ended).toHaveLength(1);
      await unfollow(rig.db, named("repo", "a"));
      await rig.follow("repo:a");
      expect(await rig.resource("a")).toMatchObject({ status: "due", cursor: null, failures: 0 });
      await rig.calm();
      expect(rig.ended).toHaveLength(2);
    });

    it("begins anew in a first-come lane too", async () => {
      const lane = () => ({ name: "line", order: "first come" as const });
      rig.use(toySource({ repo: toyKind({ lane }) }));
      await rig.follow("a");
      rig.start();
      await rig.calm();
      await unfollow(rig.db, named("repo", "a"));
      await rig.follow("a");
      await rig.calm();
      expect(rig.ended).toHaveLength(2);
    });

    it("refuses what its source does not understand, unknown sources and options nobody declared", async () => {
      await expect(rig.follow("nope:a")).rejects.toThrow('there is no kind "nope"');
      await expect(follow(rig.db, rig.lanes, "toys", "a")).rejects.toThrow(
        'There is no source "toys"; there are: toy.',
      );
      await expect(follow(rig.db, rig.lanes, "toy", "a", { every: "1h" })).rejects.toThrow(/takes no options/);
      await expect(rig.follow("")).rejects.toThrow(/between 1 and 1024 characters/);
      await expect(rig.follow("x".repeat(1025))).rejects.toThrow(/this one has 1025/);
      expect(await rig.statuses()).toEqual({});
    });
  });
});
