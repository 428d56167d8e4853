/** How fast a NuGet feed is mirrored, against one job for each leaf in a queue; how far behind it stays; how fast it is searched. */
import { openStore } from "../src/index.ts";
import { nuget } from "../src/sources/nuget/source.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { FeedProcess } from "./nuget-feed.ts";
import { EVERY_MS, type Lag, type LagScale, lag } from "./nuget-lag.ts";
import { type RaceScale, races, ratio, tellRaces } from "./nuget-race.ts";
import { askSearch, fillPackages } from "./nuget-search.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

interface Scale {
  packages: number;
  leaves: number;
  race: RaceScale;
  lag: LagScale;
  searched_packages: number;
  searches: number;
}

const full: Scale = {
  packages: 20_000,
  leaves: 200_000,
  race: { processes: [1, 2], rounds: 2, most_ms: 1_200_000 },
  lag: { per_second: 100, published_ms: 120_000, polls: 3 },
  searched_packages: 300_000,
  searches: 100,
};
const quick: Scale = {
  packages: 200,
  leaves: 2_000,
  race: { processes: [2], rounds: 1, most_ms: 5_000 },
  lag: { per_second: 20, published_ms: 2_000, polls: 0 },
  searched_packages: 5_000,
  searches: 10,
};

export async function run(options: Options): Promise<object> {
  const scale = options.quick ? quick : full;
  process.stdout.write(`nuget, ${options.quick ? "quick" : "full"}: ${JSON.stringify(scale)}\n`);
  const server = await Server.start();
  options.atEnd(() => server.remove());
  const searched = await search(server, scale);

  const feed = await FeedProcess.start(scale.packages, scale.leaves);
  options.atEnd(async () => feed.end());
  let behind: Lag | null = null;
  const runs = await races(server, feed, scale.race, async () => {
    behind = await lag(server, feed, scale.lag);
  });
  process.stdout.write(tellRaces(runs, feed.held));
  tellLag(behind, scale);
  const ours = runs.filter((one) => one.way === "ours").at(-1)!;
  return {
    bench: "nuget",
    scale: options.quick ? "quick" : "full",
    leaves_per_s_ratio: rounded(ratio(runs, "queue")),
    leaves_per_s_ratio_same_prepass: rounded(ratio(runs, "queue, latest only")),
    // Of a part only, it says little about the whole.
    requests_per_leaf: ours.part < 1 ? null : rounded(ours.requests_per_leaf),
    search_p95_ms: rounded(searched),
  };
}

const rounded = (n: number | null): number | null => (n === null ? null : Number(n.toFixed(2)));

async function search(server: Server, { searched_packages, searches }: Scale): Promise<number | null> {
  const db = await openStore({ database_url: await server.create("search"), data: "" });
  try {
    await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "nuget", ...nuget().migrations! }]);
    await fillPackages(db, searched_packages);
    const { p95_ms, rows } = await askSearch(db, searched_packages, searches);
    const title = `Searches among ${searched_packages.toLocaleString("en")} packages`;
    process.stdout.write(
      table(title, ["", "hits", "p50 ms", "p95 ms"], [...rows, ["all together", null, null, p95_ms]]),
    );
    return p95_ms;
  } finally {
    await db.close();
  }
}

function tellLag(behind: Lag | null, { lag: { per_second } }: Scale): void {
  if (!behind) return;
  const { p50_s, p95_s, commits, requests_per_poll } = behind;
  const title = `The public cursor behind ${per_second} packages a second, looking every ${EVERY_MS / 1000} s`;
  process.stdout.write(
    table(
      title,
      ["", "commits", "p50 s", "p95 s", "requests a look when quiet"],
      [["behind", commits, p50_s, p95_s, requests_per_poll]],
    ),
  );
}
