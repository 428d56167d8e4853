/** Parked messages: listed with their reasons, and tried again at the end of their mailbox. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { listParked, retryMessage } from "../../src/engine/parked-messages.ts";
import { testDatabase } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource } from "./toy.ts";

let rig: Rig;
let poison: Set<number>;
let handled: number[];
const box = toyKind({
  message: z.object({ n: z.number() }),
  receive: async (messages) => {
    for (const { n } of messages as { n: number }[]) {
      if (poison.has(n)) throw new Error(`${n} is poison`);
      handled.push(n);
    }
    return {};
  },
  receive_most: 1,
});
const poster = toyKind({
  position: ({ at }) => BigInt(at),
  async *pull({ cursor }) {
    if (cursor.at > 0) return undefined;
    const post = [1, 2, 3].map((n) => ({ kind: "box", key: "b", message: { n }, position: BigInt(n) }));
    yield { post, cursor: { at: 3, done: true } };
    return undefined;
  },
});

beforeAll(async () => {
  rig = await Rig.open(testDatabase);
});
beforeEach(async () => {
  poison = new Set();
  handled = [];
  await rig.reset(toySource({ poster, box }));
});
afterEach(() => rig.end());

async function calm(): Promise<void> {
  const worker = rig.start();
  await rig.clock.until(async () => {
    const [row] = await rig.rows<{ n: number }>(
      sql`select count(*)::int as n from tidemark.due where lease_until is not null or due_at <= tidemark.now() or failures > 0`,
    );
    return row!.n === 0;
  });
  await rig.stop(worker);
}

async function withOneParked() {
  poison.add(2);
  await rig.follow("poster:p");
  await calm();
  const [message] = await listParked(rig.db, null, null, 10);
  return message!;
}

describe("a poison message", () => {
  it("is listed with what was thrown, and the tidemark says what was skipped", async () => {
    const message = await withOneParked();
    expect(message).toMatchObject({ source: "toy", kind: "box", key: "b", seq: 2n, payload: { n: 2 } });
    expect(message.error).toMatchObject({ sentence: "2 is poison" });
    expect(handled).toEqual([1, 3]);
    expect(await rig.rows(sql`select seq from tidemark.skip`)).toEqual([{ seq: 2n }]);
    expect(await listParked(rig.db, "other", null, 10)).toEqual([]);
    expect(await listParked(rig.db, "toy", message, 10)).toEqual([]);
  });

  it("is handled under a new number when it is tried again and cured", async () => {
    const { resource_id, seq } = await withOneParked();
    poison.clear();
    expect(await retryMessage(rig.db, resource_id, seq)).toEqual({ seq: 4n });
    expect(await rig.resource("b")).toMatchObject({ status: "due", mail: 1n });
    const [again] = await rig.rows(
      sql`select tries::int as tries, parked_at, error from tidemark.message where seq = 4`,
    );
    expect(again).toEqual({ tries: 0, parked_at: null, error: null });
    expect(await rig.rows(sql`select seq from tidemark.skip`)).toEqual([]);
    await calm();
    expect(handled).toEqual([1, 3, 2]);
    expect(await rig.rows(sql`select seq from tidemark.message`)).toEqual([]);
    expect(await rig.rows(sql`select position from tidemark.tidemark`)).toEqual([{ position: 3n }]);
  });

  it("is parked again when it is not cured", async () => {
    const { resource_id, seq } = await withOneParked();
    await retryMessage(rig.db, resource_id, seq);
    await calm();
    expect(await listParked(rig.db, null, null, 10)).toMatchObject([{ seq: 4n }]);
  });

  it("cannot be tried again twice, nor when it never was", async () => {
    const { resource_id, seq } = await withOneParked();
    await retryMessage(rig.db, resource_id, seq);
    await expect(retryMessage(rig.db, resource_id, seq)).rejects.toMatchObject({ code: "NotFollowed" });
    await expect(retryMessage(rig.db, resource_id, 4n)).rejects.toMatchObject({ code: "InputInvalid" });
  });

  it("has nothing left to say when a newer one took its place", async () => {
    const { resource_id, seq } = await withOneParked();
    await rig.db.query(sql`update tidemark.message set coalesce_key = 'k'`);
    await rig.db.query(sql`
      insert into tidemark.message (resource_id, seq, coalesce_key, payload) values (${resource_id}, 4, 'k', '{"n": 4}')`);
    await rig.db.query(sql`update tidemark.due set mail_seq = 4 where resource_id = ${resource_id}`);
    expect(await retryMessage(rig.db, resource_id, seq)).toEqual({ seq: null });
    expect(await rig.rows(sql`select seq from tidemark.message`)).toEqual([{ seq: 4n }]);
  });
});
