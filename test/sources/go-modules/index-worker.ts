/** A real worker process that indexes Go modules, takes its time before commits, and tells how each pull ended. */
import { Events, openStore, realClock, Worker } from "tidemark";
import { goModules } from "../../../src/sources/go-modules/source.ts";

export interface Order {
  database_url: string;
  name: string;
  /** The host that is followed, its API, and a token for it. */
  host: string;
  api: string;
  token: string;
  /** How long a commit waits at most, stamped and not yet visible. */
  late_ms: number;
}

const { database_url, name, host, api, token, late_ms } = JSON.parse(process.argv[2] ?? "{}") as Order;
const db = await openStore({ database_url, data: "", application_name: name, max: 5 });
const events = new Events();
const tell = (line: string) => process.stdout.write(`${line}\n`);
events.on("pull_ended", ({ outcome, kind, reason }) => tell(`${outcome} ${kind} ${reason ?? ""}`));
let commits = 0;
const worker = new Worker({
  db,
  clock: realClock,
  events,
  sources: [goModules({ github_url: api, enterprise_url: () => api, page_most: 10 })],
  name,
  user_agent: "test",
  tokens: { [host]: [token] },
  allow_private: ["127.0.0.1"],
  settings: {
    slots: 8,
    lease_ttl_ms: 2_000,
    grace_ms: 2_000,
    slice_ms: 60_000,
    pull_timeout_ms: 60_000,
    park_after: 1_000,
    cool_off_ms: 60_000,
    messages_max: 1_000,
  },
  // Not by chance: each commit waits for another while.
  at: () => {
    commits += 1;
    return late_ms === 0 ? undefined : realClock.sleep((commits * 7) % late_ms);
  },
});
tell("running");
await worker.run();
