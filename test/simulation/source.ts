/** The simulated source: streams of numbered events that are mirrored, published and posted to boxes, with effects that are counted. */
import sql from "sql-template-tag";
import { type Batch, type Clock, every, feed, kind, type Pull, type Source, type Tx, table } from "tidemark";
import { z } from "zod";
import type { Random } from "./random.ts";

/** What the pretend upstream says: how many events a stream has by now. */
export type LengthOf = (stream: string, pull: Pull) => number | Promise<number>;

export interface Pace {
  /** Each pull waits up to this long before it goes on. */
  pause_ms: number;
  /** The schedule of streams. */
  every: string;
  /** Time stands still within a transaction; on a real clock its holder may be frozen there, with the rows locked for all others. */
  virtual: boolean;
}

const event = table("sim.event", { columns: { stream: "text", n: "int", value: "text" }, key: ["stream", "n"] });
const entry = table("sim.entry", { columns: { stream: "text", n: "int" }, key: ["stream", "n"] });
const entries = feed("sim", entry);

const BOXES = 3;

/** Notes a breach when this commit is not the current holder's, or its lease had ended before the transaction began. */
async function checkHolder(tx: Tx, pull: Pull, pace: Pace): Promise<void> {
  const { lease } = pull as unknown as { lease: { lease_no: bigint } };
  const begun = pace.virtual ? sql`tidemark.now()` : sql`transaction_timestamp()`;
  await tx.query(sql`
    insert into sim.breach (what)
    select 'a commit under lease ' || ${lease.lease_no}::bigint || ' while the row says ' || d.lease_no || ' until ' || coalesce(d.lease_until::text, 'never')
      from tidemark.due d
     where d.resource_id = ${pull.resource.resource_id}::bigint
       and (d.lease_no <> ${lease.lease_no}::bigint or d.lease_until is null or d.lease_until <= ${begun})`);
}

async function apply(tx: Tx, stream: string, numbers: number[], coalesced: boolean): Promise<void> {
  await tx.query(sql`
    insert into sim.applied (stream, n, times) select ${stream}, n, 1 from unnest(${numbers}::int[]) n
    on conflict (stream, n) do update set times = sim.applied.times + 1`);
  await tx.query(sql`
    insert into sim.posted (box, n, position, stream, coalesced)
    select case when ${coalesced} then 'latest ' else 'box ' end || ${stream} || ' ' || n % ${BOXES}, n, n, ${stream}, ${coalesced}
      from unnest(${numbers}::int[]) n`);
}

async function handled(tx: Tx, box: string, numbers: number[]): Promise<void> {
  await tx.query(
    sql`insert into sim.handled (box, n) select ${box}, n from unnest(${numbers}::int[]) with ordinality u(n, i) order by i`,
  );
}

export function simulatedSource(lengthOf: LengthOf, clock: Clock, random: Random, pace: Pace): Source {
  const pause = async (pull: Pull) => {
    if (random.chance(0.5)) await clock.sleep(random.between(1, pace.pause_ms), pull.signal);
  };
  const stream = kind<{ n: number }>({
    upstream: { name: "sim" },
    lane: () => ({ name: "stream" }),
    schedule: every(pace.every),
    cursor: z.object({ n: z.number() }).default({ n: 0 }),
    position: (cursor) => BigInt(cursor.n),
    async *pull(pull) {
      const { key } = pull.resource;
      const coalesced = key.startsWith("c");
      for (;;) {
        await pause(pull);
        const from = pull.cursor.n;
        const to = Math.min(await lengthOf(key, pull), from + random.between(1, 4));
        if (to <= from) return undefined;
        const numbers = Array.from({ length: to - from }, (_, i) => from + 1 + i);
        const target = coalesced ? "latest" : "box";
        const batch: Batch<{ n: number }> = {
          put: [event.rows(numbers.map((n) => ({ stream: key, n, value: `v${n}` })))],
          publish: [entries.entries(numbers.map((n) => ({ stream: key, n })))],
          post: numbers.map((n) => ({
            kind: target,
            key: `${target} ${key} ${n % BOXES}`,
            message: { n },
            position: BigInt(n),
          })),
          cursor: { n: to },
          write: async (tx) => {
            await checkHolder(tx, pull, pace);
            await apply(tx, key, numbers, coalesced);
          },
        };
        yield batch;
      }
    },
  });
  const receiver = (coalesces: boolean) =>
    kind<null, { n: number }>({
      upstream: { name: "sim" },
      lane: () => ({ name: "box", fleet: 2 }),
      schedule: every("1h"),
      cursor: z.null().default(null),
      message: z.object({ n: z.number() }),
      ...(coalesces ? { coalesce: () => "latest" } : {}),
      receive_most: 3,
      async receive(messages, pull) {
        await pause(pull);
        const numbers = messages.map((m) => m.n);
        return {
          write: async (tx) => {
            await checkHolder(tx, pull, pace);
            await handled(tx, pull.resource.key, numbers);
          },
        };
      },
    });
  return {
    name: "sim",
    kinds: { stream, box: receiver(false), latest: receiver(true) },
    follow: (text) => ({ kind: "stream", key: text }),
  };
}
