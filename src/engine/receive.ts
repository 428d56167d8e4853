/** Handling a resource's messages: in order, in bulk, taken off by the commit that handled them; one that keeps failing is parked. */
import type { Batch } from "../contract.ts";
import { fresh, more } from "../contract.ts";
import { asTidemarkError, type ErrorCode, TidemarkError } from "../errors.ts";
import { toJson } from "../mirror/table.ts";
import { type Message, readMail } from "./mailbox.ts";
import { type End, endOf, endOfFailure, nextDue, shortened } from "./outcome.ts";
import {
  type ActivePull,
  advance,
  checkBatch,
  type Ended,
  endWithError,
  lost,
  openCursor,
  type PullParts,
  unitOf,
} from "./pull.ts";
import type { Committed } from "./unit.ts";

export const MESSAGES_MOST = 100;
export const MESSAGE_TRIES = 5;

/** Failures that lie elsewhere: the message is innocent, and the resource waits as for any pull. */
const notTheMessage: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "UpstreamBusy",
  "UpstreamDown",
  "UpstreamForbids",
  "MailboxFull",
  "LeaseLost",
  "StoreDown",
]);

/** How many messages this kind takes at once; one by one behind a message that failed before. */
export const mostOf = (pull: ActivePull): number => pull.kind.receive_most ?? MESSAGES_MOST;

/** Handles what is in the mailbox, a commit for each reading of it, until it is empty or the pull's slice of time is over. */
export async function receive(pull: ActivePull, messages: Message[], parts: PullParts): Promise<Ended> {
  for (let mail = messages; ; ) {
    const ended = await receiveOnce(pull, mail, parts);
    if (ended) return ended;
    const most = mostOf(pull);
    mail =
      (await readMail(parts.db, [{ resource_id: pull.lease.resource_id, most }])).get(pull.lease.resource_id) ?? [];
  }
}

/** Null says that there may be more: a full reading was handled and committed, and the lease goes on. */
async function receiveOnce(pull: ActivePull, messages: Message[], parts: PullParts): Promise<Ended | null> {
  const first = messages[0];
  // All that was left is parked: the mailbox is dealt with up to the number seen at the claim.
  if (!first && pull.lease.mail_seq > pull.mail_done) pull.mail_done = pull.lease.mail_seq;
  const taken = first && first.tries > 0 ? [first] : messages;
  try {
    if (pull.commits === 0) openCursor(pull);
    const batch = first ? await handle(pull, taken) : null;
    if (batch) checkBatch(pull, batch, true);
    const on = taken.length >= mostOf(pull) && !batch?.final && mayGoOn(pull, parts);
    const end = on ? null : (result: Committed): End => endOfMail(pull, batch, result);
    const unit = { ...unitOf(pull, batch, end), handled: taken, mail_done: taken.at(-1)?.seq ?? pull.mail_done };
    const result = await parts.committer.submit(unit);
    if (!result.committed) return lost();
    if (batch) advance(pull, batch, result, parts);
    pull.mail_done = unit.mail_done;
    if (on) return null;
    return { end: result.end, changed: pull.changed, error: null, message_parked: false };
  } catch (thrown) {
    const error = asTidemarkError(thrown);
    if (!first || notTheMessage.has(error.code)) return await endWithError(pull, parts, error);
    return await charge(pull, first, taken.at(-1)!, error, parts);
  }
}

function mayGoOn(pull: ActivePull, parts: PullParts): boolean {
  return !parts.stopping() && parts.clock.elapsed_ms() - pull.begun_ms <= parts.slice_ms;
}

async function handle(pull: ActivePull, taken: Message[]): Promise<Batch> {
  const { message, receive: receives } = pull.kind;
  if (!message || !receives)
    throw new TidemarkError("BatchInvalid", `The kind "${pull.lease.kind}" has messages but no way to receive them.`);
  const payloads = taken.map((m) => {
    const parsed = message.safeParse(m.payload);
    if (parsed.success) return parsed.data;
    throw new TidemarkError(
      "BatchInvalid",
      `Message ${m.seq} of ${pull.name} is not what its kind declares: ${parsed.error.message}`,
    );
  });
  return receives.call(pull.kind, payloads, pull);
}

/** After mail: what was asked for or is due by the schedule is pulled next; otherwise the schedule goes on as it was. */
function endOfMail(pull: ActivePull, batch: Batch | null, result: Committed): End {
  const { lease, kind } = pull;
  if (batch?.final && batch.final.outcome !== "fresh")
    return endOf(batch.final, lease, kind, pull.changed + result.changed > 0, pull.time_ms());
  const calm = endOf(fresh(), lease, kind, pull.changed + result.changed > 0, pull.time_ms());
  if (!kind.pull && !kind.pullTogether) return calm;
  if (pull.asked) return endOf(more(), lease, kind, false, pull.time_ms());
  const { wait_ms } = nextDue(kind, lease, pull.changed + result.changed > 0, pull.time_ms());
  return { ...calm, fresh: false, wait_ms: lease.fresh_at === null ? 0 : wait_ms };
}

/**
 * Counts a try against what was taken, so that each goes alone from now on and the guilty one is found; only the first
 * can be parked by it, and parked, it no longer stands in the way of the next one.
 */
async function charge(
  pull: ActivePull,
  message: Message,
  last: Message,
  error: TidemarkError,
  parts: PullParts,
): Promise<Ended> {
  const reason = shortened(error.message);
  const end = (result: Committed): End =>
    result.message_parked
      ? endOf(more(), pull.lease, pull.kind, false, pull.time_ms())
      : endOfFailure(
          error,
          { ...pull.lease, failures: message.tries },
          { ...parts.rules, park_after: MESSAGE_TRIES + 1 },
        );
  const unit = {
    ...unitOf(pull, null, end),
    mail_done: message.seq,
    charge: {
      message,
      last_seq: last.seq,
      error: toJson({ code: error.code, sentence: reason, details: error.details }),
      reason,
      most: MESSAGE_TRIES,
    },
  };
  const result = await parts.committer.submit(unit);
  return result.committed ? { end: result.end, changed: 0, error, message_parked: result.message_parked } : lost(error);
}
