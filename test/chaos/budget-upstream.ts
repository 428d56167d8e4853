/** A pretend upstream in a process of its own time: it writes down every call, and punishes whoever comes when it said not to. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { realClock, type Upstream } from "tidemark";

export interface Logged {
  path: string;
  share: string;
  /** When the caller sent it, and when it was answered, by one clock. */
  sent_ms: number;
  answered_ms: number;
  status: number;
}

/** What a process is told to do. */
export interface BudgetOrder {
  database_url: string;
  url: string;
  name: string;
  callers: number;
  share: string;
  group: boolean;
  upstream: keyof typeof upstreams;
}

/** … and what it says. */
export type BudgetReport = "ready" | "stopped" | { closed_ms: number } | { trouble: string };

export const pace = { shape: "pace", per_second: 100, burst: 120 } as const;
export const gap = { shape: "gap", gap_ms: 40, by: "group" } as const;
const shares = { init: 0.5, search: 0.2 };

const upstreams = {
  paced: { name: "paced", budget: pace },
  shared: { name: "shared", budget: pace, shares },
  gapped: { name: "gapped", budget: gap },
  crowded: { name: "crowded", concurrency: 3 },
  tired: { name: "tired", budget: { shape: "pace", per_second: 1_000, burst: 1_000 } },
} satisfies Record<string, Upstream>;

export const upstreamOf = (name: BudgetOrder["upstream"]): Upstream => upstreams[name];

const now_ms = () => performance.timeOrigin + performance.now();

export class LoggingUpstream {
  readonly log: Logged[] = [];
  answer_ms = 5;
  #heard: () => void = () => undefined;
  /** Says when callers have to stop, and for how many seconds. */
  tired: (n: number) => number | null = () => null;
  readonly #server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://pretend");
    const entry = {
      path: pathname,
      share: searchParams.get("share") ?? "",
      sent_ms: Number(request.headers["x-sent-ms"]),
    };
    const seconds = this.tired(this.log.length);
    const logged = { ...entry, answered_ms: Number.POSITIVE_INFINITY, status: seconds === null ? 200 : 429 };
    this.log.push(logged);
    this.#heard();
    await realClock.sleep(this.answer_ms);
    logged.answered_ms = now_ms();
    this.#heard();
    if (seconds !== null) response.setHeader("retry-after", String(seconds));
    response.writeHead(logged.status).end("well");
  });

  /** Resolves when the log is as the test wants it, however long that takes on this machine. */
  async until(wanted: (log: Logged[]) => boolean): Promise<void> {
    while (!wanted(this.log))
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}
