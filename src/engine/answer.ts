/** What an upstream's answer means, as pure functions: which statuses are answers, which ask us to wait, and for how long. */
import type { z } from "zod";
import type { Answer } from "../contract.ts";
import { TidemarkError } from "../errors.ts";
import { type Limit, limitsOf, retryAfter_ms } from "./answer-limits.ts";

/** Asked to wait for no time at all we still wait a little, or we would ask again at once, for ever. */
const BUSY_WAIT_MS_MIN = 1_000;
/** Only so much of a refusal is read for a sentence that says why. */
const SAID_BYTES_MAX = 64 * 1024;

export type Verdict =
  | { verdict: "answer" }
  /** We are asked to wait: so long, or for a time that we have to choose. `about` is the budget that is spent, where it is one. */
  | { verdict: "busy"; wait_ms: number | null; about: string | null; sentence: string }
  /** It is not well. */
  | { verdict: "down"; sentence: string }
  /** It does not take our credentials. */
  | { verdict: "refused"; sentence: string }
  /** It does not give us this. */
  | { verdict: "forbidden"; sentence: string };

interface Head {
  status: number;
  headers: Record<string, string>;
  bytes: Uint8Array;
}

/** What the answer means. A status that the caller takes as an answer is one, but for 429. */
export function judge(upstream: string, answer: Head, accepted: readonly number[] = []): Verdict {
  const { status, headers } = answer;
  if (status === 200 && saysLimited(answer))
    return busy(answer, `${upstream} says that our allowance is spent (HTTP 200 with RATE_LIMITED).`);
  if (status === 429) return busy(answer, `${upstream} asked us to wait (HTTP 429).`);
  if (accepted.includes(status)) return { verdict: "answer" };
  if (status === 503 && retryAfter_ms(headers) !== null)
    return busy(answer, `${upstream} asked us to wait (HTTP 503).`);
  if (status >= 500) return { verdict: "down", sentence: `${upstream} answered HTTP ${status}.` };
  if (status === 401)
    return {
      verdict: "refused",
      sentence: `${upstream} refuses our credentials (HTTP 401). Check the tokens for that host.`,
    };
  if (status !== 403) return { verdict: "answer" };
  return signOfLimit(answer)
    ? busy(answer, `${upstream} asked us to wait (HTTP 403).`)
    : { verdict: "forbidden", sentence: `${upstream} does not let us see this (HTTP 403).` };
}

/** The time is Retry-After's; or the reset of the budget that is spent; or ours to choose. */
function busy({ headers, status }: Head, sentence: string): Verdict {
  const spent = limitsOf(headers).find((limit) => limit.remaining === 0);
  const asked_ms = retryAfter_ms(headers);
  const wait_ms = asked_ms ?? spent?.reset_ms ?? null;
  // With a Retry-After it is more than one budget that is meant: GitHub's secondary limits come so.
  const about = spent && (asked_ms === null || status === 200) ? spent.resource : null;
  return { verdict: "busy", wait_ms: wait_ms === null ? null : Math.max(wait_ms, BUSY_WAIT_MS_MIN), about, sentence };
}

/** A 403 can mean "wait" or "never": only with a sign of a limit is it the former. */
function signOfLimit(answer: Head): boolean {
  if (retryAfter_ms(answer.headers) !== null) return true;
  if (limitsOf(answer.headers).some((limit) => limit.remaining === 0)) return true;
  return /secondary rate limit|rate limit exceeded|abuse detection/i.test(textOf(answer));
}

/** GraphQL tells of a spent allowance with a good status, in its list of errors. */
function saysLimited(answer: Head): boolean {
  if (!Buffer.from(answer.bytes.buffer, answer.bytes.byteOffset, answer.bytes.length).includes("RATE_LIMIT"))
    return false;
  try {
    const { errors } = JSON.parse(textOf(answer, Number.POSITIVE_INFINITY)) as { errors?: { type?: unknown }[] };
    return Array.isArray(errors) && errors.some((e) => e?.type === "RATE_LIMITED" || e?.type === "RATE_LIMIT");
  } catch {
    return false;
  }
}

const textOf = ({ bytes }: Head, most = SAID_BYTES_MAX): string =>
  new TextDecoder().decode(bytes.length > most ? bytes.subarray(0, most) : bytes);

/** What the answer says of budgets that the call took from: by its own name, or of the only one where it names none. */
export function saidOf(headers: Record<string, string>, budgets: string[]): (Limit & { budget: string })[] {
  return limitsOf(headers).flatMap((limit) => {
    const only = budgets.length === 1 && (limit.resource === null || budgets[0] === "");
    const budget = only ? budgets[0] : limit.resource;
    return budget !== null && budget !== undefined && budgets.includes(budget) ? [{ ...limit, budget }] : [];
  });
}

/** Queries can hold secrets; logs and errors get the address without one. */
export function withoutQuery(url: string): string {
  const cut = url.search(/[?#]/);
  return cut < 0 ? url : url.slice(0, cut);
}

export function makeAnswer(
  upstream: string,
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array,
): Answer {
  const text = () => new TextDecoder().decode(bytes);
  return {
    status,
    headers,
    bytes,
    text,
    json<T>(schema: z.ZodType<T>): T {
      let body: unknown;
      try {
        body = JSON.parse(text());
      } catch (cause) {
        throw new TidemarkError("UpstreamChanged", `${upstream} sent ${bytes.length} bytes that are not JSON.`, {
          cause,
        });
      }
      const parsed = schema.safeParse(body);
      if (parsed.success) return parsed.data;
      throw new TidemarkError("UpstreamChanged", `${upstream} sent JSON of another shape: ${parsed.error.message}`);
    },
  };
}
