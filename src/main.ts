#!/usr/bin/env -S node --max-semi-space-size=4
/** Builds the parts and runs one role or one command; the only file that knows everything. */
import { readFileSync, realpathSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { greeting } from "./cli/greeting.ts";
import { migrationsOf } from "./cli/migrations.ts";
import { outputTo } from "./cli/output.ts";
import { runProgram } from "./cli/program.ts";
import { writeServerFile } from "./cli/server-file.ts";
import type { Demo, Role, ServerInside, Settings, Shell } from "./cli/shell.ts";
import { type Clock, realClock } from "./clock.ts";
import { type Config, configWarnings, type Environment, environmentWith, readConfig, secretsOf } from "./config.ts";
import { DEMO_DATA, startDemo } from "./demo/demo.ts";
import { Housekeeping } from "./engine/housekeeping.ts";
import { Lanes } from "./engine/lanes.ts";
import { Upstreams } from "./engine/upstream.ts";
import { follow } from "./engine/verbs.ts";
import { Views } from "./engine/views.ts";
import { CHANNEL, Waker } from "./engine/waker.ts";
import { Worker } from "./engine/worker.ts";
import { asTidemarkError, hasCode } from "./errors.ts";
import { Events } from "./events.ts";
import { createLog, logEvents } from "./logs.ts";
import { startParkedHook } from "./parked-hook.ts";
import { createApp, createHealthApp } from "./server/app.ts";
import { type Listening, listen } from "./server/listen.ts";
import { Metrics } from "./server/metrics.ts";
import type { ServerParts } from "./server/parts.ts";
import { readOnly } from "./server/reading.ts";
import { loadSources } from "./source-files.ts";
import { configureSources } from "./source-settings.ts";
import { sources as own_sources } from "./sources/index.ts";
import type { Db } from "./store/db.ts";
import { checkMigrated, migrate } from "./store/migrate.ts";
import { openStore } from "./store/open.ts";

const READ_MS_MAX = 15_000;
const OPEN_WAIT_MS = 500;
const OPEN_WAIT_MS_MAX = 10_000;

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

async function readSettings(source_files: string[], replaced?: Environment): Promise<Settings> {
  const sources = await loadSources(own_sources, source_files);
  const config = readConfig(
    environmentWith(replaced),
    sources.map((source) => source.name),
  );
  configureSources(sources, config);
  return { config, sources };
}

const store = (config: Config, what: string, max = config.pool) =>
  openStore({
    database_url: config.database_url ?? undefined,
    data: config.data,
    application_name: `tidemark ${what}`,
    max,
  });

/** Waits for a PostgreSQL that is not there yet; everything else that is wrong is told at once. */
async function openPatiently(
  config: Config,
  role: Role,
  events: Events,
  clock: Clock,
  stop: AbortSignal,
): Promise<Db | null> {
  const begun = clock.elapsed_ms();
  for (let wait = OPEN_WAIT_MS; !stop.aborted; wait = Math.min(wait * 2, OPEN_WAIT_MS_MAX)) {
    try {
      const db = await store(config, role);
      if (wait > OPEN_WAIT_MS) events.emit("store_back", { lost_ms: clock.elapsed_ms() - begun });
      return db;
    } catch (thrown) {
      if (!hasCode(thrown, "StoreDown") || config.database_url === null) throw thrown;
      if (wait === OPEN_WAIT_MS || wait === OPEN_WAIT_MS_MAX) events.emit("store_lost", { reason: thrown.message });
      await clock.sleep(wait, stop);
    }
  }
  return null;
}

/** Everything that a server needs besides a port. */
async function buildServer(
  { config, sources }: Settings,
  db: Db,
  events: Events,
  clock: Clock,
  stopping: AbortSignal,
  waker: Pick<Waker, "wake">,
  // A worker in this process shares its lanes, so that it sees a new one at once and not with the next look at the database.
  lanes = new Lanes(sources),
): Promise<ServerParts & { close(): Promise<void> }> {
  const migrations = await migrationsOf(sources);
  const replica =
    config.read_url === null ? null : await openStore({ database_url: config.read_url, data: "", max: config.pool });
  const surprise = (thrown: unknown) => {
    const error = asTidemarkError(thrown);
    if (error.code === "StoreDown") return;
    events.emit("surprise", { sentence: error.message, error_code: error.code, stack: error.stack ?? "" });
  };
  const upstreams = new Upstreams({ db, clock, events, ...callerOf(config) });
  const wake = () => waker.wake();
  const kind = (source: string, name: string) => lanes.sources.get(source)?.kinds[name] ?? null;
  const { park_after, cool_off_ms } = config;
  return {
    db,
    read: readOnly(replica ?? db, clock, READ_MS_MAX),
    clock,
    events,
    lanes,
    upstreams,
    views: new Views({ db, clock, kind, park_after, cool_off_ms, wake, surprise }),
    metrics: new Metrics(events),
    settings: config,
    version,
    checkSchema: () => checkMigrated(db, migrations),
    wake,
    stopping,
    close: async () => {
      await upstreams.close();
      await replica?.close();
    },
  };
}

/** Runs a role until a signal comes; a second one ends it without waiting for pulls to finish. */
async function run(shell: Shell, role: Role, settings: Settings, demo?: Demo): Promise<void> {
  const { config, sources } = settings;
  const { clock, output } = shell;
  const events = new Events();
  logEvents(events, createLog({ level: config.log_level, secrets: secretsOf(config) }));
  for (const sentence of configWarnings(config)) events.emit("config_warning", { sentence });
  const stop = new AbortController();
  let worker: Worker | null = null;
  const onSignal = () => {
    if (stop.signal.aborted) void worker?.stop(true);
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const db = await openPatiently(config, role, events, clock, stop.signal);
  if (!db) return;
  try {
    const migrations = await migrationsOf(sources);
    if (role === "up") await migrateAloud(db, migrations, events, clock);
    else await checkMigrated(db, migrations);
    const waker = new Waker(db, clock);
    if (role !== "serve") worker = buildWorker(settings, db, events, clock, waker);
    const parts = await buildServer(settings, db, events, clock, stop.signal, waker, worker?.lanes);
    for (const { source, key } of demo?.follows ?? []) await follow(db, parts.lanes, source, key);
    const listening = await listenFor(role, { ...parts, demo: demo?.controls }, config, output.note);
    const forget =
      config.database_url === null && listening
        ? await writeServerFile(config.data, { url: listening.url, pid: process.pid })
        : null;
    const hook = config.parked_hook === null ? null : startParkedHook(config.parked_hook, events, clock, config.proxy);
    const housekeeping = new Housekeeping({ db, clock, events, sources });
    const loops = [parts.views.run(stop.signal), ...(role === "serve" ? [] : [housekeeping.run(stop.signal)])];
    const working = worker?.run();
    if (listening) for (const line of greeting(version, role, settings, listening.url, demo)) output.note(line);
    await untilAborted(stop.signal);
    await Promise.all([listening?.close(), forget?.()]);
    await worker?.stop();
    await Promise.all([...loops, working]);
    await hook?.stop();
    await parts.close();
  } finally {
    await db.close();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function migrateAloud(
  db: Db,
  migrations: Parameters<typeof migrate>[1],
  events: Events,
  clock: Clock,
): Promise<void> {
  let begun = clock.elapsed_ms();
  await migrate(db, migrations, {
    onStep: ({ owner, n, name }) => {
      events.emit("migration_applied", { owner, number: n, name, ms: clock.elapsed_ms() - begun });
      begun = clock.elapsed_ms();
    },
  });
}

/** Who calls upstreams, what it may reach and with which tokens. */
function callerOf({ contact, allow_private, proxy, github_tokens }: Config) {
  const reached = contact === null ? "" : ` (+${contact})`;
  return { user_agent: `tidemark/${version}${reached}`, allow_private, proxy, tokens: github_tokens };
}

function buildWorker({ config, sources }: Settings, db: Db, events: Events, clock: Clock, waker: Waker): Worker {
  return new Worker({
    db,
    clock,
    events,
    sources,
    settings: config,
    name: `${os.hostname()}/${process.pid}`,
    ...callerOf(config),
    waker,
  });
}

/** A worker does without its port when another program has it; whoever serves cannot. */
async function listenFor(
  role: Role,
  parts: ServerParts,
  config: Config,
  note: (text: string) => void,
): Promise<Listening | null> {
  const app = role === "worker" ? createHealthApp(parts) : createApp(parts);
  try {
    return await listen(app, config.host, config.port, parts.clock);
  } catch (thrown) {
    if (role !== "worker") throw thrown;
    note(`${asTidemarkError(thrown).message} This worker goes on without /metrics and /healthz.`);
    return null;
  }
}

/** A server without a port, for one command. */
async function serverInside(clock: Clock, settings: Settings): Promise<ServerInside> {
  const { config, sources } = settings;
  const db = await store(config, "command", 4);
  try {
    const migrations = await migrationsOf(sources);
    if (config.database_url === null) await migrate(db, migrations);
    else await checkMigrated(db, migrations);
    let woken = false;
    const wake = () => {
      woken = true;
    };
    const parts = await buildServer(settings, db, new Events(), clock, new AbortController().signal, { wake });
    // Whoever may open the database may change it: no token is asked for inside this process.
    const app = createApp({ ...parts, settings: { host: "127.0.0.1", admin_token: null, read_token: null } });
    return {
      request: async (path, init) => app.request(`http://127.0.0.1${path}`, init),
      close: async () => {
        if (woken) await sayDue(db);
        await parts.close();
        await db.close();
      },
    };
  } catch (thrown) {
    await db.close();
    throw thrown;
  }
}

/** Workers elsewhere would find it within ten seconds; told, they do at once. */
async function sayDue(db: Db): Promise<void> {
  if (db.kind === "postgres") await db.query(sql`select pg_notify(${CHANNEL}, '')`).catch(() => undefined);
}

/** Runs what the command line says; the number is the exit code. */
export async function main(words: string[], clock: Clock = realClock): Promise<number> {
  const environment = environmentWith();
  const output = outputTo({ out: process.stdout, err: process.stderr }, environment.NO_COLOR !== undefined);
  const shell: Shell = {
    output,
    clock,
    environment,
    version,
    settings: readSettings,
    inside: (settings) => serverInside(clock, settings),
    demo: () => startDemo(clock, environment),
    demo_data: DEMO_DATA,
    run: (role, settings, demo) => run(shell, role, settings, demo),
  };
  return runProgram(shell, words);
}

const started = process.argv[1];
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  // What reads our output may stop reading: `tidemark status | head` is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await main(process.argv.slice(2));
}
