/** Tidemark as a contestant: a worker with a real source, through the public words alone. */
import sql from "sql-template-tag";
import { z } from "zod";
import { Lanes } from "../../src/engine/lanes.ts";
import {
  Events,
  every,
  follow,
  fresh,
  kind,
  openStore,
  type Post,
  realClock,
  type Source,
  Worker,
  type WorkerSettings,
} from "../../src/index.ts";
import { engineFolder, migrate, readMigrations } from "../../src/store/migrate.ts";
import { type Contestant, keyOf, type Messages, serve, Tally, type Work } from "../contestant.ts";

const [url, slots = "1000"] = process.argv.slice(2) as [string, string?];
const embedded = !url.startsWith("postgresql:");
const db = await openStore({ database_url: embedded ? undefined : url, data: url });
const tally = new Tally();
const events = new Events();
const upstream = { name: "nowhere" };
const batch_rows = 2_000;

const settings: WorkerSettings = {
  slots: Number(slots),
  lease_ttl_ms: 30_000,
  grace_ms: 10_000,
  slice_ms: 600_000,
  pull_timeout_ms: 600_000,
  park_after: 8,
  cool_off_ms: 86_400_000,
  messages_max: 10_000_000,
};

const position = z.object({ at: z.number() }).default({ at: 0 });

/** Set while this process posts: then it takes no messages, so that posting is measured alone. */
let posting: Messages | null = null;
let posted = () => {};

const source: Source = {
  name: "bench",
  follow: (text) => ({ kind: text.split(":")[0]!, key: text.split(":")[1]! }),
  kinds: {
    /** Refreshed without anything new, and due again a day later. */
    item: kind<Record<string, never>>({
      upstream,
      schedule: every("1d"),
      cursor: z.object({}).default({}),
      // biome-ignore lint/correctness/useYield: a pull that finds nothing new yields nothing
      async *pull() {
        return fresh();
      },
    }),
    box: kind<Record<string, never>, number>({
      upstream,
      lane: () => ({ name: "box", ...(posting ? { slots: 0 } : {}) }),
      schedule: every("1d"),
      cursor: z.object({}).default({}),
      message: z.number(),
      receive_most: 1_000,
      async receive(messages, pull) {
        for (const n of messages) tally.handled(pull.resource.key, n);
        return {};
      },
    }),
    poster: kind<{ at: number }>({
      upstream,
      schedule: every("1d"),
      cursor: position,
      async *pull({ cursor }) {
        if (!posting) return fresh();
        for (let at = Math.max(cursor.at, posting.from); at < posting.to; ) {
          const next = Math.min(at + batch_rows, posting.to);
          yield { post: postsOf(posting, at, next), cursor: { at: next } };
          at = next;
        }
        posted();
        return fresh();
      },
    }),
  },
};

function postsOf(messages: Messages, from: number, to: number): Post[] {
  return Array.from({ length: to - from }, (_, i) => ({
    kind: "box",
    key: keyOf(messages, from + i),
    message: from + i,
  }));
}

const lanes = new Lanes([source]);
let worker: Worker | null = null;

function begin(): void {
  worker = new Worker({
    db,
    clock: realClock,
    events,
    sources: [source],
    settings,
    name: `bench-${process.pid}`,
    user_agent: "tidemark-bench",
  });
  void worker.run();
}

events.on("claim", ({ ms, count }) => {
  if (count > 0 && tally.claims_ms.length < 100_000) tally.claims_ms.push(ms);
});
events.on("surprise", ({ sentence }) => process.stderr.write(`tidemark: ${sentence}\n`));

const contestant: Contestant = {
  async prepare({ items, boxes }) {
    await migrate(db, [await readMigrations("tidemark", engineFolder)]);
    await follow(db, lanes, "bench", "item:first");
    await lanes.ensure(db, lanes.spec("bench", "box", "key-0", {}, {}));
    const [item, box] = ["item", "box"].map(
      (name) => lanes.rows().find((r) => r.name === name && r.urgency === "routine")!.lane_id,
    );
    await fill("item", items, item!, sql`tidemark.now() - random() * interval '1 hour'`);
    await fill("box", boxes, box!, sql`tidemark.now() + interval '1 day'`);
    for (const table of [sql`tidemark.resource`, sql`tidemark.due`]) await db.query(sql`vacuum (analyze) ${table}`);
    await db.query(sql`checkpoint`);
  },
  async enqueue() {},
  async post(messages) {
    posting = messages;
    const all_posted = new Promise<void>((resolve) => {
      posted = resolve;
    });
    await follow(db, lanes, "bench", `poster:${messages.from}`);
    begin();
    await all_posted;
    await worker?.stop();
    posting = null;
  },
  async start(work: Work) {
    if (work === "refresh")
      events.on("pull_ended", ({ outcome }) => {
        if (outcome === "fresh") tally.done += 1;
      });
    begin();
  },
  async stop() {
    await worker?.stop();
    await db.close();
  },
};

/** Resources that were followed and pulled before; checking a million references one by one would only take time. */
async function fill(kind_name: string, count: number, lane_id: number, due_at: ReturnType<typeof sql>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql`set local session_replication_role = replica`);
    await tx.query(sql`
      with r as (
        insert into tidemark.resource (source, kind, key, followed_at)
        select 'bench', ${kind_name}, 'key-' || i, tidemark.now() from generate_series(0, ${count}::int - 1) as i
        returning resource_id
      )
      insert into tidemark.due (resource_id, lane_id, due_at, fresh_at, tried_at)
      select r.resource_id, ${lane_id}::int, ${due_at}, tidemark.now() - interval '1 day', tidemark.now() - interval '1 day' from r`);
  });
}

serve(contestant, tally);
