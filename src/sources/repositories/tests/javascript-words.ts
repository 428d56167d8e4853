/** The words that a file of JavaScript or TypeScript has for suites and cases, and which framework they are of. */
import type { SyntaxNode } from "@lezer/common";
import { childOf, childrenOf } from "./syntax.ts";

export type Meaning = "suite" | "case";

export interface Words {
  framework: string;
  /** What each name means here. */
  names: Map<string, { is: Meaning; status?: "skipped" | "focused" }>;
}

const frameworks: [RegExp, string][] = [
  [/^vitest$/, "vitest"],
  [/^@jest\/globals$/, "jest"],
  [/^(node:)?test$/, "node:test"],
  [/^@playwright\/test$/, "playwright"],
  [/^mocha$/, "mocha"],
  [/^bun:test$/, "bun:test"],
];

const suites = ["describe", "suite", "context"];
const cases = ["it", "test", "specify"];
const test_path = /(^|\/)(__tests__|tests?|specs?|e2e)\/|[._-](test|spec|e2e|cy)\.[cm]?[jt]sx?$/i;
const named_path = /[._-](test|spec)\.[cm]?[jt]sx?$|(^|\/)__tests__\//i;
/** Files of a test folder that hold no tests by themselves are told by having no calls that look like tests. */

/** Null where nothing says that this file has tests. */
export function wordsOf(path: string, text: string, top: SyntaxNode): Words | null {
  const names: Words["names"] = new Map();
  const said = readImports(text, top, names);
  if (said === null && !test_path.test(path)) return null;
  // Most frameworks put their words everywhere; only node:test and Playwright do not.
  if (said === null || said === "jest" || said === "mocha" || said === "vitest") addGlobals(names, top, text);
  return { framework: said ?? (named_path.test(path) ? "jest" : "mocha"), names };
}

function addGlobals(names: Words["names"], top: SyntaxNode, text: string): void {
  const own = declared(top, text);
  const add = (name: string, meaning: { is: Meaning; status?: "skipped" | "focused" }) => {
    if (!names.has(name) && !own.has(name)) names.set(name, meaning);
  };
  for (const name of suites) add(name, { is: "suite" });
  for (const name of cases) add(name, { is: "case" });
  for (const [x, status] of [
    ["x", "skipped"],
    ["f", "focused"],
  ] as const) {
    add(`${x}describe`, { is: "suite", status });
    for (const name of ["it", "test"]) add(`${x}${name}`, { is: "case", status });
  }
}

/** Functions that the file itself has at its top: one called `it` is no test. */
function declared(top: SyntaxNode, text: string): Set<string> {
  const found = new Set<string>();
  for (const node of childrenOf(top)) {
    const at = node.name === "FunctionDeclaration" ? childOf(node, "VariableDefinition") : null;
    if (at) found.add(text.slice(at.from, at.to));
  }
  return found;
}

function readImports(text: string, top: SyntaxNode, names: Words["names"]): string | null {
  let framework: string | null = null;
  const of = (node: SyntaxNode): string => text.slice(node.from, node.to);
  const add = (imported: string, local: string) => {
    if (suites.includes(imported)) names.set(local, { is: "suite" });
    else if (cases.includes(imported) || imported === "default") names.set(local, { is: "case" });
  };
  for (const node of childrenOf(top)) {
    const from = node.name === "ImportDeclaration" ? childOf(node, "String") : requiredIn(node, text);
    const known = from && frameworks.find(([pattern]) => pattern.test(of(from).slice(1, -1)))?.[1];
    if (!known) continue;
    framework = known;
    if (node.name === "ImportDeclaration") readImport(node, of, add);
    else readRequire(node, of, add);
  }
  readExtended(text, top, names);
  return framework;
}

type Add = (imported: string, local: string) => void;
type TextOf = (node: SyntaxNode) => string;

function readImport(node: SyntaxNode, of: TextOf, add: Add): void {
  for (const part of childrenOf(node)) {
    if (part.name === "VariableDefinition") add("default", of(part));
    if (part.name !== "ImportGroup") continue;
    let imported: string | null = null;
    for (const one of childrenOf(part)) {
      if (one.name === "VariableName" || one.name === "VariableDefinition") {
        if (one.name === "VariableName") imported = of(one);
        else {
          add(imported ?? of(one), of(one));
          imported = null;
        }
      }
    }
  }
}

/** `const { it: spec } = require("…")`, `const test = require("…")`. */
function readRequire(node: SyntaxNode, of: TextOf, add: Add): void {
  for (const part of childrenOf(node)) {
    if (part.name === "VariableDefinition") add("default", of(part));
    if (part.name !== "ObjectPattern") continue;
    for (const property of childrenOf(part).filter(({ name }) => name === "PatternProperty")) {
      const local = childOf(property, "VariableDefinition");
      if (local) add(of(childOf(property, "PropertyName") ?? local), of(local));
    }
  }
}

function requiredIn(node: SyntaxNode, text: string): SyntaxNode | null {
  if (node.name !== "VariableDeclaration") return null;
  const call = childOf(node, "CallExpression");
  const callee = call && childOf(call, "VariableName");
  if (!callee || text.slice(callee.from, callee.to) !== "require") return null;
  const given = childOf(call, "ArgList");
  return given && childOf(given, "String");
}

/** `const it = test.extend({…})`: the same word with more to it. */
function readExtended(text: string, top: SyntaxNode, names: Words["names"]): void {
  for (const outer of childrenOf(top)) {
    const node = outer.name === "ExportDeclaration" ? (childOf(outer, "VariableDeclaration") ?? outer) : outer;
    if (node.name !== "VariableDeclaration") continue;
    const call = childOf(node, "CallExpression");
    const local = childOf(node, "VariableDefinition");
    const extended = call && /^([\w$]+)\s*\.\s*extend\b/.exec(text.slice(call.from, call.to))?.[1];
    const meaning = extended && names.get(extended);
    if (local && meaning) names.set(text.slice(local.from, local.to), meaning);
  }
}
