/** When a resource falls due next, as pure functions of what is known about it. */
import type { Schedule, ScheduleFacts } from "../contract.ts";
import { formatDuration, parseDuration } from "../duration.ts";
import { TidemarkError } from "../errors.ts";

function ms(duration: string | number): number {
  const parsed = typeof duration === "number" ? duration : parseDuration(duration);
  if (parsed === null || parsed <= 0)
    throw new TidemarkError("ConfigInvalid", `"${duration}" is not a duration; write 30s, 5m, 2h or 1d.`);
  return parsed;
}

/** A number in [0, 1) that belongs to a resource for ever and spreads resources evenly: FNV-1a with a final mix. */
export function phaseOf(source: string, kind: string, key: string): number {
  const text = `${source}\u0000${kind}\u0000${key}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/**
 * Every period, each resource at its own moment of it: ten thousand daily resources spread over the day, and find back
 * to their moments after a downtime. The next moment is at least a tenth of a period away, so it comes within 1.1 periods.
 */
export function every(period: string | number): Schedule {
  const period_ms = ms(period);
  const why = `every ${formatDuration(period_ms)}`;
  return {
    period_ms,
    next({ now_ms, phase, fresh_at_ms }: ScheduleFacts) {
      const from = (fresh_at_ms ?? now_ms) + period_ms / 10;
      const offset = phase * period_ms;
      const slot = Math.floor((from - offset) / period_ms) * period_ms + offset + period_ms;
      return { wait_ms: Math.max(0, slot - now_ms), why };
    },
  };
}

export interface Tier {
  /** Not viewed for at most this long … */
  idle: string | number;
  /** … means pulled this often. */
  every: string | number;
}

/** As good as never: due moments have to be moments. */
const NEVER_MS = 36_500 * 86_400_000;

/** The longer nobody looked, the rarer; after the last tier every `after`, or "never" but for a view or a person. */
export function decay(tiers: Tier[], after = "30d"): Schedule {
  const steps = tiers
    .map((t) => ({ idle_ms: ms(t.idle), every_ms: ms(t.every) }))
    .sort((a, b) => a.idle_ms - b.idle_ms);
  const never = after === "never";
  const after_ms = never ? NEVER_MS : ms(after);
  return {
    next({ now_ms, fresh_at_ms, viewed_at_ms }: ScheduleFacts) {
      const idle_ms = viewed_at_ms === null ? Number.POSITIVE_INFINITY : Math.max(0, now_ms - viewed_at_ms);
      const step = steps.find((s) => idle_ms <= s.idle_ms);
      const every_ms = step?.every_ms ?? after_ms;
      const why = step
        ? `every ${formatDuration(every_ms)}, last viewed within ${formatDuration(step.idle_ms)}`
        : never
          ? "when somebody looks at it again"
          : `every ${formatDuration(after_ms)}, as nobody looks at it`;
      return { wait_ms: Math.max(0, (fresh_at_ms ?? now_ms) + every_ms - now_ms), why };
    },
  };
}

/**
 * Half as long as it has been unchanged, between min and max: shorter after a change, longer after none. It needs no
 * state of its own, so an unchanged refresh writes nothing for it.
 */
export function adaptive(min: string | number, max: string | number): Schedule {
  const min_ms = ms(min);
  const max_ms = ms(max);
  return {
    next({ now_ms, fresh_at_ms, changed_at_ms, phase }: ScheduleFacts) {
      const still_ms = changed_at_ms === null ? 0 : Math.max(0, now_ms - changed_at_ms);
      const every_ms = Math.min(Math.max(still_ms / 2, min_ms), max_ms);
      // A tenth either way, so that what changed together does not stay together.
      const wait_ms = every_ms * (0.9 + phase / 5);
      const since_ms = fresh_at_ms === null ? 0 : now_ms - fresh_at_ms;
      return {
        wait_ms: Math.max(0, Math.min(Math.max(wait_ms, min_ms), max_ms) - since_ms),
        why: `every ${formatDuration(Math.round(every_ms))}, unchanged for ${formatDuration(Math.round(still_ms))}`,
      };
    },
  };
}
