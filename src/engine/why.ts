/** What happens to a resource next, when, and why then: a pure function of what its rows say. */
import { formatDuration } from "../duration.ts";

export type Because =
  | "gone"
  | "paused"
  | "leased"
  | "parked"
  | "closed"
  | "asked"
  | "mail"
  | "new"
  | "overdue"
  | "floor"
  | "retry"
  | "schedule";

export interface Next {
  /** When it is pulled next, as far as is known. */
  due_at: string | null;
  because: Because;
  /** The same as a sentence. */
  why: string;
}

/** What the rows of a resource say; times as text, "infinity" as null. */
export interface WhyFacts {
  status: "waiting" | "due" | "leased" | "parked" | "paused" | "gone";
  now: string;
  due_at: string | null;
  not_before: string;
  tried_at: string | null;
  failures: number;
  /** Messages that wait. */
  mail: bigint;
  worker_id: number | null;
  followed_at: string | null;
  paused_at: string | null;
  parked_at: string | null;
  gone_at: string | null;
  reason: string | null;
  error: unknown;
  urgency: "asked" | "routine";
  upstream: string;
  closed_until: string | null;
  closed_reason: string | null;
}

const because = (reason: string | null): string => (reason ? `: ${reason}` : "");

/** The first that applies, from what keeps a resource away altogether to what its schedule says. */
export function whyNext(facts: WhyFacts, schedule_why: string | null): Next {
  const { status, due_at, now } = facts;
  const kept = keptAway(facts);
  if (kept) return kept;
  if (facts.closed_until !== null && (due_at === null || facts.closed_until > due_at))
    return {
      due_at: facts.closed_until,
      because: "closed",
      why: `${facts.upstream} is closed until ${facts.closed_until}${because(facts.closed_reason)}`,
    };
  if (status === "due") return whyDue(facts);
  if (facts.not_before > now && due_at !== null && facts.not_before >= due_at)
    return { due_at, because: "floor", why: `not before ${due_at}${because(facts.reason)}` };
  if (facts.failures > 0)
    return { due_at, because: "retry", why: `retry ${facts.failures} after ${errorOf(facts)}${because(facts.reason)}` };
  return { due_at, because: "schedule", why: schedule_why ?? "as its schedule says" };
}

function keptAway(facts: WhyFacts): Next | null {
  const { due_at, reason } = facts;
  switch (facts.status) {
    case "gone":
      return facts.followed_at === null
        ? {
            due_at: null,
            because: "gone",
            why: `gone since ${facts.gone_at}${because(reason)}; it is purged after 7 days`,
          }
        : { due_at, because: "gone", why: `gone since ${facts.gone_at}${because(reason)}; it is looked for again` };
    case "paused":
      return {
        due_at: null,
        because: "paused",
        why: `paused since ${facts.paused_at}; \`tidemark resume\` brings it back`,
      };
    case "leased":
      return {
        due_at: null,
        because: "leased",
        why: `worker ${facts.worker_id} has been pulling it since ${facts.tried_at}`,
      };
    case "parked":
      return {
        due_at,
        because: "parked",
        why: `parked since ${facts.parked_at} after ${facts.failures} failures${because(reason)}; it is tried again when its cool-off ends, and at once by \`tidemark refresh\``,
      };
    default:
      return null;
  }
}

function whyDue(facts: WhyFacts): Next {
  const { due_at, now } = facts;
  if (facts.urgency === "asked") return { due_at, because: "asked", why: "somebody asked for it" };
  if (facts.mail > 0n) return { due_at, because: "mail", why: `${facts.mail} messages wait to be handled` };
  if (facts.tried_at === null) return { due_at, because: "new", why: "it is new" };
  if (facts.failures > 0)
    return { due_at, because: "retry", why: `retry ${facts.failures} after ${errorOf(facts)}${because(facts.reason)}` };
  const late_ms = due_at === null ? 0 : Date.parse(now) - Date.parse(due_at);
  return { due_at, because: "overdue", why: `due for ${formatDuration(Math.max(0, late_ms), 2)}` };
}

function errorOf({ error }: WhyFacts): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "a failure";
}
