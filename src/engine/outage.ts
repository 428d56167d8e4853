/** What a worker does when something fails outside any pull: it waits the database's absence out, and says the rest aloud. */
import sql from "sql-template-tag";
import type { Clock } from "../clock.ts";
import { asTidemarkError, hasCode } from "../errors.ts";
import type { Events } from "../events.ts";
import type { Db } from "../store/db.ts";

const FIRST_WAIT_MS = 250;
const WAIT_MS_MAX = 5_000;

export interface OutageParts {
  db: Db;
  clock: Clock;
  events: Events;
}

/** Returns when the database answers again, or the signal aborts. */
export async function rideOut(parts: OutageParts, thrown: unknown, signal: AbortSignal): Promise<void> {
  const { clock, events, db } = parts;
  if (!hasCode(thrown, "StoreDown")) {
    surprise(events, thrown);
    return clock.sleep(WAIT_MS_MAX, signal);
  }
  const begun = clock.elapsed_ms();
  events.emit("store_lost", { reason: thrown.message });
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, WAIT_MS_MAX)) {
    await clock.sleep(wait, signal);
    try {
      await db.query(sql`select 1 as one`);
      return events.emit("store_back", { lost_ms: clock.elapsed_ms() - begun });
    } catch {
      // Still away.
    }
  }
}

/** Tells of a failure that nobody foresaw; the database's absence is told elsewhere. */
export function surprise(events: Events, thrown: unknown): void {
  if (hasCode(thrown, "StoreDown")) return;
  const error = asTidemarkError(thrown);
  const stack = (error.cause instanceof Error ? error.cause.stack : error.stack) ?? "";
  events.emit("surprise", { sentence: error.message, error_code: error.code, stack });
}
