/** How long a claim of ten takes a worker, with few and with many resources followed. */

import { FOLLOWED, fill } from "./engine-refresh.ts";
import type { Scale } from "./engine-scale.ts";
import { measure, percentile } from "./measure.ts";
import type { Server } from "./server.ts";
import { type Cell, table } from "./table.ts";
import { Team } from "./team.ts";

/** A tenth of the slots is kept for what people ask for, so ten are claimed at a time. */
const SLOTS = "12";

async function claimsAmong(server: Server, scale: Scale, database: string, resources: number): Promise<number[]> {
  const team = new Team({ name: "tidemark", url: server.url(database), more: [SLOTS] });
  const most_ms = scale.claims_ms;
  const { claims_ms } = await measure(server, team, { work: "refresh", warm_ms: 500, most_ms, total: resources });
  await team.stop();
  await team.end();
  return claims_ms;
}

export async function claims(server: Server, scale: Scale): Promise<number | null> {
  const rows: Cell[][] = [];
  const p99_ms: (number | null)[] = [];
  for (const resources of [scale.few_resources, scale.many_resources]) {
    if (resources === scale.resources) await server.create("claimed", FOLLOWED);
    else await fill(server, "claimed", { items: resources, boxes: 0 });
    const taken = await claimsAmong(server, scale, "claimed", resources);
    await server.drop("claimed");
    p99_ms.push(percentile(taken, 0.99));
    rows.push([resources.toLocaleString("en"), taken.length, percentile(taken, 0.5), percentile(taken, 0.99)]);
  }
  process.stdout.write(
    table("Claims of ten, as a worker sees them", ["resources", "claims", "p50 ms", "p99 ms"], rows),
  );
  const [few, many] = p99_ms;
  return scale.claims_tell && few && many ? many / few : null;
}
