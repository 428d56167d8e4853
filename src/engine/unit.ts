/** What one pull hands over to be committed, and what comes back. */
import type { Batch, Kind } from "../contract.ts";
import type { Lease } from "./lease.ts";
import type { Message } from "./mailbox.ts";
import type { End } from "./outcome.ts";
import type { SeenValidators } from "./validators.ts";

/** What one pull asks to have committed. */
export interface Unit {
  lease: Lease;
  kind: Kind;
  batch: Batch | null;
  /** The cursor this pull had before the batch. */
  cursor: unknown;
  generation: bigint;
  /** The messages that this commit handles. */
  handled: Message[];
  /** The number of the last message that is dealt with after this commit. */
  mail_done: bigint;
  /** What is remembered of its upstream's answers if this ends it fresh. */
  seen?: SeenValidators | null;
  /** The message that failed, or that was first among those that failed together, with what is said of it. */
  charge?: { message: Message; last_seq: bigint; error: string; reason: string; most: number };
  /** Ends the pull with this commit; told what came of it. */
  end: ((result: Committed) => End) | null;
}

export interface Committed {
  committed: boolean;
  /** Rows that were really written. */
  changed: number;
  end: End | null;
  /** A message was parked by this commit. */
  message_parked: boolean;
}

export const LOST: Committed = { committed: false, changed: 0, end: null, message_parked: false };
