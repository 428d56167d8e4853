/** A real process that calls a pretend upstream as fast as its budgets let it, until it is told to stop. */
import diagnostics from "node:diagnostics_channel";
import { setMaxListeners } from "node:events";
import { Events, openStore, realClock, type TidemarkError } from "tidemark";
import { Upstreams } from "../../src/engine/upstream.ts";
import { type BudgetOrder, upstreamOf } from "./budget-upstream.ts";

const order = JSON.parse(process.argv[2]!) as BudgetOrder;
const { database_url, url, name, callers, share, group } = order;

/** When the call leaves, by the clock that all processes of this machine share; the upstream writes it into its log. */
diagnostics.subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } };
  request.addHeader("x-sent-ms", String(performance.timeOrigin + performance.now()));
});

const db = await openStore({ database_url, data: "", application_name: name, max: 4 });
const events = new Events();
// By then the database has it.
events.on("upstream_closed", () => process.stdout.write(`closed ${performance.timeOrigin + performance.now()}\n`));
const upstreams = new Upstreams({ db, clock: realClock, events, user_agent: name, allow_private: ["127.0.0.1"] });
const stop = new AbortController();
setMaxListeners(0, stop.signal);
process.on("SIGTERM", () => stop.abort());

async function call(n: number): Promise<void> {
  const path = group ? `/${n % 2 === 0 ? "a" : "b"}` : "/";
  const request = { ...(share ? { share } : {}), ...(group ? { group: path } : {}) };
  for (;;) {
    if (stop.signal.aborted) return;
    try {
      await upstreams.fetch(
        upstreamOf(order.upstream),
        `${url}${path}?share=${share}`,
        request,
        new AbortController().signal,
        BigInt(n),
      );
    } catch (thrown) {
      const { code, wait_ms = 100, message } = thrown as TidemarkError;
      if (code !== "UpstreamBusy") process.stderr.write(`${name}: ${code}: ${message}\n`);
      await realClock.sleep(wait_ms, stop.signal);
    }
  }
}

process.stdout.write("running\n");
await Promise.all(Array.from({ length: callers }, (_, n) => call(n)));
await upstreams.close();
await db.close();
