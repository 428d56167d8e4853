/** A poster and the boxes it posts to, for tests of mailboxes and tidemarks. */
import sql from "sql-template-tag";
import { z } from "zod";
import { every, type Kind, kind, type Post } from "../../src/index.ts";
import { type ToyCursor, toyKind } from "./toy.ts";

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
export const posterOf = (posts: () => Record<number, Post[]>): Kind =>
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
