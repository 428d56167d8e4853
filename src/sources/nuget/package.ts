/** One package of a feed: an actor that handles the events of its versions in order, and reads the leaves that it needs. */
import sql from "sql-template-tag";
import { type Batch, every, type Kind, kind, type Pull, TidemarkError } from "tidemark";
import { z } from "zod";
import { coalesceKey, Message, partsOf } from "./event-message.ts";
import { isOf, keyOf, Leaf } from "./leaf.ts";
import { packageRow } from "./package-row.ts";
import type { NuGetParts } from "./parts.ts";
import type { Settings } from "./settings.ts";
import { ticksOf } from "./stamp.ts";
import { owned_by_package, versions } from "./tables.ts";
import { type Event, type KnownVersion, rowOf, wanted, winnersOf } from "./version-state.ts";

/** Events handled in one commit: each may need a leaf. */
const EVENTS_MOST = 100;
/** Leaves of one package that are read at once. */
const LEAVES_AT_ONCE = 16;
/** Leaves that were read and may be needed again, because the commit that needs them was put off. */
const REMEMBERED_MOST = 2_000;
const LEAF_BYTES_MAX = 16 * 1024 * 1024;

export function packageKind({ settings, upstream }: NuGetParts): Kind {
  const read = new Map<string, Leaf>();
  return kind<Record<string, never>, Message>({
    upstream: (key) => upstream(partsOf(key).host),
    lane: () => ({ name: "packages" }),
    // Nothing is to be pulled: what happens to a package, its catalog says.
    schedule: every("365d"),
    cursor: z.object({}).default({}),
    message: Message,
    coalesce: coalesceKey,
    receive_most: EVENTS_MOST,
    owns: owned_by_package,
    receive: (messages, pull) => receive(messages, pull, settings(), read),
  });
}

async function receive(
  messages: Message[],
  pull: Pull<Record<string, never>>,
  { leaves }: Settings,
  read: Map<string, Leaf>,
): Promise<Batch<Record<string, never>>> {
  const { resource_id, key } = pull.resource;
  const { feed_id, lower_id } = partsOf(key);
  const events = messages.map((m): Event => ({ ...m, ticks: ticksOf(m.stamp)!, version_key: keyOf(m.version) }));
  const known = await knownVersions(
    pull,
    feed_id,
    lower_id,
    leaves === "newest" ? null : events.map((e) => e.version_key),
  );
  const winners = winnersOf(events, known);
  const chosen = wanted([...winners.values()], known, leaves);
  const documents = await readLeaves(pull, chosen, lower_id, read);
  const of = { feed_id, lower_id, resource_id };
  const rows = [...chosen.again, ...winners.values()].map((event) =>
    rowOf(of, event, documents.get(event.leaf) ?? null),
  );
  const newest = newestOf(events);
  const spelt = newestOf(events.filter((event) => !event.deletes));
  if (rows.length === 0) return {};
  return {
    put: [versions.rows(rows)],
    write_together: packageRow({
      ...of,
      id: (spelt ?? newest)!.id,
      id_ticks: spelt?.ticks ?? 0n,
      ticks: newest!.ticks,
    }),
  };
}

const newestOf = (events: Event[]): Event | undefined => events.toSorted((a, b) => (a.ticks < b.ticks ? -1 : 1)).at(-1);

/** What is known of these versions; of all where the newest have to be found. */
async function knownVersions(
  pull: Pull,
  feed_id: bigint,
  lower_id: string,
  keys: string[] | null,
): Promise<Map<string, KnownVersion>> {
  const { rows } = await pull.read.query<KnownVersion>(sql`
    select version_key, sort_key, ticks, stamp, leaf, id, version, deleted, listed, prerelease, read
      from nuget.version
     where feed_id = ${feed_id}::bigint and lower_id = ${lower_id} and (${keys === null} or version_key = any(${keys ?? []}::text[]))`);
  return new Map(rows.map((row) => [row.version_key, row]));
}

/** The leaves, a few at a time. One that is missing or is another's fails, alone, until it is parked. */
async function readLeaves(
  pull: Pull,
  chosen: { read: Event[]; again: Event[] },
  lower_id: string,
  remembered: Map<string, Leaf>,
): Promise<Map<string, Leaf>> {
  const documents = new Map<string, Leaf>();
  const waiting = [...chosen.read, ...chosen.again];
  const one = async (): Promise<void> => {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
      const known = event.again ? undefined : remembered.get(event.leaf);
      const document = known ?? (await readLeaf(pull, event, lower_id));
      remembered.set(event.leaf, document);
      documents.set(event.leaf, document);
    }
  };
  await Promise.all(Array.from({ length: LEAVES_AT_ONCE }, one));
  for (const leaf of remembered.keys()) {
    if (remembered.size <= REMEMBERED_MOST) break;
    remembered.delete(leaf);
  }
  return documents;
}

async function readLeaf(pull: Pull, event: Event, lower_id: string): Promise<Leaf> {
  const answer = await pull.fetch(event.leaf, { redirects: "any", bytes_max: LEAF_BYTES_MAX });
  const wrong = (what: string) => new TidemarkError("UpstreamChanged", `The leaf ${event.leaf} ${what}.`);
  if (answer.status !== 200) throw wrong(`is not there (HTTP ${answer.status})`);
  const leaf = answer.json(Leaf);
  if (!isOf(leaf, lower_id, event.version_key))
    throw wrong(`is about ${leaf.id} ${leaf.version}, not ${event.id} ${event.version}`);
  return leaf;
}
