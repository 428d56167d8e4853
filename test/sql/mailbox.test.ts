/** Mailboxes on both databases: order, each message once, poison, and back-pressure. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Kind, TidemarkError } from "../../src/index.ts";
import { stores } from "../postgres.ts";
import { box, Posting, to } from "./boxes.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

describe.each(stores)("a mailbox, on $store", ({ open }) => {
  let rig: Rig;
  const posting = new Posting(() => rig);
  const { begin, log, tidemark, again } = posting;

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  afterEach(() => rig.end());

  describe("messages", () => {
    it("of one resource are handled in order, each once, many at a time", async () => {
      const sizes: number[] = [];
      const boxKind = box();
      const counted: Kind = {
        ...boxKind,
        receive: (messages, pull) => {
          sizes.push(messages.length);
          return boxKind.receive!(messages, pull);
        },
      };
      await begin(counted, {
        1: Array.from({ length: 120 }, (_, i) => to("x", i)),
        2: Array.from({ length: 120 }, (_, i) => to("x", 120 + i)),
      });
      rig.start();
      rig.start();
      await rig.calm();
      expect(await log()).toEqual(Array.from({ length: 240 }, (_, i) => i));
      expect(Math.max(...sizes)).toBeGreaterThan(50);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
      expect((await rig.resource("x")).mail).toBe(0n);
    });

    it("that a receiver posts on are handled like any others", async () => {
      const forward = box({
        async receive(messages, pull) {
          if (pull.resource.key !== "x")
            return {
              write: async (tx) => void (await tx.query(sql`insert into toy.log (key, seen) values ('y', '7')`)),
            };
          return { post: messages.map((m) => to("y", m.n)) };
        },
      });
      await begin(forward, { 1: [to("x", 7)] });
      rig.start();
      await rig.calm();
      expect(await log("y")).toEqual([7]);
    });

    it("that do not fit their kind are refused before anything of the batch is written", async () => {
      await begin(box(), { 1: [to("x", 1), { kind: "box", key: "x", message: { n: "one" } }] });
      rig.start();
      await rig.clock.advance(1_000);
      expect(rig.ended[0]).toMatchObject({ outcome: "failed", error_code: "BatchInvalid" });
      expect(await rig.rows(sql`select seq from tidemark.message`)).toEqual([]);
      expect((await rig.resource("p")).cursor).toBeNull();
    });

    it("cannot be posted without moving the cursor: cut there, they would be posted again", async () => {
      posting.posts = {};
      await rig.reset(
        toySource({
          poster: toyKind({
            async *pull() {
              yield { post: [to("x", 1)] };
              return undefined;
            },
          }),
          box: box(),
        }),
      );
      await rig.follow("p");
      rig.start();
      await rig.clock.advance(1_000);
      expect(rig.ended[0]).toMatchObject({ outcome: "failed", error_code: "BatchInvalid" });
    });
  });

  describe("a poison message", () => {
    const poison = (n: number) => (n === 3 ? new Error("cannot digest 3") : null);

    it("is parked after five tries; those behind it and its neighbours are handled", async () => {
      await begin(box({}, poison), { 10: [to("x", 1, 1n), to("x", 3, 2n), to("x", 4, 3n), to("y", 5, 4n)] });
      rig.start();
      await rig.clock.advance(1_000);
      expect(await log("y")).toEqual([5]);
      await rig.clock.until(async () => (await log("x")).length === 2, 3600_000);
      expect(await log("x")).toEqual([1, 4]);
      const parked = await rig.rows(
        sql`select seq, tries::int as tries, error->>'sentence' as sentence from tidemark.message where parked_at is not null`,
      );
      expect(parked).toEqual([{ seq: 2n, tries: 5, sentence: "cannot digest 3" }]);
      expect(await rig.rows(sql`select position, reason from tidemark.skip`)).toEqual([
        { position: 2n, reason: "cannot digest 3" },
      ]);
      expect(await tidemark()).toMatchObject({ position: 10n, internal: 10n });
    });

    it("holds the tidemark until it is parked", async () => {
      await begin(box({}, poison), { 10: [to("x", 3, 5n)] });
      rig.start();
      await rig.clock.advance(20_000);
      expect((await tidemark())!.position).toBe(4n);
    });

    it("at the end of many does not make each of them wait for a try of its own", async () => {
      await begin(box({}, poison), { 1: [...Array.from({ length: 50 }, (_, i) => to("x", 100 + i)), to("x", 3)] });
      rig.start();
      await rig.clock.until(async () => (await log("x")).length === 50, 60_000);
    });
  });

  it("a failure that lies elsewhere is not the message's: it is not charged", async () => {
    let down = true;
    const boxKind = box({}, () => (down ? new TidemarkError("UpstreamDown", "toy.example does not answer.") : null));
    await begin(boxKind, { 1: [to("x", 1, 1n)] });
    rig.start();
    await rig.clock.advance(10_000);
    expect(await rig.rows(sql`select tries::int as tries from tidemark.message`)).toEqual([{ tries: 0 }]);
    down = false;
    await rig.clock.advance(20_000);
    expect(await log()).toEqual([1]);
  });

  it("that is full makes the poster wait with `later`, charging nothing, and lets it go on when there is room", async () => {
    let open_ = false;
    const boxKind = box({}, () => (open_ ? null : new TidemarkError("UpstreamBusy", "wait", { wait_ms: 1_000 })));
    await begin(
      boxKind,
      Object.fromEntries(
        Array.from({ length: 8 }, (_, i) => [i + 1, [to("x", i, BigInt(i + 1)), to("y", i, BigInt(i + 1))]]),
      ),
    );
    await rig.db.query(sql`select 1 as one`);
    rig.start({ messages_max: 4 });
    await rig.clock.advance(3_000);
    posting.posts[9] = [to("x", 8, 9n)];
    await again("p");
    await rig.clock.advance(2_000);
    const full = rig.ended.filter((e) => e.key === "p").at(-1);
    expect(full).toMatchObject({ outcome: "later", error_code: "MailboxFull" });
    expect((await rig.resource("p")).failures).toBe(0);
    open_ = true;
    await rig.clock.advance(60_000);
    expect(await log("x")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
