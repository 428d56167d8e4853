/** Pulls of one kind that share a call: grouped as the kind asks, probed and pulled in the plural, each fenced apart. */
import { fresh, more } from "../contract.ts";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import {
  type ActivePull,
  advance,
  checkBatch,
  type Ended,
  endWith,
  endWithError,
  finalEnd,
  lost,
  openCursor,
  type PullParts,
  unitOf,
} from "./pull.ts";

/**
 * Groups of at most `most` pulls that may go together: those of one upstream that the kind does not keep apart. Where the kind
 * cannot say, `failed` is told.
 */
export function groups(pulls: ActivePull[], failed: (pull: ActivePull, thrown: unknown) => void): ActivePull[][] {
  const byName = new Map<string, ActivePull[]>();
  for (const pull of pulls) {
    try {
      const name = groupOf(pull);
      const list = byName.get(name);
      if (list) list.push(pull);
      else byName.set(name, [pull]);
    } catch (thrown) {
      failed(pull, thrown);
    }
  }
  const all: ActivePull[][] = [];
  for (const list of byName.values()) {
    const most = list[0]?.kind.together?.most ?? 1;
    for (let i = 0; i < list.length; i += most) all.push(list.slice(i, i + most));
  }
  return all;
}

function groupOf(pull: ActivePull): string {
  const { kind, lease, resource } = pull;
  openCursor(pull);
  const upstream = typeof kind.upstream === "function" ? kind.upstream(lease.key, resource.options) : kind.upstream;
  return `${upstream.name}\u0000${kind.together?.by?.(pull) ?? ""}`;
}

/** Asks for a whole group whether anything changed; what did not is fresh, and the rest is returned to be pulled. */
export async function probe(
  pulls: ActivePull[],
  parts: PullParts,
  ended: (pull: ActivePull, e: Ended) => void,
): Promise<ActivePull[]> {
  const first = pulls[0];
  if (!first?.kind.probe) return pulls;
  const open = await opened(pulls, parts, ended);
  if (open.length === 0) return [];
  try {
    const answers = await first.kind.probe(open);
    const unchanged = new Set(answers.filter((a) => a.unchanged).map((a) => a.pull));
    const rest = open.filter((p) => !unchanged.has(p));
    await Promise.all(
      open
        .filter((p) => unchanged.has(p))
        .map(async (p) => ended(p, await settled(p, parts, () => endWith(p, parts, fresh())))),
    );
    return rest;
  } catch (thrown) {
    const error = asTidemarkError(thrown);
    await Promise.all(open.map(async (p) => ended(p, await endWithError(p, parts, error))));
    return [];
  }
}

async function opened(
  pulls: ActivePull[],
  parts: PullParts,
  ended: (pull: ActivePull, e: Ended) => void,
): Promise<ActivePull[]> {
  const open: ActivePull[] = [];
  for (const pull of pulls) {
    try {
      openCursor(pull);
      open.push(pull);
    } catch (thrown) {
      ended(pull, await endWithError(pull, parts, asTidemarkError(thrown)));
    }
  }
  return open;
}

async function settled(pull: ActivePull, parts: PullParts, work: () => Promise<Ended>): Promise<Ended> {
  try {
    return await work();
  } catch (thrown) {
    return await endWithError(pull, parts, asTidemarkError(thrown));
  }
}

/** Drives a plural generator: each yield commits several batches, each under its own lease; a lost one drops out. */
export async function driveTogether(
  pulls: ActivePull[],
  parts: PullParts,
  ended: (pull: ActivePull, e: Ended) => void,
): Promise<void> {
  const live = new Set<ActivePull>(await opened(pulls, parts, ended));
  const leave = (pull: ActivePull, e: Ended) => {
    if (live.delete(pull)) ended(pull, e);
  };
  if (live.size === 0) return;
  const generator = pulls[0]!.kind.pullTogether!([...live]);
  const begun_ms = parts.clock.elapsed_ms();
  try {
    for (;;) {
      const step = await generator.next();
      if (step.done) break;
      await Promise.all(
        step.value.map(async ({ pull: named, batch }) => {
          const pull = named as ActivePull;
          if (!live.has(pull)) return;
          try {
            checkBatch(pull, batch);
            const result = await parts.committer.submit(
              unitOf(pull, batch, batch.final ? finalEnd(pull, batch.final) : null),
            );
            if (!result.committed) return leave(pull, lost());
            advance(pull, batch, result, parts);
            if (result.end) leave(pull, { end: result.end, changed: pull.changed, error: null, message_parked: false });
          } catch (thrown) {
            leave(pull, await endWithError(pull, parts, asTidemarkError(thrown)));
          }
        }),
      );
      if (live.size === 0) break;
      const over = parts.stopping() || parts.clock.elapsed_ms() - begun_ms > parts.slice_ms;
      if (over) {
        await Promise.all(
          [...live].map(async (p) => leave(p, await settled(p, parts, () => endWith(p, parts, more())))),
        );
        break;
      }
    }
    await Promise.all([...live].map(async (p) => leave(p, await settled(p, parts, () => endWith(p, parts, fresh())))));
  } catch (thrown) {
    const error = asTidemarkError(thrown);
    await Promise.all([...live].map(async (p) => leave(p, await endWithError(p, parts, error))));
  } finally {
    await generator.return().catch(() => undefined);
    for (const pull of live)
      ended(pull, lost(new TidemarkError("Unexpected", `The pull of ${pull.name} was left without an end.`)));
  }
}
