/** Whether an upstream is believed well: what each event makes of each state, as a table that does not compile with a case missing. */

export type BreakerState = "closed" | "open" | "probing";

/** What is known of an upstream; ages and remainders instead of moments, so that only the database's clock counts. */
export interface Breaker {
  state: BreakerState;
  /** Resources that failed since anybody succeeded, at most three of them. */
  failing: bigint[];
  /** How often it was struck lately; each doubles the wait. */
  strikes: number;
  /** Since the last strike; null when there was none. */
  struck_ms: number | null;
  /** How long it stays closed; 0 or less when that is over. */
  closed_ms: number;
  /** Who last succeeded, how long ago, and how long ago anybody else did. */
  well_by: bigint | null;
  well_ms: number | null;
  other_well_ms: number | null;
}

export interface BreakerEvents {
  /** A call got its answer. */
  succeeded: { resource: bigint; probe: boolean };
  /** A call got none, or a server error. */
  failed: { resource: bigint; probe: boolean };
  /** Our credentials were refused, and there are no others. */
  refused: { resource: bigint; probe: boolean };
  /** Somebody would like to call. */
  asked: { resource: bigint; probe: boolean };
  /** The probe was given up before it had an answer. */
  left: { resource: bigint; probe: boolean };
}

export type BreakerEvent = keyof BreakerEvents;

export interface Change {
  /** Null where nothing is written. */
  next: {
    state: BreakerState;
    failing: bigint[];
    strikes: number;
    struck: boolean;
    /** Closed for so long from now; null leaves it as it is, 0 opens it. */
    closed_ms: number | null;
    /** The event was a success of this resource. */
    well: boolean;
  } | null;
  /** Whether a failure is the resource's own. */
  charged: boolean;
  /** How long whoever failed should wait. */
  wait_ms: number;
}

/** So many different resources have to fail before it is the upstream's fault. */
export const FAILING_MOST = 3;
/** A success of another resource so long ago still shows that the upstream was well. */
const RECENT_MS = 10 * 60_000;
const FIRST_WAIT_MS = 60_000;
const WAIT_MS_MAX = 24 * 3600_000;
/** The probe's own time: whoever has it and dies is replaced after that. */
export const PROBE_MS = 45_000;

/** 60 s doubling to a day, a tenth either way; `odd` in [0, 1) spreads those who would come back together. */
export function strikeWait_ms(strikes: number, odd: number): number {
  const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(Math.max(strikes - 1, 0), 20), WAIT_MS_MAX);
  return Math.round(Math.min(wait * (0.9 + odd * 0.2), WAIT_MS_MAX));
}

type Step<E extends BreakerEvent> = (b: Breaker, event: BreakerEvents[E], odd: number) => Change;

const stay = (b: Breaker): Change => ({ next: null, charged: false, wait_ms: Math.max(b.closed_ms, 1_000) });

const to = (
  b: Breaker,
  state: BreakerState,
  more: Partial<NonNullable<Change["next"]>>,
): NonNullable<Change["next"]> => ({
  state,
  failing: b.failing,
  strikes: b.strikes,
  struck: false,
  closed_ms: null,
  well: false,
  ...more,
});

function open(b: Breaker, failing: bigint[], odd: number): Change {
  const strikes = b.strikes + 1;
  const wait_ms = strikeWait_ms(strikes, odd);
  return { next: to(b, "open", { failing, strikes, struck: true, closed_ms: wait_ms }), charged: false, wait_ms };
}

/** Another resource succeeded a short while ago, and no other failed since: then this one has a problem of its own. */
function guilty(b: Breaker, resource: bigint): boolean {
  const others_ms = b.well_by === resource ? b.other_well_ms : b.well_ms;
  return others_ms !== null && others_ms < RECENT_MS && b.failing.every((one) => one === resource);
}

function failedWhileClosed(b: Breaker, { resource }: { resource: bigint }, odd: number): Change {
  const failing = b.failing.includes(resource) ? b.failing : [...b.failing, resource].slice(0, FAILING_MOST);
  if (failing.length >= FAILING_MOST) return open(b, failing, odd);
  const charged = guilty(b, resource);
  // Those who fail together are one strike.
  const struck = !charged && (b.struck_ms === null || b.struck_ms >= strikeWait_ms(b.strikes, odd));
  const strikes = struck ? b.strikes + 1 : b.strikes;
  return { next: to(b, "closed", { failing, strikes, struck }), charged, wait_ms: strikeWait_ms(strikes, odd) };
}

function again(b: Breaker, odd: number): Change {
  const wait_ms = strikeWait_ms(1, odd);
  return { next: to(b, "open", { closed_ms: wait_ms }), charged: false, wait_ms };
}

const probing = (b: Breaker): Change => ({
  next: to(b, "probing", { closed_ms: PROBE_MS }),
  charged: false,
  wait_ms: 0,
});

/** What each event makes of each state. */
export const transitions: { [S in BreakerState]: { [E in BreakerEvent]: Step<E> } } = {
  closed: {
    succeeded: (b) => ({ next: to(b, "closed", { failing: [], well: true }), charged: false, wait_ms: 0 }),
    failed: failedWhileClosed,
    refused: (b, _, odd) => open(b, b.failing, odd),
    asked: stay,
    left: stay,
  },
  open: {
    // An answer to a call from before: only a probe tells how it is now.
    succeeded: stay,
    failed: stay,
    // Its time is over, and there is still nothing to get in with. Nobody was called, so the wait does not grow: a new token
    // is tried within a minute.
    refused: (b, _, odd) => (b.closed_ms > 0 ? stay(b) : again(b, odd)),
    asked: (b) => (b.closed_ms > 0 ? stay(b) : probing(b)),
    left: stay,
  },
  probing: {
    succeeded: (b, { probe }) =>
      probe
        ? { next: to(b, "closed", { failing: [], closed_ms: 0, well: true }), charged: false, wait_ms: 0 }
        : stay(b),
    failed: (b, { probe }, odd) => (probe ? open(b, b.failing, odd) : stay(b)),
    refused: (b, { probe }, odd) => (probe ? open(b, b.failing, odd) : stay(b)),
    // Whoever had the probe did not come back in time.
    asked: (b) => (b.closed_ms > 0 ? stay(b) : probing(b)),
    left: (b, { probe }) => (probe ? { next: to(b, "open", { closed_ms: 0 }), charged: false, wait_ms: 0 } : stay(b)),
  },
};

export function transition<E extends BreakerEvent>(b: Breaker, event: E, by: BreakerEvents[E], odd: number): Change {
  return (transitions[b.state][event] as Step<E>)(b, by, odd);
}
