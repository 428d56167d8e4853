/** Refreshes a second on the embedded database, by how many pulls run at once. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Scale } from "./engine-scale.ts";
import { measure } from "./measure.ts";
import type { Options } from "./run.ts";
import type { Server } from "./server.ts";
import { type Cell, table } from "./table.ts";
import { Team } from "./team.ts";

export async function embedded(server: Server, scale: Scale, atEnd: Options["atEnd"]): Promise<void> {
  const rows: Cell[][] = [];
  for (const slots of scale.embedded_slots) {
    const folder = await mkdtemp(path.join(os.tmpdir(), "tidemark-bench-"));
    const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
    atEnd(remove);
    const team = new Team({ name: "tidemark", url: folder, more: [String(slots)] });
    const total = scale.embedded_resources;
    await team.prepare({ items: total, boxes: 0 });
    const { embedded_ms: most_ms } = scale;
    const run = await measure(server, team, { work: "refresh", warm_ms: most_ms / 5, most_ms, total });
    await team.stop();
    await team.end();
    await remove();
    rows.push([String(slots), run.per_second, run.worker_cpu_us, run.rss_most_bytes / 1e6]);
  }
  const title = `Refreshes of ${scale.embedded_resources.toLocaleString("en")} resources on the embedded database`;
  process.stdout.write(table(title, ["slots", "refreshes/s", "CPU µs", "RSS MB"], rows));
}
