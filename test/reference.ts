/** The reference pages, written from the code: every setting, every metric, every path. `npm run reference` writes them. */
import path from "node:path";
import { realClock } from "../src/clock.ts";
import { describeConfig, readConfig, sourcePrefix } from "../src/config.ts";
import { Lanes } from "../src/engine/lanes.ts";
import { Events } from "../src/events.ts";
import { createApp } from "../src/server/app.ts";
import { Metrics } from "../src/server/metrics.ts";
import type { ServerParts } from "../src/server/parts.ts";
import { sources } from "../src/sources/index.ts";

const by_hand = "Written by `npm run reference` from the code; a test keeps it equal.";

/** The cells of a table in a document: a bar would end a cell. */
const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|").trim()).join(" | ")} |`;
const table = (heads: string[], rows: string[][]) => [
  row(...heads),
  row(...heads.map(() => "---")),
  ...rows.map((r) => row(...r)),
];
const code = (text: string) => `\`${text}\``;

export function settingsPage(): string {
  const own = describeConfig(readConfig({})).map(({ name, value, meaning }) => [code(name), value, meaning]);
  const of_sources = sources.flatMap(({ name, settings }) => {
    const fields = Object.entries(settings?.shape ?? {}) as [string, { description?: string }][];
    if (fields.length === 0) return [];
    const rows = fields.map(([field, { description }]) => [
      code(`${sourcePrefix(name)}${field.toUpperCase()}`),
      description ?? "",
    ]);
    return ["", `## ${name}`, "", ...table(["setting", "meaning"], rows)];
  });
  return page("Settings", [
    "Settings come from the environment and nowhere else; `tidemark config` shows each with its value and where it came from, secrets masked. A name that",
    `begins with \`TIDEMARK_\` and is not here is refused, with the nearest one that is. ${by_hand}`,
    "",
    ...table(["setting", "default", "meaning"], own),
    ...of_sources,
  ]);
}

export async function metricsPage(): Promise<string> {
  const text = await new Metrics(new Events()).render(null);
  const types = new Map([...text.matchAll(/^# TYPE (tidemark_\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]));
  const rows = [...text.matchAll(/^# HELP (tidemark_\w+) (.+)$/gm)].map(([, name, help]) => [
    code(name!),
    types.get(name!) ?? "",
    help!,
  ]);
  return page("Metrics", [
    "`/metrics` of every role, for Prometheus. Counters and histograms are of that one process; gauges are read from the database and are of the whole fleet: take",
    `them from one process, or \`max\` over all. The usual metrics of a Node process are there too (\`process_…\`, \`nodejs_…\`). ${by_hand}`,
    "",
    ...table(["metric", "type", "what"], rows),
  ]);
}

interface Described {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: object;
  responses: Record<string, { description: string }>;
}

export async function httpPage(): Promise<string> {
  const response = await describedApp().request("http://localhost/openapi.json");
  const { paths } = (await response.json()) as Described;
  const parts = Object.entries(paths).flatMap(([where, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => operationWords(method, where, operation)),
  );
  return page("HTTP", [
    "Every path, from `/openapi.json`, which has the shapes of all answers too. Bodies are JSON; 64-bit numbers are text; times are UTC with six digits. A mistake is",
    '`{"error": {"code", "sentence"}}`, with the codes of [errors.md](errors.md). In a path a key is one segment, URL-encoded. Answers from a mirror say how fresh it is in',
    `\`Tidemark-Fresh-At\`. ${by_hand}`,
    ...parts,
  ]);
}

function operationWords(method: string, where: string, operation: Operation): string[] {
  const given = (operation.parameters ?? []).map(({ name, in: place, required, description }) => [
    code(name),
    required ? `${place}, needed` : place,
    description ?? "",
  ]);
  const said = [operation.summary, operation.description].filter((words) => words !== undefined);
  return [
    "",
    `## ${method.toUpperCase()} ${where}`,
    "",
    ...said.flatMap((words) => [words, ""]),
    ...(given.length > 0 ? [...table(["parameter", "in", "meaning"], given), ""] : []),
    ...table(
      ["answer", "when"],
      Object.entries(operation.responses).map(([status, { description }]) => [status, description]),
    ),
  ];
}

/** The server with everything that it describes and nothing that it needs to answer. */
function describedApp() {
  const events = new Events();
  const parts: Partial<ServerParts> = {
    clock: realClock,
    events,
    lanes: new Lanes(sources),
    metrics: new Metrics(events),
    settings: { host: "127.0.0.1", admin_token: null, read_token: null },
    version: "",
    stopping: new AbortController().signal,
  };
  return createApp(parts as ServerParts);
}

const page = (title: string, lines: string[]) => `# ${title}\n\n${lines.join("\n")}\n`;

/** Where each page is, below the root of the repository, and what it has to say. */
export const pages: Record<string, () => string | Promise<string>> = {
  "docs/settings.md": settingsPage,
  "docs/metrics.md": metricsPage,
  "docs/http.md": httpPage,
};

export const root = path.resolve(import.meta.dirname, "..");
