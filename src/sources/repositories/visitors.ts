/** Who looks: people count as views, programs do not, and nobody can make us fetch without end. */

const programs =
  /bot\b|bot\/|crawl|spider|slurp|preview|embed|unfurl|fetch|monitor|uptime|pingdom|headless|lighthouse|facebookexternalhit|whatsapp|telegram|discord|slack|curl|wget|python|java\/|go-http|node|axios|okhttp|libwww|httpie|postman|tidemark/i;

export interface Visit {
  method: string;
  header(name: string): string | undefined;
  /** False where the caller says itself that nobody looks. */
  view: boolean;
}

/** A program that gathers pages or shows a preview of one: what it asks for is not begun for it. */
export const isBot = ({ header }: Visit): boolean =>
  /bot\b|bot\/|crawl|spider|slurp|preview|unfurl|facebookexternalhit|whatsapp|telegram|discord|slack/i.test(
    header("user-agent") ?? "",
  );

/** A browser with somebody before it: not one that fetches ahead, not one that asks only whether something changed. */
export function isPerson(visit: Visit): boolean {
  const { method, header, view } = visit;
  const agent = header("user-agent") ?? "";
  const ahead = /prefetch|prerender|preview/i.test(
    `${header("sec-purpose") ?? ""}${header("purpose") ?? ""}${header("x-purpose") ?? ""}`,
  );
  return (
    view &&
    method === "GET" &&
    /^Mozilla\//.test(agent) &&
    !programs.test(agent) &&
    !ahead &&
    header("if-none-match") === undefined
  );
}

const HOUR_MS = 3_600_000;

/** So many in an hour, evenly given back; it forgets at a restart, which gives an hour's worth once more. */
export class HourlyAllowance {
  #left: number | null = null;
  #at_ms = 0;

  /** Takes one; false where none is left, with the time until there is. */
  take(most: number, now_ms: number): { taken: true } | { taken: false; wait_ms: number } {
    const back = this.#left === null ? most : this.#left + ((now_ms - this.#at_ms) / HOUR_MS) * most;
    this.#left = Math.min(most, back);
    this.#at_ms = now_ms;
    if (this.#left < 1) return { taken: false, wait_ms: most === 0 ? HOUR_MS : ((1 - this.#left) / most) * HOUR_MS };
    this.#left -= 1;
    return { taken: true };
  }
}
