/** What an index of Go modules costs its GitHub, against the document's design, and how fast its feed answers. */
import { GitHub } from "../src/demo/github/hub.ts";
import { type Db, openStore } from "../src/index.ts";
import { migrations } from "../src/sources/go-modules/tables.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { type Cost, documentDay, ourDays, TAGS_EACH } from "./go-modules-days.ts";
import { askFeed, fillVersions } from "./go-modules-feed.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

interface Scale {
  repositories: number;
  /** Of a day, that are lived through; the document's calls are counted for as many. */
  hours: number;
  versions: number;
  answers: number;
}

const full: Scale = { repositories: 2_000, hours: 24, versions: 1_000_000, answers: 300 };
const quick: Scale = { repositories: 100, hours: 1, versions: 100_000, answers: 60 };

export async function run(options: Options): Promise<object> {
  const scale = options.quick ? quick : full;
  process.stdout.write(`go-modules, ${options.quick ? "quick" : "full"}: ${JSON.stringify(scale)}\n`);
  const server = await Server.start();
  options.atEnd(() => server.remove());
  const opened: Db[] = [];
  options.atEnd(async () => {
    for (const db of opened) await db.close();
  });
  const open = async (name: string): Promise<Db> => {
    const db = await openStore({ database_url: await server.create(name), data: "", max: 10 });
    opened.push(db);
    const engine = await readMigrations("tidemark", engineFolder);
    await migrate(db, [engine, { owner: "go-modules", ...migrations }]);
    return db;
  };

  const feed = await open("feed");
  await fillVersions(feed, scale.versions);
  const answers = await askFeed(feed, server, scale.versions, scale.answers);
  const rows = answers.map((a) => [a.what, a.lines, a.p50_ms, a.p95_ms, a.process_cpu_ms, a.database_cpu_ms]);
  const title = `limit=2000 of ${scale.versions.toLocaleString("en")} versions`;
  process.stdout.write(table(title, ["", "lines", "p50 ms", "p95 ms", "CPU ms each", "in the database"], rows));

  const document = await documentDay(new GitHub(), scale.repositories);
  const ours = await ourDays(await open("days"), scale.repositories, scale.hours);
  const document_calls = (document.calls * scale.hours) / 24;
  const cost = (what: string, { calls, points }: Cost) => [what, calls, points];
  process.stdout.write(
    table(
      `${scale.repositories} repositories, ${scale.repositories * TAGS_EACH} tags`,
      ["", "calls", "points"],
      [
        cost("first index", ours.first),
        cost(`${scale.hours} h in which nothing happens`, ours.idle),
        cost(`${scale.hours} h in which 1 % get a new tag`, ours.changed),
        ["the document's design, always", document_calls, null],
      ],
    ),
  );
  process.stdout.write(
    `New tags were in the feed after ${ours.seen_after_max_s} s at most; ${ours.versions} versions.\n`,
  );
  return {
    bench: "go-modules",
    scale: options.quick ? "quick" : "full",
    idle_day_calls_ratio: Number((ours.idle.calls / document_calls).toFixed(4)),
    changed_day_calls_ratio: Number((ours.changed.calls / document_calls).toFixed(4)),
    first_index_points: ours.first.points,
    seen_after_max_s: ours.seen_after_max_s,
    feed_p95_ms: Number(answers[0]!.p95_ms?.toFixed(1)),
    feed_cpu_ms: Number((answers[0]!.process_cpu_ms + answers[0]!.database_cpu_ms).toFixed(1)),
  };
}
