/** What an index of Go modules costs its GitHub, against the document's design, and how fast its feed answers. */
import { GitHub } from "../src/demo/github/hub.ts";
import { type Db, openStore } from "../src/index.ts";
import { migrations } from "../src/sources/go-modules/tables.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { type Cost, type Days, documentDay, ourDays, TAGS_EACH } from "./go-modules-days.ts";
import { askFeed, fillVersions } from "./go-modules-feed.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

const HOUR_MS = 3_600_000;

interface Scale {
  repositories: number;
  /** Of a day with a sweep every five minutes, that are lived through; the document's calls are counted for as many. */
  hours: number;
  /** How long the day is on which ours looks once, too: the calls of one period do not depend on its length. */
  daily_hours: number;
  versions: number;
  answers: number;
}

const full: Scale = { repositories: 2_000, hours: 2, daily_hours: 24, versions: 1_000_000, answers: 200 };
const quick: Scale = { repositories: 100, hours: 1, daily_hours: 1, versions: 100_000, answers: 60 };

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
  const { repositories, hours, daily_hours } = scale;
  const daily_habit = { every: `${daily_hours}h`, refresh: `${daily_hours}h`, day_ms: daily_hours * HOUR_MS };
  const often_habit = { every: "5m", refresh: "1d", day_ms: hours * HOUR_MS };
  const ours = await ourDays(await open("days"), repositories, [daily_habit, often_habit]);
  const [daily, often] = ours.days as [Days, Days];
  const part = hours / 24;
  const cost = (what: string, { calls, points }: Cost, of = 1) => [what, calls, points, (document.calls * of) / calls];
  process.stdout.write(
    table(
      `${repositories} repositories, ${repositories * TAGS_EACH} tags`,
      ["", "calls", "points", "the document's ÷ ours"],
      [
        ["the document's design, every day", document.calls, null, null],
        ["first index", ours.first.calls, ours.first.points, null],
        cost("looking once a day: a day on which nothing happens", daily.idle),
        cost("… on which 1 % get a new tag", daily.changed),
        cost(`looking every five minutes: ${hours} h in which nothing happens`, often.idle, part),
        cost("… in which 1 % get a new tag", often.changed, part),
      ],
    ),
  );
  process.stdout.write(
    `New tags were in the feed after ${often.seen_after_max_s} s at most, and looking once a day after ${daily.seen_after_max_s} s; ${ours.versions} versions.\n`,
  );
  const times = ({ calls }: Cost, of = 1) => Number(((document.calls * of) / calls).toFixed(1));
  return {
    bench: "go-modules",
    scale: options.quick ? "quick" : "full",
    idle_day_calls_ratio: times(daily.idle),
    changed_day_calls_ratio: times(daily.changed),
    idle_day_calls_ratio_5m: times(often.idle, part),
    changed_day_calls_ratio_5m: times(often.changed, part),
    first_index_points: ours.first.points,
    seen_after_max_s: often.seen_after_max_s,
    feed_p95_ms: Number(answers[0]!.p95_ms?.toFixed(1)),
    feed_cpu_ms: Number((answers[0]!.process_cpu_ms + answers[0]!.database_cpu_ms).toFixed(1)),
  };
}
