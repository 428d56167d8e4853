/** What a pull's end means for the resource, as pure functions: when it falls due again, and what is written about it. */
import type { Kind, Outcome, OutcomeName, ScheduleFacts } from "../contract.ts";
import type { TidemarkError } from "../errors.ts";
import { cleanText, toJson } from "../mirror/table.ts";
import type { Lease } from "./lease.ts";
import { phaseOf } from "./schedule.ts";

export interface Rules {
  park_after: number;
  cool_off_ms: number;
}

/** How a pull ended, as the commit needs it. */
export interface End {
  outcome: OutcomeName;
  wait_ms: number;
  /** Not before the wait is over, whoever asks. */
  floor: boolean;
  /** How long the upstream itself asked us to wait, where a failure says so. */
  told_ms: number | null;
  fresh: boolean;
  failures: number;
  /** Stays in the asked lane and keeps its place in line. */
  keep_place: boolean;
  reason: string | null;
  /** The error as JSON text, null to clear it. */
  error: string | null;
  parked: boolean;
  gone: boolean;
}

const FIRST_RETRY_MS = 15_000;
const RETRY_MS_MAX = 24 * 3600_000;
const GONE_RECHECK_MS = 7 * 24 * 3600_000;

/** 15 s doubling to a day, a tenth either way; the same for a resource and a count, so that a run can be repeated. */
export function backoff_ms(failures: number, phase: number): number {
  const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), RETRY_MS_MAX);
  const jitter = ((phase * 7919 * (failures + 1)) % 1) * 0.2 - 0.1;
  return Math.round(wait * (1 + jitter));
}

const calm: End = {
  outcome: "fresh",
  wait_ms: 0,
  floor: false,
  told_ms: null,
  fresh: false,
  failures: 0,
  keep_place: false,
  reason: null,
  error: null,
  parked: false,
  gone: false,
};

export function endOf(outcome: Outcome, lease: Lease, kind: Kind, changed: boolean, now_ms: number): End {
  switch (outcome.outcome) {
    case "fresh":
      return {
        ...calm,
        fresh: true,
        wait_ms: outcome.next_ms ?? nextDue(kind, lease, changed, now_ms, now_ms).wait_ms,
      };
    case "more":
      return { ...calm, outcome: "more", failures: 0, keep_place: true };
    case "later":
      return {
        ...calm,
        outcome: "later",
        wait_ms: Math.max(0, outcome.wait_ms),
        floor: true,
        failures: lease.failures,
        keep_place: true,
        reason: shortened(outcome.reason),
      };
    case "gone":
      return {
        ...calm,
        outcome: "gone",
        wait_ms: GONE_RECHECK_MS,
        fresh: true,
        reason: shortened(outcome.reason),
        gone: true,
      };
  }
}

/** A failure is retried ever more rarely, then parked: visible with its reason, and back after the cool-off at the latest. */
export function endOfFailure(error: TidemarkError, lease: Lease, rules: Rules): End {
  const failures = lease.failures + 1;
  const parked = failures >= rules.park_after;
  const phase = phaseOf(lease.source, lease.kind, lease.key);
  return {
    ...calm,
    outcome: "failed",
    wait_ms: Math.max(parked ? rules.cool_off_ms : backoff_ms(failures, phase), error.wait_ms ?? 0),
    floor: parked,
    told_ms: error.wait_ms ?? null,
    failures: Math.min(failures, 32_000),
    reason: shortened(error.message),
    error: toJson({ code: error.code, sentence: shortened(error.message), details: error.details, failures }),
    parked,
  };
}

/** A sentence as its column can hold it: what an upstream says may contain anything. */
export const shortened = (sentence: string): string => cleanText(sentence.slice(0, 1000));

const epoch_ms = (at: string | null): number | null => (at === null ? null : Date.parse(at));

/** The schedule's word on when a resource is due, from what its rows say. */
export function nextDue(
  kind: Kind,
  lease: Pick<Lease, "source" | "kind" | "key" | "options" | "fresh_at" | "changed_at" | "viewed_at">,
  changed: boolean,
  now_ms: number,
  fresh_at_ms: number | null = epoch_ms(lease.fresh_at),
): { wait_ms: number; why: string } {
  const facts: ScheduleFacts = {
    now_ms,
    phase: phaseOf(lease.source, lease.kind, lease.key),
    fresh_at_ms,
    changed_at_ms: changed ? now_ms : epoch_ms(lease.changed_at),
    viewed_at_ms: epoch_ms(lease.viewed_at),
  };
  const schedule = typeof kind.schedule === "function" ? kind.schedule(lease.options ?? {}) : kind.schedule;
  return schedule.next(facts);
}
