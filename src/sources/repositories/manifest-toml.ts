/** Manifests in TOML: pyproject.toml and Cargo.toml, of which only names and versions are wanted. */
import { readRequirement } from "./manifest-lines.ts";
import type { Dependency, Needs } from "./report.ts";

type Scope = Dependency["scope"];

interface Entry {
  /** The table that it stands in, as written. */
  table: string;
  key: string;
  value: string;
}

/** The keys of each table with the text of their values; an array or inline table may go over several lines. */
export function tomlEntries(text: string): Entry[] {
  const entries: Entry[] = [];
  let table = "";
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i += 1) {
    const line = withoutComment(lines[i]!).trim();
    const head = /^\[\[?\s*([^\]]+?)\s*\]?\]$/.exec(line);
    if (head) {
      table = head[1]!.replaceAll(/["'\s]/g, "");
      continue;
    }
    const pair = /^("[^"]*"|'[^']*'|[\w.-]+)\s*=\s*(.*)$/.exec(line);
    if (!pair) continue;
    let value = pair[2]!;
    while (depthOf(value) > 0 && i + 1 < lines.length) {
      i += 1;
      value += ` ${withoutComment(lines[i]!).trim()}`;
    }
    entries.push({ table, key: pair[1]!.replaceAll(/^["']|["']$/g, ""), value });
  }
  return entries;
}

const strings = /"(?:[^"\\]|\\.)*"|'[^']*'/g;

function withoutComment(line: string): string {
  const masked = line.replaceAll(strings, (text) => "x".repeat(text.length));
  const at = masked.indexOf("#");
  return at < 0 ? line : line.slice(0, at);
}

function depthOf(value: string): number {
  let depth = 0;
  for (const letter of value.replaceAll(strings, "")) {
    if (letter === "[" || letter === "{") depth += 1;
    if (letter === "]" || letter === "}") depth -= 1;
  }
  return depth;
}

const stringsIn = (value: string): string[] => (value.match(strings) ?? []).map((text) => text.slice(1, -1));

export function readPyproject(text: string): Needs {
  const entries = tomlEntries(text);
  const dependencies: Dependency[] = [];
  const listed = (value: string, scope: Scope) => {
    for (const one of stringsIn(value)) {
      const required = readRequirement(one);
      if (required) dependencies.push({ ...required, scope });
    }
  };
  for (const { table, key, value } of entries) {
    if (table === "project" && key === "dependencies") listed(value, "runtime");
    else if (table === "project.optional-dependencies") listed(value, "optional");
    else if (table === "dependency-groups") listed(value, "development");
    else if (table === "build-system" && key === "requires") listed(value, "build");
    else if (/^tool\.poetry\.(.*\.)?(dev-)?dependencies$/.test(table) && key !== "python")
      dependencies.push({
        name: key,
        version: versionIn(value),
        scope: /group|dev-/.test(table) ? "development" : "runtime",
      });
  }
  return { name: nameIn(entries, ["project", "tool.poetry"]), dependencies };
}

export function readCargo(text: string): Needs {
  const entries = tomlEntries(text);
  const dependencies: Dependency[] = [];
  for (const { table, key, value } of entries) {
    const kind = /^(?:target\..+\.|workspace\.)?((?:dev-|build-)?dependencies)(?:\.([\w-]+))?$/.exec(table);
    if (!kind) continue;
    const scope: Scope =
      kind[1] === "dev-dependencies" ? "development" : kind[1] === "build-dependencies" ? "build" : "runtime";
    if (kind[2] === undefined) dependencies.push({ name: key, version: versionIn(value), scope });
    else if (key === "version") dependencies.push({ name: kind[2], version: versionIn(value), scope });
  }
  return { name: nameIn(entries, ["package"]), dependencies };
}

/** `"1.2"`, or `{ version = "1.2", … }`. */
function versionIn(value: string): string | null {
  const inline = /version\s*=\s*("[^"]*"|'[^']*')/.exec(value)?.[1];
  const text = inline ?? /^("[^"]*"|'[^']*')/.exec(value)?.[1];
  return text?.slice(1, -1) ?? null;
}

function nameIn(entries: Entry[], tables: string[]): string | null {
  const named = entries.find(({ table, key }) => key === "name" && tables.includes(table));
  return named ? (stringsIn(named.value)[0] ?? null) : null;
}
