/** A real process that calls a pretend upstream as fast as its budgets let it, from when it is told to until it is told to stop. */
import diagnostics from "node:diagnostics_channel";
import { setMaxListeners } from "node:events";
import { Events, openStore, realClock, type TidemarkError } from "tidemark";
import { Upstreams } from "../../src/engine/upstream.ts";
import { type BudgetOrder, type BudgetReport, upstreamOf } from "./budget-upstream.ts";

const now_ms = () => performance.timeOrigin + performance.now();
const report = (said: BudgetReport) => process.send!(said);

/** When the call leaves, by the clock that all processes of this machine share; the upstream writes it into its log. */
diagnostics.subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } };
  request.addHeader("x-sent-ms", String(now_ms()));
});

async function work(order: BudgetOrder, stop: AbortSignal): Promise<void> {
  const { database_url, url, name, callers, share, group } = order;
  const db = await openStore({ database_url, data: "", application_name: name, max: 4 });
  const events = new Events();
  // By then the database has it.
  events.on("upstream_closed", () => report({ closed_ms: now_ms() }));
  const upstreams = new Upstreams({ db, clock: realClock, events, user_agent: name, allow_private: ["127.0.0.1"] });
  const call = async (n: number): Promise<void> => {
    const path = group ? `/${n % 2 === 0 ? "a" : "b"}` : "/";
    const request = { ...(share ? { share } : {}), ...(group ? { group: path } : {}) };
    const address = `${url}${path}?share=${share}`;
    while (!stop.aborted) {
      try {
        await upstreams.fetch(upstreamOf(order.upstream), address, request, new AbortController().signal, BigInt(n));
      } catch (thrown) {
        const { code, wait_ms = 100, message } = thrown as TidemarkError;
        if (code !== "UpstreamBusy") report({ trouble: `${name}: ${code}: ${message}` });
        await realClock.sleep(wait_ms, stop);
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, n) => call(n)));
  await upstreams.close();
  await db.close();
}

let stop = new AbortController();
process.on("message", (order: BudgetOrder | "stop") => {
  if (order === "stop") return stop.abort();
  stop = new AbortController();
  setMaxListeners(0, stop.signal);
  void work(order, stop.signal).then(() => report("stopped"));
});
process.on("disconnect", () => process.exit());
report("ready");
