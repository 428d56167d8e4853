/** Tidemark as a crawler of one site: the source as it is, storing and indexing what it finds. */
import sql from "sql-template-tag";
import { Lanes } from "../../src/engine/lanes.ts";
import { Events, follow, openStore, realClock, Worker } from "../../src/index.ts";
import { web } from "../../src/sources/web/source.ts";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";

const [url, site, at_once, again] = process.argv.slice(2) as [string, string, string, string?];
const db = await openStore({ database_url: url, data: "" });
const source = web();
source.configure!(source.settings!.parse({ pages: "1000000", alike: "1000000", depth: "1000" }), {} as never);
const lanes = new Lanes([source]);
await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "web", ...source.migrations! }]);
const host = new URL(site).host;
await follow(db, lanes, "web", host, { own: "true", at_once, delay: "0s" });
if (again) {
  await db.query(sql`update web.guestbook set next_fetch = tidemark.now() where next_fetch < 'infinity'`);
  await db.query(sql`update tidemark.due set due_at = tidemark.now()`);
}
const begun = performance.now();
const worker = new Worker({
  ...{
    db,
    clock: realClock,
    events: new Events(),
    sources: [source],
    name: "bench",
    user_agent: "bench",
    allow_private: ["127.0.0.1"],
  },
  settings: {
    slots: 8,
    lease_ttl_ms: 30_000,
    grace_ms: 5_000,
    slice_ms: 600_000,
    pull_timeout_ms: 600_000,
    park_after: 8,
    cool_off_ms: 86_400_000,
    messages_max: 1_000_000,
  },
});
void worker.run();
for (;;) {
  await realClock.sleep(20);
  const { rows } = await db.query<{ left: number }>(sql`
    select count(*)::int as left from tidemark.due where lease_until is not null or due_at <= tidemark.now() or fresh_at is null`);
  if (rows[0]!.left === 0) break;
}
const ms = performance.now() - begun;
await worker.stop();
const { rows } = await db.query<{ n: number }>(sql`select count(*)::int as n from web.search`);
await db.close();
process.send!({ ms, pages: rows[0]!.n, rss: process.resourceUsage().maxRSS * 1024 });
process.disconnect();
