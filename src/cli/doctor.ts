/** `tidemark doctor`: looks at everything that has to be in order, and says what to do about what is not. */
import { readFile, statfs } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import sql from "sql-template-tag";
import { type Config, configWarnings } from "../config.ts";
import type { Overview } from "../engine/overview.ts";
import { asTidemarkError, TidemarkError } from "../errors.ts";
import type { Db } from "../store/db.ts";
import { checkMigrated } from "../store/migrate.ts";
import { openStore } from "../store/open.ts";
import { remote } from "./api.ts";
import { checkGit } from "./doctor-git.ts";
import { checkGitHub } from "./doctor-github.ts";
import { type Finding, no, warning, yes } from "./finding.ts";
import { migrationsOf } from "./migrations.ts";
import { answers } from "./opening.ts";
import { examples, jsonOption, sourceOption } from "./options.ts";
import { paint } from "./output.ts";
import { readServerFile, type ServerFile } from "./server-file.ts";
import { type DataOptions, print, type Settings, type Shell } from "./shell.ts";

const GIB = 1024 ** 3;
const CLOCK_MS_MAX = 5_000;
/** The oldest release of PostgreSQL that is tested. */
const OLDEST = 15;

export function addDoctor(program: Command, shell: Shell): void {
  const command = program
    .command("doctor")
    .summary("check the database, the schema, the clock, the disk, git, the settings and the tokens")
    .description("Looks and changes nothing. Ends with 1 when something is not in order.");
  examples(jsonOption(sourceOption(command)), [["tidemark doctor", ""]]).action(async (options: DataOptions) => {
    const settings = await shell.settings(options.source ?? []);
    const findings = [
      ...checkNode(),
      ...checkSettings(settings),
      ...(await checkStore(shell, settings)),
      ...(await checkDisk(settings.config)),
      ...(await checkGit()),
      ...(await checkGitHub(settings.config, shell.clock, shell.version)),
    ];
    const marks = {
      yes: paint(shell.output, "green", "ok"),
      warning: paint(shell.output, "yellow", "!!"),
      no: paint(shell.output, "red", "NO"),
    };
    print(shell, options, { findings }, () =>
      findings.map((f) => `${marks[f.well]}  ${f.what.padEnd(9)} ${f.sentence}`),
    );
    const bad = findings.filter((f) => f.well === "no");
    if (bad.length > 0) throw new TidemarkError("Unexpected", `Not in order: ${bad.map((f) => f.what).join(", ")}.`);
  });
}

function checkNode(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const old = major < 20 || (major === 20 && minor < 19);
  return [
    old
      ? no("node", `Node ${process.versions.node} is too old: use 20.19 or newer.`)
      : yes("node", `Node ${process.versions.node}.`),
  ];
}

function checkSettings({ config }: Settings): Finding[] {
  return [
    ...configWarnings(config).map((sentence) => warning("settings", sentence)),
    yes("settings", `${config.given.length} given by the environment; \`tidemark config\` lists all.`),
  ];
}

function checkSources(names: string[], where: string): Finding {
  if (names.length > 0) return yes("sources", `${names.join(", ")}${where}.`);
  return warning("sources", `None is loaded${where}: give one with --source ./mine.js.`);
}

async function checkStore(shell: Shell, settings: Settings): Promise<Finding[]> {
  const { config, sources } = settings;
  const mine = checkSources(
    sources.map(({ name }) => name),
    "",
  );
  let db: Db;
  try {
    db = await openStore({
      database_url: config.database_url ?? undefined,
      data: config.data,
      application_name: "tidemark doctor",
      max: 2,
    });
  } catch (thrown) {
    const error = asTidemarkError(thrown);
    if (error.code !== "StoreLocked") return [mine, no("database", error.message)];
    const server = await readServerFile(config.data);
    if (server && (await answers(server.url, shell.clock))) return checkServer(shell, config, server);
    const where = server ? `its server at ${server.url} does not answer` : "it serves no HTTP";
    const sentence = `The embedded database in ${config.data} is held by process ${error.details.pid}; ${where}.`;
    return [mine, warning("database", `${sentence} If it was just started, ask again in a moment.`)];
  }
  try {
    return [
      mine,
      ...kindOf(db),
      await checkVersion(db),
      await checkVectors(db),
      await checkSchema(db, settings),
      await checkClock(db),
    ];
  } catch (thrown) {
    return [mine, no("database", asTidemarkError(thrown).message)];
  } finally {
    await db.close();
  }
}

/** Only one process may open the embedded database: what it would say is asked of the server that has it open. */
async function checkServer(shell: Shell, config: Config, { url, pid }: ServerFile): Promise<Finding[]> {
  const holds = `The server at ${url} (process ${pid}) holds the embedded database in ${config.data}`;
  const api = remote(url, config.admin_token ?? config.read_token);
  try {
    // It says whether the database answers and whether the schema is the one that it needs.
    await api.get("/readyz");
    const { sources, workers, version } = await api.get<Overview & { version: string }>("/api/status");
    return [
      checkSources(
        sources.map(({ source }) => source),
        " in the server",
      ),
      yes("database", `${holds}, and is well.`),
      embedded,
      yes("schema", "Up to date, says the server."),
      workers.length > 0
        ? yes("workers", `${workers.length}, seen a moment ago.`)
        : warning("workers", "None is running, so nothing is pulled."),
      version === shell.version
        ? yes("release", `${version}, as the server.`)
        : warning("release", `The server is ${version} and this command ${shell.version}: restart the server.`),
    ];
  } catch (thrown) {
    return [no("database", `${holds}, but: ${asTidemarkError(thrown).message}`)];
  }
}

/** Nothing is wrong with it, but whoever runs it should know. */
const embedded = yes(
  "database",
  "Embedded: it survives a killed process but not a power loss, and only one process may use it. For more, set DATABASE_URL.",
);

const kindOf = (db: Db): Finding[] => (db.kind === "postgres" ? [] : [embedded]);

async function checkVersion(db: Db): Promise<Finding> {
  const { rows } = await db.query<{ version: string; number: number }>(sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number`);
  const { version, number } = rows[0]!;
  if (number < OLDEST * 10_000) return no("database", `PostgreSQL ${version} is too old: use ${OLDEST} or newer.`);
  return yes("database", `PostgreSQL ${version} answers.`);
}

/** Nothing here needs it yet; what searches by meaning is faster with it. */
async function checkVectors(db: Db): Promise<Finding> {
  const { rows } = await db.query<{ installed: string | null; available: string | null }>(sql`
    select installed_version as installed, default_version as available from pg_available_extensions where name = 'vector'`);
  const { installed = null, available = null } = rows[0] ?? {};
  if (installed !== null) return yes("pgvector", `Version ${installed}.`);
  if (available !== null)
    return yes("pgvector", `Version ${available} is there, and installed when a source needs it.`);
  return yes(
    "pgvector",
    "Not there: sources that search by meaning compare vectors one by one, which is exact and slower.",
  );
}

async function checkSchema(db: Db, { sources }: Settings): Promise<Finding> {
  try {
    await checkMigrated(db, await migrationsOf(sources));
    return yes("schema", "Up to date.");
  } catch (thrown) {
    const error = asTidemarkError(thrown);
    if (error.code === "SchemaTooOld" && db.kind === "embedded")
      return warning("schema", "Not there yet; `tidemark up` makes it.");
    return no("schema", error.message);
  }
}

/** The database's clock decides everything; a process that is far off only has odd times in its log. */
async function checkClock(db: Db): Promise<Finding> {
  const { rows } = await db.query<{ now_ms: number }>(
    sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`,
  );
  const off_ms = Math.round(performance.timeOrigin + performance.now() - (rows[0]?.now_ms ?? 0));
  const sentence = `This machine's clock and the database's differ by ${Math.abs(off_ms)} ms.`;
  return Math.abs(off_ms) > CLOCK_MS_MAX
    ? warning("clock", `${sentence} The database's counts; log lines carry this one's.`)
    : yes("clock", sentence);
}

async function checkDisk(config: Config): Promise<Finding[]> {
  if (config.database_url !== null) return [];
  const lock = await readFile(path.resolve(config.data, "lock"), "utf8").catch(() => null);
  const holder = lock === null ? "nobody" : `process ${(JSON.parse(lock) as { pid?: number }).pid}`;
  const { bavail, bsize } = await statfs(config.data).catch(() => statfs("."));
  const free = (bavail * bsize) / GIB;
  const sentence = `${free.toFixed(1)} GiB free for ${config.data}, which ${holder} holds.`;
  return [free < 1 ? warning("disk", `${sentence} That is little.`) : yes("disk", sentence)];
}
