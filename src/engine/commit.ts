/** One transaction for the batches of several pulls: fenced by lease number, applied whole, in the one lock order. */
import type { Db, Tx } from "../store/db.ts";
import { checkPost } from "./batch.ts";
import { applyEnds } from "./ends.ts";
import type { Lanes } from "./lanes.ts";
import { chargeMessage, type Message, type Posted, post, takeOff, tryAlone } from "./mailbox.ts";
import { applyFeeds, applyRecords } from "./records.ts";
import { lockDue } from "./resources.ts";
import { findTargets, makeMissing, prepareLanes, scoped } from "./targets.ts";
import { countAnomalies, lockTidemarks, moveInternal, moveTidemarks } from "./tidemark.ts";
import { type Committed, LOST, type Unit } from "./unit.ts";

/** Places in the commit where a test may stop the world. */
export type CommitPoint = "locked" | "recorded" | "finished";

/**
 * A process that freezes inside the transaction keeps the rows locked, so that nobody can take its leases, but not for long: well
 * before they end (`idle_ms`) the server ends the transaction, and what it did is undone.
 */
export async function commit(
  db: Db,
  lanes: Lanes,
  units: Unit[],
  idle_ms: number,
  at?: (p: CommitPoint) => void | Promise<void>,
): Promise<Committed[]> {
  await prepareLanes(db, lanes, units);
  const work = async (tx: Tx): Promise<Committed[]> => {
    const targets = await findTargets(tx, units);
    const ids = [...new Set([...units.map((u) => u.lease.resource_id), ...targets.values()])];
    const locks = await lockDue(
      tx,
      ids.sort((a, b) => (a < b ? -1 : 1)),
    );
    const alive = units.filter((u) => {
      const lock = locks.get(u.lease.resource_id);
      return lock?.alive === true && lock.lease_no === u.lease.lease_no;
    });
    await at?.("locked");
    const results = new Map<Unit, Committed>();
    if (alive.length > 0) {
      const marks = await applyMail(tx, lanes, alive, targets, locks, results);
      await applyRecords(tx, lanes, alive, targets, results);
      await at?.("recorded");
      await applyFeeds(tx, alive, results);
      await applyTidemarks(tx, marks);
      await applyEnds(tx, lanes, alive, results);
      await at?.("finished");
    }
    return units.map((u) => results.get(u) ?? LOST);
  };
  return db.transaction(work, { idle_ms });
}

/** What a commit means for tidemarks: how far posters have read, and whose messages were handled. */
interface Marks {
  read: { resource_id: bigint; from: bigint; internal: bigint; late: number }[];
  handled: bigint[];
}

/** Makes resources that are new, takes handled messages off, appends posted ones; says which tidemarks may move. */
async function applyMail(
  tx: Tx,
  lanes: Lanes,
  units: Unit[],
  targets: Map<string, bigint>,
  locks: Map<bigint, unknown>,
  results: Map<Unit, Committed>,
): Promise<Marks> {
  await makeMissing(tx, lanes, units, targets, locks);
  const marks: Marks = { read: [], handled: [] };
  const posted: Posted[] = [];
  const handled: Message[] = [];
  for (const u of units) {
    const result: Committed = { committed: true, changed: 0, end: null, message_parked: false };
    results.set(u, result);
    handled.push(...u.handled);
    if (u.charge) {
      const { message, last_seq, error, reason, most } = u.charge;
      result.message_parked = await chargeMessage(tx, message, error, reason, most);
      if (last_seq > message.seq) await tryAlone(tx, message, last_seq);
      if (result.message_parked && message.origin_id !== null) marks.handled.push(message.origin_id);
    }
    const internal = u.kind.position && u.batch?.cursor !== undefined ? u.kind.position(u.batch.cursor) : null;
    const from = u.kind.position?.(u.cursor) ?? null;
    let late = 0;
    for (const p of u.batch?.post ?? []) {
      const resource_id = targets.get(scoped(u.lease.source, p))!;
      const checked = checkPost(lanes.kind(u.lease.source, p.kind), p);
      const behind = p.position !== undefined && from !== null && p.position <= from;
      if (behind) late += 1;
      // A position that arrives behind the cursor takes the cursor's place: the tidemark has passed its own already.
      const position = behind ? (internal ?? from) : (p.position ?? null);
      posted.push({ resource_id, origin_id: u.lease.resource_id, position, ...checked });
    }
    if (internal !== null && from !== null) marks.read.push({ resource_id: u.lease.resource_id, from, internal, late });
  }
  await takeOff(tx, handled);
  for (const m of handled) if (m.origin_id !== null && m.position !== null) marks.handled.push(m.origin_id);
  await post(tx, posted);
  return marks;
}

/** Last of all locks, and all of them in order before any is moved: a poster may handle another poster's messages. */
async function applyTidemarks(tx: Tx, { read, handled }: Marks): Promise<void> {
  const origins = [...handled, ...read.map((r) => r.resource_id)];
  if (origins.length === 0) return;
  await lockTidemarks(tx, origins);
  for (const { resource_id, from, internal, late } of read) {
    await moveInternal(tx, resource_id, from, internal);
    if (late > 0) await countAnomalies(tx, resource_id, late);
  }
  await moveTidemarks(tx, origins);
}
