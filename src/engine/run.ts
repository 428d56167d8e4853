/** Starts claimed pulls the way their kinds ask: mail first, then probes, then together or one by one. */
import { asTidemarkError } from "../errors.ts";
import { readMail } from "./mailbox.ts";
import { type ActivePull, drive, type Ended, endWithError, lost, type PullParts } from "./pull.ts";
import { mostOf, receive } from "./receive.ts";
import { driveTogether, groups, probe } from "./together.ts";

type WhenEnded = (pull: ActivePull, ended: Ended) => void;

/** Runs pulls to their ends; never rejects, and calls `ended` exactly once for each. */
export async function run(pulls: ActivePull[], parts: PullParts, ended: WhenEnded): Promise<void> {
  const mail: ActivePull[] = [];
  const plural = new Map<object, ActivePull[]>();
  const work: Promise<void>[] = [];
  for (const pull of pulls) {
    const { kind, lease } = pull;
    if (lease.mail_seq > lease.mail_done && kind.receive) mail.push(pull);
    else if (kind.probe || kind.pullTogether) plural.set(kind, [...(plural.get(kind) ?? []), pull]);
    else work.push(one(pull, parts, ended));
  }
  if (mail.length > 0) work.push(mailOf(mail, parts, ended));
  const failed = (pull: ActivePull, thrown: unknown) =>
    work.push(endAnyway(pull, parts, thrown).then((end) => ended(pull, end)));
  for (const list of plural.values())
    for (const group of groups(list, (pull, thrown) => void failed(pull, thrown)))
      work.push(together(group, parts, ended));
  await Promise.all(work);
}

async function one(pull: ActivePull, parts: PullParts, ended: WhenEnded): Promise<void> {
  let end: Ended;
  try {
    end = await drive(pull, parts);
  } catch (thrown) {
    end = await endAnyway(pull, parts, thrown);
  }
  ended(pull, end);
}

/** Whatever is thrown past a pull's own care ends it all the same; a slot is never lost. */
function endAnyway(pull: ActivePull, parts: PullParts, thrown: unknown): Promise<Ended> {
  const error = asTidemarkError(thrown);
  return endWithError(pull, parts, error).catch(() => lost(error));
}

async function mailOf(pulls: ActivePull[], parts: PullParts, ended: WhenEnded): Promise<void> {
  try {
    const wanted = pulls.map((p) => ({ resource_id: p.lease.resource_id, most: mostOf(p) }));
    const mail = await readMail(parts.db, wanted);
    await Promise.all(
      pulls.map(async (pull) => {
        const messages = mail.get(pull.lease.resource_id) ?? [];
        ended(pull, await receive(pull, messages, parts).catch((thrown) => endAnyway(pull, parts, thrown)));
      }),
    );
  } catch (thrown) {
    for (const pull of pulls) ended(pull, await endAnyway(pull, parts, thrown));
  }
}

async function together(group: ActivePull[], parts: PullParts, ended: WhenEnded): Promise<void> {
  const rest = await probe(group, parts, ended);
  if (rest.length === 0) return;
  if (rest[0]!.kind.pullTogether) return driveTogether(rest, parts, ended);
  await Promise.all(rest.map((pull) => one(pull, parts, ended)));
}
