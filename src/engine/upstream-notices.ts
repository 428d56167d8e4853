/** Word of a closing to the other processes at once, so that what they had drawn ahead is not spent any more. */
import sql from "sql-template-tag";
import type { Db } from "../store/db.ts";

const CHANNEL = "tidemark_closed";

export class Notices {
  readonly #db: Db;
  readonly #heard: (name: string | null) => void;
  #listening: Promise<() => Promise<void>> | null = null;

  /** `heard` gets the name of what was closed, or null when notices may have been missed. */
  constructor(db: Db, heard: (name: string | null) => void) {
    this.#db = db;
    this.#heard = heard;
  }

  /** Begins with the first call that is made; on the embedded database there is nobody else. */
  listen(): void {
    if (this.#listening || this.#db.kind === "embedded") return;
    const listening = this.#db.listen(CHANNEL, (name) => this.#heard(name === "" ? null : name));
    this.#listening = listening;
    // Without it a grant is spent for half a second at most: not worth failing a call for.
    listening.catch(() => {
      this.#listening = null;
    });
  }

  async tell(name: string): Promise<void> {
    if (this.#db.kind === "embedded") return;
    await this.#db.query(sql`select pg_notify(${CHANNEL}, ${name.slice(0, 2000)})`).catch(() => undefined);
  }

  async close(): Promise<void> {
    const stop = await this.#listening?.catch(() => null);
    await stop?.().catch(() => undefined);
  }
}
