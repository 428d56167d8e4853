/** How fast the paths that people read answer, while nothing happens and while workers pull: on PostgreSQL, with the demo's data. */
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, get, type IncomingMessage } from "node:http";
import path from "node:path";
import { environmentWith } from "../src/config.ts";
import { fillAcme, OWNER, TOKEN } from "../src/demo/acme.ts";
import { GitHub } from "../src/demo/github/hub.ts";
import { serveGitHub } from "../src/demo/github/server.ts";
import { fillContoso, versionOf } from "../src/demo/nuget/contoso.ts";
import type { NuGetFeed } from "../src/demo/nuget/feed.ts";
import { serveNuGet } from "../src/demo/nuget/server.ts";
import { realClock } from "../src/index.ts";
import { percentile } from "./measure.ts";
import type { Options } from "./run.ts";
import { Server } from "./server.ts";
import { table } from "./table.ts";

const CLIENTS = 4;
const START_MS_MAX = 60_000;
/** Packages that are published each second while workers are kept busy. */
const PUBLISHED_PER_S = 100;

const asked: Record<string, string> = {
  status: "/api/status",
  resources: "/api/resources?source=go-modules&limit=50",
  go_index: "/go/index?limit=2000",
  go_modules: "/go/modules?limit=20",
  nuget_service_index: "/nuget/v3/index.json",
  nuget_flat_container: "/nuget/v3/flatcontainer/contoso.json/index.json",
  nuget_registration: "/nuget/v3/registration-gz-semver2/contoso.json/index.json",
  nuget_search: "/nuget/v3/search?q=json&semVerLevel=2.0.0",
  nuget_autocomplete: "/nuget/v3/autocomplete?q=con",
};

interface Figures {
  per_second: number;
  p50_ms: number | null;
  p99_ms: number | null;
}

export async function run({ quick, atEnd }: Options): Promise<object> {
  const measured_ms = quick ? 1_200 : 10_000;
  const server = await Server.start();
  atEnd(() => server.remove());
  const now_ms = () => performance.timeOrigin + performance.now();
  const hub = new GitHub();
  hub.account("bot", { token: TOKEN });
  fillAcme(hub, now_ms());
  const github = await serveGitHub(hub, now_ms);
  atEnd(() => github.close());
  const packages = fillContoso();
  const nuget = await serveNuGet(packages);
  atEnd(() => nuget.close());
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=4", "--import", "tsx", path.resolve(import.meta.dirname, "../src/main.ts"), "up"],
    {
      env: environmentWith({
        DATABASE_URL: await server.create("http"),
        GITHUB_URL: github.url,
        GITHUB_TOKENS: `github.com=${TOKEN}`,
        TIDEMARK_ALLOW_PRIVATE: "127.0.0.1",
        TIDEMARK_PORT: "0",
        TIDEMARK_LOG_LEVEL: "error",
        TIDEMARK_NUGET_EVERY: "10s",
        TIDEMARK_GO_MODULES_EVERY: "30s",
      }),
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  atEnd(async () => {
    child.kill("SIGKILL");
  });
  const url = await addressOf(child);
  await follow(url, "go-modules", `github.com/${OWNER}`);
  await follow(url, "nuget", `${nuget.url}/v3/index.json`);
  await filled(url);
  const idle = await askAll(url, measured_ms);
  const stop = new AbortController();
  const publishing = publish(packages, stop.signal);
  const busy = await askAll(url, measured_ms);
  stop.abort();
  await publishing;
  return tell(idle, busy, quick);
}

function tell(idle: Record<string, Figures>, busy: Record<string, Figures>, quick: boolean): object {
  const rows = Object.keys(asked).map((name) => {
    const [a, b] = [idle[name]!, busy[name]!];
    return [
      name,
      a.per_second,
      a.p50_ms ?? Number.NaN,
      a.p99_ms ?? Number.NaN,
      b.per_second,
      b.p50_ms ?? Number.NaN,
      b.p99_ms ?? Number.NaN,
    ];
  });
  const title = `Requests, ${CLIENTS} clients: idle, and while ${PUBLISHED_PER_S} packages a second are pulled`;
  const heads = ["", "idle/s", "p50 ms", "p99 ms", "busy/s", "p50 ms", "p99 ms"];
  process.stdout.write(table(title, heads, rows));
  const each = (of: (name: string) => number | null) =>
    Object.fromEntries(Object.keys(asked).map((name) => [name, rounded(of(name))]));
  return {
    bench: "http",
    scale: quick ? "quick" : "full",
    p99_ms: each((name) => idle[name]!.p99_ms),
    p99_ratio_busy_vs_idle: each((name) => {
      const [a, b] = [idle[name]!.p99_ms, busy[name]!.p99_ms];
      return a === null || b === null ? null : b / a;
    }),
    requests_per_s: each((name) => idle[name]!.per_second),
  };
}

const rounded = (n: number | null): number | null => (n === null ? null : Math.round(n * 100) / 100);

/** Where it listens, from what it says at its start. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr!.on("data", (text) => {
      said += String(text);
      const found = /Look: +(http:\/\/[\d.:]+)/.exec(said);
      if (found) resolve(found[1]!);
    });
    child.on("exit", () => reject(new Error(`the server did not start:\n${said}`)));
  });
}

async function follow(url: string, source: string, key: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/follow`, { method: "POST", headers, body: JSON.stringify({ source, key }) });
  if (!answer.ok) throw new Error(`${key} could not be followed: ${await answer.text()}`);
}

/** Everything was mirrored once. */
async function filled(url: string): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < START_MS_MAX; await realClock.sleep(200)) {
    const cursor = (await (await fetch(`${url}/nuget/cursor`)).json()) as { public?: string | null; pending?: number };
    const lines = (await (await fetch(`${url}/go/index`)).text()).split("\n").length;
    if (cursor.public && cursor.pending === 0 && lines > 150) return;
  }
  throw new Error("The mirror was not filled in time.");
}

async function askAll(url: string, measured_ms: number): Promise<Record<string, Figures>> {
  const figures: Record<string, Figures> = {};
  for (const [name, at] of Object.entries(asked)) figures[name] = await ask(`${url}${at}`, measured_ms);
  return figures;
}

/** A few clients, each asking again as soon as it was answered; the first tenth of the time is left out. */
async function ask(url: string, measured_ms: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const took_ms: number[] = [];
  const begun_ms = performance.now();
  const from_ms = begun_ms + measured_ms / 10;
  const until_ms = begun_ms + measured_ms;
  const client = async () => {
    for (let at = performance.now(); at < until_ms; at = performance.now()) {
      await read(url, agent);
      if (at >= from_ms) took_ms.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  const per_second = took_ms.length / ((performance.now() - from_ms) / 1000);
  return { per_second, p50_ms: percentile(took_ms, 0.5), p99_ms: percentile(took_ms, 0.99) };
}

function read(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (answer: IncomingMessage) => {
      answer.resume().on("end", () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`${url} answered ${answer.statusCode}`));
      });
    });
    request.on("error", reject);
  });
}

/** Keeps workers busy: a commit ten times a second. */
async function publish(feed: NuGetFeed, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    const events = Array.from({ length: PUBLISHED_PER_S / 10 }, (_, i) =>
      versionOf(`Busy.Package${(n * 10 + i) % 500}`, `1.${n}.0`),
    );
    feed.commit(events);
    await realClock.sleep(100, signal);
  }
}
