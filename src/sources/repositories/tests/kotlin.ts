/** Tests in Kotlin: JUnit 4 and 5, kotlin.test and TestNG; its few words that matter here are read by hand. */
import type { TestCase, TestFile } from "../report.ts";
import { type Annotation, frameworkOf, marksOf } from "./junit.ts";
import { lineFinder, shortened } from "./syntax.ts";

interface Token {
  text: string;
  at: number;
}

export function kotlinTests(path: string, text: string): TestFile | null {
  if (!/@(\w+\.)*(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory)\b/.test(text)) return null;
  const found = findTests(tokensOf(text), lineFinder(text));
  return found.cases.length === 0 ? null : { file: path, framework: frameworkOf(text), ...found };
}

/** Names, brackets and texts, without comments; what stands in a text is one token with it. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const two = text.slice(at, at + 2);
    let end = at + 1;
    if (two === "//") end = after(text.indexOf("\n", at), text.length);
    else if (two === "/*") end = commentEnd(text, at);
    else if (text[at] === '"') end = stringEnd(text, at);
    else if (text[at] === "'") end = after(closing(text, at + 1, "'"), text.length);
    else if (text[at] === "`") end = after(text.indexOf("`", at + 1) + 1 || -1, text.length);
    else if (/[\w$]/.test(text[at]!)) while (end < text.length && /[\w$]/.test(text[end]!)) end += 1;
    const kept = text.slice(at, end);
    if (two !== "//" && two !== "/*" && kept.trim() !== "") tokens.push({ text: kept, at });
    at = end;
  }
  return tokens;
}

const after = (at: number, length: number): number => (at < 0 ? length : at);

/** Comments of Kotlin stand within comments. */
function commentEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const two = text.slice(at, at + 2);
    if (two === "/*") depth += 1;
    if (two === "*/") depth -= 1;
    if (two === "/*" || two === "*/") at += 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function closing(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote || text[at] === "\n") return at + 1;
  }
  return -1;
}

/** Where a text ends: three quotes, or one that is neither escaped nor within `${…}`. */
function stringEnd(text: string, from: number): number {
  if (text.startsWith('"""', from)) {
    const end = text.indexOf('"""', from + 3);
    return end < 0 ? text.length : end + 3;
  }
  let depth = 0;
  for (let at = from + 1; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "\\") at += 1;
    else if (letter === "$" && text[at + 1] === "{") depth += 1;
    else if (letter === "}" && depth > 0) depth -= 1;
    else if (letter === '"' && depth > 0) at = stringEnd(text, at) - 1;
    else if (letter === '"' || letter === "\n") return at + 1;
  }
  return text.length;
}

interface Level {
  /** The suite that this pair of brackets is the body of; null for any other. */
  suite: string | null;
  skipped: boolean;
  many: boolean;
}

function findTests(tokens: Token[], lineOf: (at: number) => number): { suites: number; cases: TestCase[] } {
  const cases: TestCase[] = [];
  const levels: Level[] = [{ suite: null, skipped: false, many: false }];
  const suites = new Set<number>();
  const opened: number[] = [];
  let annotations: Annotation[] = [];
  /** A class whose body has not begun yet. */
  let next: Level | null = null;
  /** Within the brackets of a class, of parameters and arguments, `val` is no declaration of its own. */
  let brackets = 0;
  for (let i = 0; i < tokens.length; i += 1) {
    const { text, at } = tokens[i]!;
    const level = levels.at(-1)!;
    if (text === "@") {
      const read = annotationAt(tokens, i);
      annotations.push(read.annotation);
      i = read.end;
    } else if ((text === "class" || text === "object" || text === "interface") && tokens[i - 1]?.text !== ":") {
      const marks = marksOf(annotations);
      const named = tokens[i + 1] && /^[\w`]/.test(tokens[i + 1]!.text) ? unquoted(tokens[i + 1]!.text) : "(unnamed)";
      const parameterised = annotations.some((a) => a.name === "RunWith" && /Parameterized/.test(a.given));
      next = {
        suite: marks.display ?? named,
        skipped: level.skipped || marks.skipped,
        many: level.many || parameterised,
      };
      annotations = [];
    } else if (text === "fun") {
      const marks = marksOf(annotations);
      const name = tokens[i + 1];
      annotations = [];
      next = null;
      if (!marks.test || !name) continue;
      for (const n of opened.filter((_, k) => levels[k + 1]!.suite !== null)) suites.add(n);
      cases.push({
        name: shortened(marks.display ?? unquoted(name.text)),
        line: lineOf(at),
        suites: levels.flatMap(({ suite }) => (suite === null ? [] : [suite])),
        status: level.skipped || marks.skipped ? "skipped" : "active",
        parameterised: level.many || marks.many,
      });
    } else if (text === "{") {
      levels.push(next ?? { ...level, suite: null });
      opened.push(i);
      next = null;
    } else if (text === "}") {
      if (levels.length > 1) levels.pop();
      opened.pop();
      annotations = [];
    } else if (text === "(" || text === ")") {
      brackets += text === "(" ? 1 : -1;
    } else if ((text === "val" || text === "var") && brackets === 0) {
      annotations = [];
      next = null;
    }
  }
  return { suites: suites.size, cases };
}

/** `@Test`, `@field:Test`, `@Test(expected = …)`: its last name and what it is given. */
function annotationAt(tokens: Token[], at: number): { annotation: Annotation; end: number } {
  let i = at + 1;
  while (tokens[i + 1] && (tokens[i + 1]!.text === "." || tokens[i + 1]!.text === ":")) i += 2;
  const name = tokens[i]?.text ?? "";
  if (tokens[i + 1]?.text !== "(") return { annotation: { name, given: "" }, end: i };
  let depth = 0;
  const given: string[] = [];
  for (i += 1; i < tokens.length; i += 1) {
    const { text } = tokens[i]!;
    if (text === "(") depth += 1;
    if (text === ")") depth -= 1;
    if (depth === 0) break;
    given.push(text);
  }
  return { annotation: { name, given: given.slice(1).join(" ") }, end: i };
}

const unquoted = (text: string): string => text.replaceAll("`", "");
