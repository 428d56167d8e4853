/** A poster and the boxes it posts to, for tests of mailboxes and tidemarks. */
import sql from "sql-template-tag";
import { z } from "zod";
import { every, type Kind, kind, type Post } from "../../src/index.ts";
import type { Rig } from "./rig.ts";
import { type ToyCursor, toyKind, toySource } from "./toy.ts";

export interface Mail {
  n: number;
  same?: string | undefined;
}

export const to = (key: string, n: number, position?: bigint, same?: string): Post => ({
  kind: "box",
  key,
  message: { n, same },
  ...(position === undefined ? {} : { position }),
});

/** Posts what is given for each step of its cursor. */
const posterOf = (posts: () => Record<number, Post[]>): Kind =>
  toyKind({
    position: (cursor: ToyCursor) => BigInt(cursor.at),
    async *pull(pull) {
      for (const at of Object.keys(posts()).map(Number)) {
        if (at <= pull.cursor.at) continue;
        yield { post: posts()[at]!, cursor: { at, done: false } };
      }
      return undefined;
    },
  });

/** A box that logs what it handles, unless the test says that it fails. */
export const box = (given: Partial<Kind<null, Mail>> = {}, fails: (n: number) => Error | null = () => null): Kind =>
  kind<null, Mail>({
    upstream: { name: "toy.example" },
    schedule: every("1d"),
    cursor: z.null().default(null),
    message: z.object({ n: z.number(), same: z.string().optional() }),
    async receive(messages, pull) {
      for (const m of messages) {
        const error = fails(m.n);
        if (error) throw error;
      }
      return {
        async write(tx) {
          for (const m of messages)
            await tx.query(sql`insert into toy.log (key, seen) values (${pull.resource.key}, ${String(m.n)})`);
        },
      };
    },
    ...given,
  });

/** The poster p and its boxes on a rig, and what became of what it posted. */
export class Posting {
  readonly #rig: () => Rig;
  /** What the poster posts at each step of its cursor. */
  posts: Record<number, Post[]> = {};
  readonly poster = posterOf(() => this.posts);

  constructor(rig: () => Rig) {
    this.#rig = rig;
  }

  begin = async (boxKind: Kind, posts: Record<number, Post[]>): Promise<void> => {
    this.posts = posts;
    await this.#rig().reset(toySource({ poster: this.poster, box: boxKind }));
    await this.#rig().follow("p");
  };

  /** What was handled, in order, in one box or in all. */
  log = async (key: string | null = null): Promise<number[]> => {
    const rows = await this.#rig().rows<{ seen: string }>(
      sql`select seen from toy.log where ${key}::text is null or key = ${key} order by n`,
    );
    return rows.map((r) => Number(r.seen));
  };

  tidemark = async () => {
    const rows = await this.#rig().rows<{ internal: bigint; position: bigint; anomalies: bigint }>(
      sql`select internal, position, anomalies from tidemark.tidemark`,
    );
    return rows[0];
  };

  /** Makes a resource due now. */
  again = (key: string) =>
    this.#rig().db.query(sql`
      update tidemark.due set due_at = tidemark.now()
       where resource_id = (select resource_id from tidemark.resource where key = ${key})`);
}
