/** Back-pressure between those who post messages and those who handle them. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import { TidemarkError } from "../errors.ts";
import type { Queryable } from "../store/db.ts";

const WAIT_MS = 5_000;
const REMEMBERED_MS = 1_000;

/** How many messages wait in a source; coalesced ones count twice. */
export async function countPending(db: Queryable, source: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(sql`
    select coalesce(sum(d.mail_seq - d.mail_done), 0)::float8 as n
      from tidemark.lane l join tidemark.due d on d.lane_id = l.lane_id and d.mail_seq > d.mail_done
     where l.source = ${source}`);
  return rows[0]?.n ?? 0;
}

export class Room {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #most: number;
  readonly #known = new Map<string, { pending: number; at_ms: number }>();

  constructor(db: Queryable, clock: Clock, most: number) {
    this.#db = db;
    this.#clock = clock;
    this.#most = most;
  }

  /** Too many messages wait: whoever posts ends with `later` and comes back when there is room. */
  async check(source: string): Promise<void> {
    const now = this.#clock.elapsed_ms();
    let known = this.#known.get(source);
    if (!known || now - known.at_ms > REMEMBERED_MS) {
      known = { pending: await countPending(this.#db, source), at_ms: now };
      this.#known.set(source, known);
    }
    if (known.pending <= this.#most) return;
    const sentence = `More than ${this.#most} messages wait; ${source} posts no more until there is room.`;
    throw new TidemarkError("MailboxFull", sentence, { wait_ms: WAIT_MS });
  }
}
