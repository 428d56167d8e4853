/** A real process that publishes versions, a few in each transaction, and takes its time before it commits. */
import { openStore, realClock } from "tidemark";
import { publishNames } from "./index-rig.ts";

/** Each publishes versions of its own, v0.0.0 to v0.N.0, and on another run whatever it had not published. */
const [database_url = "", path = "", count = ""] = process.argv.slice(2);
const db = await openStore({ database_url, data: "", max: 3 });
/** Three connections at once, so that commits overtake each other within one process, too. */
const lanes = [0, 1, 2].map(async (lane) => {
  for (let i = lane * 4; i < Number(count); i += 12) {
    const names = [0, 1, 2, 3].filter((k) => i + k < Number(count)).map((k) => `${path}@v0.${i + k}.0`);
    await db.transaction(async (tx) => {
      await publishNames(tx, names);
      await realClock.sleep((i * 7) % 9);
    });
    process.stdout.write(`${i}\n`);
  }
});
await Promise.all(lanes);
await db.close();
process.stdout.write("done\n");
