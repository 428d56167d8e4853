/** What following a large repository takes, against the document's plan of one request for each issue, and how fast its issues are found. */
import { type Db, openStore } from "../src/index.ts";
import { migrations } from "../src/sources/github-issues/tables.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { measureSearch, type Searched } from "./github-issues-search.ts";
import { simulate } from "./github-issues-simulation.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

/** The document's plan: half of 3,000 requests a minute, an issue each. */
const PLAN_PER_MINUTE = 1_500;
const WHOLE = 200_000;

interface Scale {
  simulated: number;
  searched: number;
  searched_embedded: number;
  queries: number;
}

const full: Scale = { simulated: WHOLE, searched: WHOLE, searched_embedded: 20_000, queries: 100 };
const quick: Scale = { simulated: 4_000, searched: 6_000, searched_embedded: 1_000, queries: 20 };

export async function run(options: Options): Promise<object> {
  const scale = options.quick ? quick : full;
  process.stdout.write(`github-issues, ${options.quick ? "quick" : "full"}: ${JSON.stringify(scale)}\n`);
  const server = await Server.start();
  options.atEnd(() => server.remove());
  const opened: Db[] = [];
  options.atEnd(async () => {
    for (const db of opened) await db.close();
  });
  const open = async (database_url: string | undefined): Promise<Db> => {
    const db = await openStore({ database_url, data: "memory", max: 6 });
    opened.push(db);
    await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "github-issues", ...migrations }]);
    return db;
  };

  const large = await measureSearch(await open(await server.create("search")), scale.searched, scale.queries);
  const embedded = await openEmbeddedHere(opened);
  const small = await measureSearch(embedded, scale.searched_embedded, scale.queries);
  const row = (what: string, s: Searched) => [what, s.issues, s.p50_ms, s.p95_ms, s.filtered_p95_ms, s.recall];
  process.stdout.write(
    table(
      "Searches, by words and by meaning (384 dimensions)",
      ["", "issues", "p50 ms", "p95 ms", "p95 ms, 1 % filter", "recall@10, 1 % filter"],
      [row(`PostgreSQL, ${large.compared_by}`, large), row(`embedded, ${small.compared_by}`, small)],
    ),
  );

  const told = await simulate(await open(await server.create("simulation")), scale.simulated);
  const plan = (what: string, issues: number) => [what, issues, issues / PLAN_PER_MINUTE, issues, null, null];
  process.stdout.write(
    table(
      "Initialisation on a virtual clock: 3 s a page, 3,000 requests and 1M tokens a minute, people searching",
      ["", "issues", "minutes", "embedding requests", "GitHub points", "a search waits, p95 ms"],
      [
        plan("the document's plan: an issue a request", scale.simulated),
        [
          "ours",
          told.issues,
          told.virtual_minutes,
          told.embedding_requests,
          told.github_points,
          told.search_wait_p95_ms,
        ],
      ],
    ),
  );
  process.stdout.write(
    `${told.github_pages} pages, ${told.embedding_tokens.toLocaleString("en")} tokens, ${told.searches} searches meanwhile.\n`,
  );
  const whole = scale.simulated === WHOLE;
  return {
    bench: "github-issues",
    scale: options.quick ? "quick" : "full",
    virtual_minutes_200k: whole ? Number(told.virtual_minutes.toFixed(1)) : null,
    embedding_requests_200k: whole ? told.embedding_requests : null,
    search_p95_ms: Number(large.p95_ms?.toFixed(1)),
    filtered_recall_at_10: Number(large.recall.toFixed(3)),
    search_wait_p95_ms_during_init: told.search_wait_p95_ms,
  };
}

async function openEmbeddedHere(opened: Db[]): Promise<Db> {
  const { openEmbedded } = await import("../src/store/embedded.ts");
  const db = await openEmbedded();
  opened.push(db);
  await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "github-issues", ...migrations }]);
  return db;
}
