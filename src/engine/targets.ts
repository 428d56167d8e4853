/** The other resources that a commit speaks of: found, locked in order, or made. */
import type { Batch, Ref } from "../contract.ts";
import { toJson } from "../mirror/table.ts";
import type { Db, Tx } from "../store/db.ts";
import { bindPosted } from "./children.ts";
import type { Lanes } from "./lanes.ts";
import { findResources, lockDue, makeResources, nameOf, reviveGone } from "./resources.ts";
import type { Unit } from "./unit.ts";

export const refsOf = (batch: Batch | null): Ref[] => [
  ...(batch?.post ?? []),
  ...(batch?.children?.found ?? []),
  ...(batch?.touch ?? []),
  ...(batch?.vouch ?? []),
];

export const created = (batch: Batch | null) => [...(batch?.post ?? []), ...(batch?.children?.found ?? [])];

export const scoped = (source: string, ref: Ref) => `${source}\u0000${nameOf(ref)}`;

/** Lanes are made outside the transaction: a new one is harmless, and its row lock would be held too long. */
export async function prepareLanes(db: Db, lanes: Lanes, units: Unit[]): Promise<void> {
  for (const { batch, lease, kind, cursor } of units) {
    for (const ref of created(batch)) await lanes.ensure(db, laneOfNew(lanes, lease.source, ref));
    const next = batch?.cursor ?? cursor;
    await lanes.ensure(
      db,
      lanes.spec(lease.source, lease.kind, lease.key, lease.options ?? {}, next ?? kind.cursor.parse(undefined)),
    );
  }
}

function laneOfNew(lanes: Lanes, source: string, ref: Ref & { options?: Record<string, unknown> }) {
  const kind = lanes.kind(source, ref.kind);
  return lanes.spec(source, ref.kind, ref.key, ref.options ?? {}, kind.cursor.parse(undefined));
}

export async function findTargets(tx: Tx, units: Unit[]): Promise<Map<string, bigint>> {
  const bySource = new Map<string, Ref[]>();
  for (const u of units) {
    const refs = refsOf(u.batch);
    if (refs.length > 0) bySource.set(u.lease.source, [...(bySource.get(u.lease.source) ?? []), ...refs]);
  }
  const targets = new Map<string, bigint>();
  for (const [source, refs] of bySource)
    for (const [name, id] of await findResources(tx, source, refs)) targets.set(`${source}\u0000${name}`, id);
  return targets;
}

/** New resources, and the ones that others made since we looked: those are locked late, and a deadlock is retried. */
export async function makeMissing(
  tx: Tx,
  lanes: Lanes,
  units: Unit[],
  targets: Map<string, bigint>,
  locks: Map<bigint, unknown>,
) {
  const missing = new Map<string, { source: string; ref: Ref & { options?: Record<string, unknown> } }>();
  for (const u of units)
    for (const ref of created(u.batch)) {
      const name = scoped(u.lease.source, ref);
      if (!targets.has(name)) missing.set(name, { source: u.lease.source, ref });
    }
  if (missing.size > 0) {
    await makeResources(
      tx,
      [...missing.values()].map(({ source, ref }) => {
        const spec = laneOfNew(lanes, source, ref);
        const options = ref.options ? toJson(ref.options) : null;
        return {
          source,
          kind: ref.kind,
          key: ref.key,
          options,
          lane_id: lanes.pair(spec).routine,
          first_come: spec.lane.order === "first come",
        };
      }),
    );
    for (const source of new Set([...missing.values()].map((m) => m.source))) {
      const refs = [...missing.values()].filter((m) => m.source === source).map((m) => m.ref);
      for (const [name, id] of await findResources(tx, source, refs)) targets.set(`${source}\u0000${name}`, id);
    }
    const unlocked = [...missing.keys()].map((name) => targets.get(name)!).filter((id) => !locks.has(id));
    await lockDue(
      tx,
      unlocked.sort((a, b) => (a < b ? -1 : 1)),
    );
  }
  const mentioned = units.flatMap((u) => created(u.batch).map((ref) => targets.get(scoped(u.lease.source, ref))!));
  const revived = new Set(await reviveGone(tx, [...new Set(mentioned)]));
  const bred = new Map<bigint, bigint>();
  for (const u of units)
    for (const post of u.batch?.post ?? []) {
      const name = scoped(u.lease.source, post);
      const id = targets.get(name)!;
      if ((missing.has(name) || revived.has(id)) && id !== u.lease.resource_id) bred.set(id, u.lease.resource_id);
    }
  await bindPosted(tx, bred);
}
