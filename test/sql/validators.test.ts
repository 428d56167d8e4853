/** Asking only for what changed: what is remembered, when it is, and when it is forgotten; on both databases. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fresh, more, type Outcome, refresh, unfollow } from "../../src/index.ts";
import { type PretendUpstream, pretendUpstream, type Reply } from "../../src/testing/upstream.ts";
import { stores } from "../postgres.ts";
import { Rig } from "./rig.ts";
import { toyKind, toySource, words } from "./toy.ts";

describe.each(stores)("what upstreams give to recognise an answer by, on $store", ({ open }) => {
  let rig: Rig;
  let pretend: PretendUpstream;
  let etag: string | null;
  let ends: () => Outcome;
  const statuses: number[] = [];
  const source = (version: number) =>
    toySource({
      page: toyKind({
        version,
        async *pull(pull) {
          const answer = await pull.fetch(`${pretend.url}/${pull.resource.key}?token=secret`, { if_changed: true });
          statuses.push(answer.status);
          if (answer.status === 200) yield { put: [words.rows([{ word: pull.resource.key }])] };
          return ends();
        },
      }),
    });
  const conditions = () => pretend.requests.map((r) => r.headers["if-none-match"] ?? null);
  /** Pulls it now, whatever the schedule says; an idle worker looks within ten seconds. */
  const again = async () => {
    await refresh(rig.db, { source: "toy", kind: "page", key: "a" });
    await rig.clock.advance(11_000);
  };

  beforeAll(async () => {
    rig = await Rig.open(open);
  });
  beforeEach(async () => {
    etag = '"one"';
    ends = fresh;
    statuses.length = 0;
    await rig.reset(source(0));
    pretend = await pretendUpstream(rig.clock, ({ headers }): Reply => {
      if (etag === null) return { body: "no tag" };
      return headers["if-none-match"] === etag ? { status: 304 } : { body: "a page", headers: { etag } };
    });
    await rig.follow("a");
    rig.start();
    await rig.clock.advance(1_000);
  });
  afterEach(async () => {
    await rig.end();
    await pretend.close();
  });

  it("is sent with the next call, and an unchanged answer is fresh without a body", async () => {
    await again();
    expect(conditions()).toEqual([null, '"one"']);
    expect(statuses).toEqual([200, 304]);
    expect(rig.ended.map((e) => e.outcome)).toEqual(["fresh", "fresh"]);
  });

  it("is followed when it changes, and forgotten when it is no longer given", async () => {
    etag = '"two"';
    await again();
    etag = null;
    await again();
    await again();
    expect(conditions()).toEqual([null, '"one"', '"two"', null]);
    expect((await rig.db.query(sql`select address from tidemark.validator`)).rows).toEqual([]);
  });

  it("is not remembered by a pull that did not end fresh: what it stands for may not be in the mirror", async () => {
    etag = '"two"';
    ends = () => {
      throw new Error("after the answer");
    };
    await again();
    ends = fresh;
    await rig.clock.advance(3600_000);
    expect(conditions().slice(0, 3)).toEqual([null, '"one"', '"one"']);
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
  });

  it("is not remembered while there is more to come", async () => {
    etag = '"two"';
    let left = 1;
    ends = () => (left-- > 0 ? more() : fresh());
    await again();
    expect(conditions()).toEqual([null, '"one"', '"one"']);
  });

  it("is forgotten by another version of the code, which makes its records anew", async () => {
    const { rows } = await rig.db.query<{ etag: string }>(sql`select etag from tidemark.validator`);
    expect(rows).toEqual([{ etag: '"one"' }]);
    await rig.end();
    rig.use(source(1));
    rig.start();
    await again();
    expect(statuses).toEqual([200, 200]);
  });

  it("is forgotten with the resource, and holds no address that could carry a secret", async () => {
    const { rows } = await rig.db.query<{ address: string }>(sql`select address from tidemark.validator`);
    expect(rows[0]?.address).toMatch(/^[\w-]{43}$/);
    await unfollow(rig.db, { source: "toy", kind: "page", key: "a" });
    await rig.follow("a");
    await rig.clock.advance(1_000);
    expect(conditions().at(-1)).toBeNull();
  });
});
