/** Tells workers, here and elsewhere, that something fell due: at once in this process, debounced over the database. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Db } from "../store/db.ts";

export const CHANNEL = "tidemark_due";
const DEBOUNCE_MS = 50;

/** Told whether the word came from another process. */
type Listener = (elsewhere: boolean) => void;

export class Waker {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #sending = false;
  #again = false;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hears what other processes say. */
  listen(): Promise<() => Promise<void>> {
    return this.#db.listen(CHANNEL, () => this.#wakeHere(true));
  }

  /** Call after the commit, never inside it: a notification in a hot transaction takes a lock on all commits. */
  wake(): void {
    this.#wakeHere(false);
    if (this.#db.kind === "embedded") return;
    if (this.#sending) {
      this.#again = true;
      return;
    }
    this.#sending = true;
    void this.#send();
  }

  #wakeHere(elsewhere: boolean): void {
    for (const listener of this.#listeners) listener(elsewhere);
  }

  async #send(): Promise<void> {
    do {
      this.#again = false;
      // Not being heard costs a sleeper some seconds, never the row: a lost notification is no failure.
      await this.#db.query(sql`select pg_notify(${CHANNEL}, '')`).catch(() => undefined);
      await this.#clock.sleep(DEBOUNCE_MS);
    } while (this.#again);
    this.#sending = false;
  }
}
