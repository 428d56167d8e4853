/** Posting, handling and tidemarks at the same moment, on a real PostgreSQL: no wake-up is lost, no tidemark left standing. */
import sql from "sql-template-tag";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { every, kind, type Post } from "../../src/index.ts";
import { entries, news, type ToyCursor, toyKind, toySource } from "../sql/toy.ts";
import { blocks, letGo, stopAt } from "./session.ts";
import { Workbench } from "./workbench.ts";

describe("at the same moment", () => {
  let bench: Workbench;
  const poster = toyKind({ position: (c: ToyCursor) => BigInt(c.at) });
  const box = kind({
    upstream: { name: "toy.example" },
    schedule: every("1d"),
    cursor: z.object({ at: z.number(), done: z.boolean() }).default({ at: 0, done: false }),
    message: z.object({ n: z.number() }),
    receive: async () => ({}),
  });
  const to = (key: string, n: number): Post => ({ kind: "box", key, message: { n }, position: BigInt(n) });
  const posting = (at: number, ...post: Post[]) => ({ post, cursor: { at, done: false } });
  const position = async () =>
    (await bench.rows<{ position: bigint }>(sql`select position from tidemark.tidemark`))[0]!.position;

  beforeAll(async () => {
    bench = await Workbench.open();
  });
  afterEach(letGo);
  beforeEach(() => bench.reset(toySource({ poster, box }), "p"));

  /** Two boxes with a message each, both leased. */
  const twoBoxes = async () => {
    const { p } = await bench.claimAll();
    await bench.commit(bench.unit(p!, posting(20, to("x", 10), to("y", 20))));
    const { x, y } = await bench.claimAll();
    return { x: x!, y: y! };
  };

  it("two commits that each still see the other's message bring the tidemark to the end", async () => {
    const { x, y } = await twoBoxes();
    expect(await position()).toBe(9n);
    const stop = stopAt("finished");
    const first = bench.commit(await bench.mail(x), stop.at);
    await stop.reached;
    const second = bench.commit(await bench.mail(y));
    await blocks(bench.db, second);
    stop.open();
    await Promise.all([first, second]);
    expect(await position()).toBe(20n);
  });

  it("a message posted while its box ends its pull makes the box due at once, whoever is first", async () => {
    const { p } = await bench.claimAll();
    await bench.commit(bench.unit(p!, posting(10, to("x", 10)), { outcome: "more" }));
    const { p: again, x } = await bench.claimAll();
    const stop = stopAt("finished");
    const posted = bench.commit(bench.unit(again!, posting(20, to("x", 20))), stop.at);
    await stop.reached;
    const ending = bench.commit(await bench.mail(x!));
    await blocks(bench.db, ending);
    stop.open();
    await Promise.all([posted, ending]);
    expect(await bench.due("x")).toMatchObject({ mail_seq: 2n, mail_done: 1n, is_due: true, leased: false });
    const { x: next } = await bench.claimAll();
    expect((await bench.mail(next!)).handled.map((m) => m.payload)).toEqual([{ n: 20 }]);
  });

  it("… and when the end comes first, the message makes it due", async () => {
    const { p } = await bench.claimAll();
    await bench.commit(bench.unit(p!, posting(10, to("x", 10)), { outcome: "more" }));
    const { p: again, x } = await bench.claimAll();
    const stop = stopAt("finished");
    const ending = bench.commit(await bench.mail(x!), stop.at);
    await stop.reached;
    const posted = bench.commit(bench.unit(again!, posting(20, to("x", 20))));
    await blocks(bench.db, posted);
    stop.open();
    await Promise.all([posted, ending]);
    expect(await bench.due("x")).toMatchObject({ mail_seq: 2n, mail_done: 1n, is_due: true, leased: false });
  });

  it("two that post to one box number their messages one after the other", async () => {
    await bench.reset(toySource({ poster, box }), "p", "q");
    const { p, q } = await bench.claimAll();
    await bench.commit(bench.unit(p!, posting(1, to("x", 1)), { outcome: "more" }));
    const { p: again } = await bench.claimAll();
    const stop = stopAt("recorded");
    const first = bench.commit(bench.unit(again!, posting(3, to("x", 2), to("x", 3))), stop.at);
    await stop.reached;
    const second = bench.commit(bench.unit(q!, posting(4, to("x", 4))));
    await blocks(bench.db, second);
    stop.open();
    await Promise.all([first, second]);
    const mail = await bench.rows<{ n: number }>(
      sql`select (payload->>'n')::int as n from tidemark.message order by seq`,
    );
    expect(mail.map((m) => m.n)).toEqual([1, 2, 3, 4]);
  });

  it("a poster and a handler that both publish never wait for each other in a circle", async () => {
    await bench.reset(toySource({ poster, box }), "p");
    const { p } = await bench.claimAll();
    await bench.commit(bench.unit(p!, posting(10, to("x", 10)), { outcome: "more" }));
    const { p: again, x } = await bench.claimAll();
    const stop = stopAt("recorded");
    const entry = (name: string) => ({ publish: [news.entries([{ name, version: "1" }])] });
    const posts = bench.commit(bench.unit(again!, { ...posting(20, to("y", 20)), ...entry("p") }), stop.at);
    await stop.reached;
    const handles = bench.commit(await bench.mail(x!, entry("x")));
    // It is stopped by nothing that the poster holds, or waits for the last of it.
    await Promise.race([handles, blocks(bench.db, handles)]);
    stop.open();
    expect((await Promise.all([posts, handles])).every((r) => r.committed)).toBe(true);
    expect(await bench.rows(sql`select name from toy.entry`)).toHaveLength(2);
    expect(entries.name).toBe("toy.entry");
  });
});
