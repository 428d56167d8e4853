/** Messages that have to be handled in order, key by key: many even keys, and one hot key among others. */
import { keyOf, type Messages } from "./contestant.ts";
import { fill } from "./engine-refresh.ts";
import type { Scale } from "./engine-scale.ts";
import { type Figures, measure, measureWhole, median } from "./measure.ts";
import type { Server } from "./server.ts";
import { type Cell, table } from "./table.ts";
import { type Name, Team } from "./team.ts";

/** A database with resources that only wait for messages. */
const BOXES = "boxes";

interface Run extends Figures {
  posting_per_second: number;
}

export interface OrderedRatios {
  ordered_vs_graphile: number | null;
  hot_key_vs_graphile: number | null;
}

/** What is said when it was not measured. */
export const noOrdered: OrderedRatios = { ordered_vs_graphile: null, hot_key_vs_graphile: null };

async function once(server: Server, scale: Scale, name: Name, messages: Messages): Promise<Run> {
  const ours = name === "tidemark";
  const url = await server.create("round", ours ? BOXES : undefined);
  const team = new Team({ name, url, processes: Math.max(...scale.processes) });
  if (!ours) await team.prepare({ items: 0, boxes: 0 });
  const total = messages.to - messages.from;
  const posting = await measureWhole(server, team, total, () => team.post(messages));
  await server.run("vacuum (analyze)", "round");
  const most_ms = scale.ordered_ms;
  const run = await measure(server, team, { work: "ordered", warm_ms: 0, most_ms, total });
  await team.stop();
  await team.end();
  if (run.out_of_order > 0) process.stdout.write(`${name} handled ${run.out_of_order} messages out of order\n`);
  return { ...run, posting_per_second: posting.per_second };
}

export async function ordered(server: Server, scale: Scale): Promise<OrderedRatios> {
  await fill(server, BOXES, { items: 0, boxes: scale.boxes });
  const even: Messages = { from: 0, to: scale.messages, keys: scale.boxes, hot: false };
  const hot: Messages = { from: 0, to: scale.hot_messages, keys: scale.boxes, hot: true };
  return {
    ordered_vs_graphile: await contest(server, scale, "Ordered messages", even),
    hot_key_vs_graphile: await contest(server, scale, "One hot key among others", hot),
  };
}

async function contest(server: Server, scale: Scale, title: string, messages: Messages): Promise<number | null> {
  const names: Name[] = scale.peers_ordered ? ["tidemark", "graphile", "pgboss"] : ["tidemark", "graphile"];
  const runs = new Map<Name, Run[]>(names.map((name) => [name, []]));
  for (let n = 0; n < scale.ordered_rounds; n += 1)
    for (const name of names) runs.get(name)!.push(await once(server, scale, name, messages));
  const middle = (name: Name, of: (run: Run) => number) => median(runs.get(name)!.map(of));
  const rows: Cell[][] = names.map((name) => [
    name,
    middle(name, (r) => r.per_second),
    middle(name, (r) => r.posting_per_second),
    middle(name, (r) => 1 / (1 / r.per_second + 1 / r.posting_per_second)),
    middle(name, (r) => r.done),
    middle(name, (r) => r.out_of_order),
  ]);
  const keys = new Set(Array.from({ length: messages.to }, (_, n) => keyOf(messages, n))).size;
  const whole = `${title}: ${messages.to.toLocaleString("en")} messages on ${keys.toLocaleString("en")} keys`;
  const heads = ["", "handled/s", "posted/s", "both/s", "handled in the time given", "out of order"];
  process.stdout.write(table(whole, heads, rows));
  const ours = runs.get("tidemark")!;
  return median(runs.get("graphile")!.map((peer, n) => ours[n]!.per_second / peer.per_second));
}
