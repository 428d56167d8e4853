/** The walls of the house: each is a pure function from files to sentences about what is wrong in them. */
import path from "node:path";
import { functionsOf } from "./functions.ts";
import { importsOf } from "./imports.ts";
import { codeOf, type SourceFile, type Token, tokensOf } from "./tokens.ts";

export type { SourceFile } from "./tokens.ts";

const lines_most = 300;
const function_lines_most = 70;

const isTs = ({ path: file }: SourceFile): boolean => /\.tsx?$/.test(file);
const isSql = ({ path: file }: SourceFile): boolean => file.endsWith(".sql");

export function longFiles(files: readonly SourceFile[]): string[] {
  return files.filter(isTs).flatMap(({ path: file, text }) => {
    const lines = text.replace(/\n$/, "").split("\n").length;
    return lines > lines_most ? [`${file} has ${lines} lines, ${lines_most} at most`] : [];
  });
}

export function longFunctions(files: readonly SourceFile[]): string[] {
  return files.filter(isTs).flatMap((file) =>
    functionsOf(file)
      .filter(({ lines }) => lines > function_lines_most)
      .map(({ line, lines }) => `${file.path}:${line} is a function of ${lines} lines, ${function_lines_most} at most`),
  );
}

/** One sentence first, that says what the file is for: a comment of its own in TypeScript, the first line in SQL. */
export function missingOpenings(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const opening = isTs(file) ? tsOpening(file.text) : isSql(file) ? sqlOpening(file.text) : "Not asked for.";
    if (opening === null) return [`${file.path} does not open with a comment that says what it is for`];
    return /^\S.*[.]$/s.test(opening) && !/[.!?]\s+[A-Z]/.test(opening)
      ? []
      : [`${file.path} opens with something else than one sentence: ${opening}`];
  });
}

function tsOpening(text: string): string | null {
  const comment = /^(?:#![^\n]*\n)?\/\*\*([\s\S]*?)\*\//.exec(text)?.[1];
  return comment?.replace(/^\s*\* ?/gm, "").trim() ?? null;
}

function sqlOpening(text: string): string | null {
  return /^-- (.*)/.exec(text)?.[1]?.trim() ?? null;
}

/** Names that say nothing, as a whole (`util.ts`, a folder `core`) or as the last word (`lease-manager.ts`). */
const empty_names = /(^|[-_.])(utils?|common|helpers?|managers?|services?|handlers?|base|core)$/;

export function emptyNames(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path: file }) => {
    const names = file.split("/").map((part) => part.replace(/(\.test)?\.[a-z]+$/, ""));
    const empty = names.find((name) => empty_names.test(name));
    return empty ? [`${file} is named "${empty}", which says nothing about what is in it`] : [];
  });
}

/** Words in a row, as the compiler sees them: strings and comments do not count. */
function phrases(file: SourceFile, phrase: readonly string[]): Token[] {
  const tokens = codeOf(file);
  return tokens.filter((_, at) =>
    phrase.every((text, i) => {
      const token = tokens[at + i];
      return token?.text === text && (token.kind === "word" || token.kind === "mark");
    }),
  );
}

const timers: readonly (readonly string[])[] = [
  ["Date", ".", "now"],
  ["new", "Date", "(", ")"],
  ["setTimeout"],
  ["setInterval"],
  ["setImmediate"],
  ["AbortSignal", ".", "timeout"],
];

/** Real time outside of the clock; `allowed` says for each other file why it may. */
export function realTime(files: readonly SourceFile[], allowed: Readonly<Record<string, string>>): string[] {
  const walled = files.filter((file) => isTs(file) && file.path !== "src/clock.ts" && !(file.path in allowed));
  return walled.flatMap((file) => [
    ...timers.flatMap((timer) =>
      phrases(file, timer).map(({ line }) => `${file.path}:${line} uses ${timer.join("")} instead of the clock`),
    ),
    ...importsOf(file)
      .filter(({ specifier }) => /^(node:)?timers(\/|$)/.test(specifier))
      .map(({ line, specifier }) => `${file.path}:${line} imports ${specifier} instead of using the clock`),
  ]);
}

/** The environment outside of the settings; `allowed` says for each other file why it may. */
export function environmentReads(files: readonly SourceFile[], allowed: Readonly<Record<string, string>>): string[] {
  const walled = files.filter((file) => isTs(file) && file.path !== "src/config.ts" && !(file.path in allowed));
  return walled.flatMap((file) => {
    const reads = [...phrases(file, ["process", ".", "env"]), ...phrases(file, ["import", ".", "meta", ".", "env"])];
    const imports = importsOf(file).filter(({ specifier }) => /^(node:)?process$/.test(specifier));
    return [...reads, ...imports].map(({ line }) => `${file.path}:${line} reads the environment itself`);
  });
}

/** Columns are named, so that a new one changes nobody's answer. */
export function starSelects(files: readonly SourceFile[]): string[] {
  const star = /\b(select|returning)\s+(distinct\s+)?(\w+\.)?\*/i;
  return files.flatMap((file) => {
    const texts = isSql(file)
      ? [{ text: file.text.replace(/--[^\n]*/g, ""), line: 1 }]
      : isTs(file)
        ? codeOf(file).filter(({ kind }) => kind === "string" || kind === "template")
        : [];
    return texts
      .filter(({ text }) => star.test(text))
      .map(({ text, line }) => `${file.path}:${lineOf(text, star, line)} selects * instead of naming columns`);
  });
}

function lineOf(text: string, pattern: RegExp, first_line: number): number {
  return first_line + text.slice(0, text.search(pattern)).split("\n").length - 1;
}

/** Work left for later is done, or written down where work is planned; not in the code. */
export function leftForLater(files: readonly SourceFile[]): string[] {
  // The brackets keep this line from catching itself.
  const mark = /\b(TO[D]O|FIX[M]E|X[X]X)\b/;
  return files
    .filter(({ text }) => mark.test(text))
    .map(({ path: file, text }) => `${file}:${lineOf(text, mark, 1)} leaves something for later`);
}

export function anyTypes(files: readonly SourceFile[]): string[] {
  const before = new Set([":", "as", "<", "|", "&", ",", "=", "extends", "satisfies"]);
  const after = new Set([";", ")", ",", ">", "=", "[", "|", "&", "{", "}", "=>"]);
  return files.filter(isTs).flatMap((file) => {
    const tokens = codeOf(file);
    return tokens
      .filter(({ kind, text }, at) => {
        if (kind !== "word" || text !== "any" || !before.has(tokens[at - 1]?.text ?? "")) return false;
        const next = tokens[at + 1];
        return next === undefined || after.has(next.text) || next.line > tokens[at]!.line;
      })
      .map(({ line }) => `${file.path}:${line} has the type any`);
  });
}

/** Tests that do not run, or that keep others from running. */
export function sleepingTests(files: readonly SourceFile[]): string[] {
  const roots = new Set(["it", "test", "describe", "suite", "bench"]);
  return files.filter(isTs).flatMap((file) => {
    const tokens = codeOf(file);
    return tokens
      .filter(({ kind, text }, at) => {
        if (kind !== "word" || !/^(skip|only|todo|fails)$/.test(text)) return false;
        let root = at;
        while (tokens[root - 1]?.text === "." && root >= 2) root -= 2;
        return root !== at && roots.has(tokens[root]!.text);
      })
      .map(({ line, text }) => `${file.path}:${line} has a test marked ${text}`);
  });
}

/** Lint rules switched off without a reason beside. */
export function silencedRules(files: readonly SourceFile[]): string[] {
  return files.filter(isTs).flatMap((file) =>
    tokensOf(file)
      .filter(
        ({ kind, text }) => kind === "comment" && /@ts-(ignore|nocheck)|biome-ignore[^:]*(:\s*(\*\/)?$|$)/.test(text),
      )
      .map(({ line }) => `${file.path}:${line} silences a rule without saying why`),
  );
}

/** A lock file that names where packages come from works only there. */
export function lockedHosts(files: readonly SourceFile[]): string[] {
  const host = /"resolved"\s*:|https?:\/\/(registry|npm)[.-]/;
  return files
    .filter(({ path: file }) => path.posix.basename(file) === "package-lock.json" || file.endsWith(".npmrc"))
    .filter(({ text }) => host.test(text))
    .map(({ path: file, text }) => `${file}:${lineOf(text, host, 1)} says where a package is downloaded from`);
}
