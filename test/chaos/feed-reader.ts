/** A reader of the feed as its users are: it resumes from the last entry it saw, for ever, and must miss nothing. */
import sql from "sql-template-tag";
import { type Db, realClock } from "tidemark";

interface Entry {
  stream: string;
  n: number;
  published_at: string;
}

export class FeedReader {
  readonly #db: Db;
  readonly #seen = new Set<string>();
  readonly #stop = new AbortController();
  #since = "-infinity";
  #reading: Promise<void> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  start(): void {
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#page().catch(() => undefined);
      await realClock.sleep(20, this.#stop.signal);
    }
  }

  async #page(): Promise<number> {
    const { rows } = await this.#db.query<Entry>(sql`
      select stream, n, published_at from sim.entry where published_at >= ${this.#since}::timestamptz order by published_at limit 50`);
    for (const row of rows) {
      this.#seen.add(`${row.stream} ${row.n}`);
      this.#since = row.published_at;
    }
    return rows.length;
  }

  /** Reads to the end and says what it never saw. */
  async stop(): Promise<string[]> {
    if (this.#stop.signal.aborted) return [];
    this.#stop.abort();
    await this.#reading;
    while ((await this.#page()) > 1);
    const { rows } = await this.#db.query<Entry>(sql`select stream, n, published_at from sim.entry`);
    return rows
      .filter((r) => !this.#seen.has(`${r.stream} ${r.n}`))
      .map((r) => `P7: the reader never saw ${r.stream} ${r.n} of ${r.published_at}`);
  }
}
