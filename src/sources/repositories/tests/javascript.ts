/** Tests in JavaScript and TypeScript: jest, vitest, mocha, node:test and Playwright. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/javascript";
import type { TestCase, TestFile } from "../report.ts";
import { type Meaning, type Words, wordsOf } from "./javascript-words.ts";
import { childOf, childrenOf, lineFinder, shortened } from "./syntax.ts";

const typed = parser.configure({ dialect: "ts" });
const with_tags = parser.configure({ dialect: "ts jsx" });
const plain = parser.configure({ dialect: "jsx" });

type Status = TestCase["status"];
/** What the words after the first one say of a test; null for those that make no test of it. */
const modifiers: Record<string, { status?: Status; many?: boolean; suite?: boolean } | null> = {
  skip: { status: "skipped" },
  fixme: { status: "skipped" },
  only: { status: "focused" },
  todo: { status: "todo" },
  each: { many: true },
  for: { many: true },
  ...Object.fromEntries(
    [
      "concurrent",
      "sequential",
      "parallel",
      "serial",
      "shuffle",
      "fails",
      "fail",
      "failing",
      "skipIf",
      "runIf",
      "slow",
    ].map((w) => [w, {}]),
  ),
  describe: { suite: true },
};

interface Within {
  suites: string[];
  status: Status;
  many: boolean;
  /** Names of the contexts that tests within tests are made with. */
  contexts: readonly string[];
}

export function javascriptTests(path: string, text: string): TestFile | null {
  const language = /\.[cm]?ts$/i.test(path) ? typed : /\.tsx$/i.test(path) ? with_tags : plain;
  const top = language.parse(text).topNode;
  const words = wordsOf(path, text, top);
  if (!words) return null;
  const found = new Finding(text, words);
  found.walk(top, { suites: [], status: "active", many: false, contexts: [] });
  if (found.cases.length + found.suites === 0) return null;
  return { file: path, framework: words.framework, suites: found.suites, cases: found.cases };
}

class Finding {
  readonly cases: TestCase[] = [];
  suites = 0;
  readonly #text: string;
  readonly #words: Words;
  readonly #lineOf: (at: number) => number;

  constructor(text: string, words: Words) {
    this.#text = text;
    this.#words = words;
    this.#lineOf = lineFinder(text);
  }

  walk(node: SyntaxNode, within: Within): void {
    if (node.name === "CallExpression") {
      const test = this.#testOf(node, within);
      if (test) {
        this.#add(node, test, within);
        return;
      }
    }
    const inner = this.#repeats(node) ? { ...within, many: true } : within;
    for (const child of childrenOf(node)) this.walk(child, inner);
  }

  /** Whether what is within it is run more than once: loops, and functions given to forEach and map. */
  #repeats(node: SyntaxNode): boolean {
    if (/^(For|While|Do)Statement$/.test(node.name)) return true;
    if (node.name !== "CallExpression") return false;
    const callee = node.firstChild;
    const last = callee?.name === "MemberExpression" ? callee.lastChild : null;
    return last !== null && /^(forEach|map|flatMap)$/.test(this.#of(last));
  }

  #of(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }

  /** What a call makes: a suite, a case, or nothing of the kind. */
  #testOf(call: SyntaxNode, within: Within): { is: Meaning; status: Status; many: boolean } | null {
    const chain = this.#chainOf(call.firstChild);
    if (!chain) return null;
    const [first, ...rest] = chain;
    const known = this.#words.names.get(first!);
    // `t.test("…")` within a test of node:test.
    const nested = !known && within.contexts.includes(first!) && /^(test|it|describe|suite)$/.test(rest[0] ?? "");
    if (!known && !nested) return null;
    const said = nested ? rest.slice(1) : rest;
    let is: Meaning = known?.is ?? (/^(describe|suite)$/.test(rest[0]!) ? "suite" : "case");
    let status: Status = known?.status ?? "active";
    let many = false;
    for (const word of said) {
      const modifier = modifiers[word];
      if (!modifier) return null;
      if (modifier.suite) is = "suite";
      status = modifier.status ?? status;
      many ||= modifier.many ?? false;
    }
    return this.#isNamed(call) ? { is, status, many } : null;
  }

  /** `it`, `it.only`, `it.each(…)`: the words in order; null for what is not made of names. */
  #chainOf(callee: SyntaxNode | null): string[] | null {
    if (!callee) return null;
    if (callee.name === "VariableName") return [this.#of(callee)];
    if (callee.name === "MemberExpression") {
      const before = this.#chainOf(callee.firstChild);
      const last = callee.lastChild;
      return before && last?.name === "PropertyName" ? [...before, this.#of(last)] : null;
    }
    // `it.each(table)("…")`, `it.each`table`("…")`: what is called is what such a call gives.
    if (callee.name !== "CallExpression" && callee.name !== "TaggedTemplateExpression") return null;
    const chain = this.#chainOf(callee.firstChild);
    return chain && /^(each|for|skipIf|runIf)$/.test(chain.at(-1)!) ? chain : null;
  }

  #argumentsOf(call: SyntaxNode): SyntaxNode[] {
    const list = childOf(call, "ArgList");
    return list ? childrenOf(list).filter(({ name }) => !/^[(),]$/.test(name) && !name.endsWith("Comment")) : [];
  }

  /** A name first; `test.skip(condition, "why")` within a test has none, `describe(Thing, …)` has one that is no text. */
  #isNamed(call: SyntaxNode): boolean {
    const [first, ...rest] = this.#argumentsOf(call);
    if (!first) return false;
    if (isFunction(first)) return true;
    if (["String", "TemplateString"].includes(first.name)) return true;
    return rest.some(isFunction);
  }

  #add(call: SyntaxNode, test: { is: Meaning; status: Status; many: boolean }, within: Within): void {
    const [first, ...rest] = this.#argumentsOf(call);
    const body = [first!, ...rest].findLast(isFunction);
    const status =
      within.status === "skipped" ? "skipped" : (this.#optionStatus(rest) ?? pendingOr(test, body, this.#words));
    const name = isFunction(first!) ? "(unnamed)" : this.#nameOf(first!);
    const inner: Within = { ...within, status: status === "skipped" ? "skipped" : "active" };
    if (test.is === "suite") {
      this.suites += 1;
      inner.suites = [...within.suites, name];
      inner.many = within.many || test.many;
    } else {
      const many = within.many || test.many;
      this.cases.push({ name, line: this.#lineOf(call.from), suites: within.suites, status, parameterised: many });
      inner.suites = [...within.suites, name];
    }
    if (body) this.walk(body, { ...inner, contexts: [...within.contexts, ...this.#contextOf(body)] });
  }

  /** `{ skip: true }`, `{ todo: "…" }` of node:test and vitest. */
  #optionStatus(rest: SyntaxNode[]): Status | null {
    const options = rest.find(({ name }) => name === "ObjectExpression");
    for (const property of options ? childrenOf(options).filter(({ name }) => name === "Property") : []) {
      const [key, , value] = childrenOf(property);
      if (!key || !value || this.#of(value) === "false") continue;
      const said = this.#of(key);
      if (said === "skip") return "skipped";
      if (said === "todo") return "todo";
      if (said === "only") return "focused";
    }
    return null;
  }

  #contextOf(body: SyntaxNode): string[] {
    const parameters = childOf(body, "ParamList");
    const first = parameters && childOf(parameters, "VariableDefinition");
    return first ? [this.#of(first)] : [];
  }

  #nameOf(node: SyntaxNode): string {
    const text = this.#of(node);
    if (node.name === "TemplateString") return shortened(text.slice(1, -1));
    if (node.name !== "String") return shortened(text);
    return shortened(unescaped(text.slice(1, -1)));
  }
}

const isFunction = ({ name }: SyntaxNode): boolean => name === "ArrowFunction" || name === "FunctionExpression";

/** Without a body it is a note of what is to be written; mocha calls that pending. */
function pendingOr(test: { is: Meaning; status: Status }, body: SyntaxNode | undefined, words: Words): Status {
  if (test.is === "suite" || body || test.status !== "active") return test.status;
  return words.framework === "mocha" || words.framework === "vitest" || words.framework === "jest" ? "todo" : "active";
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[\s\S])/gi, (_, said: string) => {
    const code = /^[ux]\{?([0-9a-f]+)/i.exec(said)?.[1];
    if (code && said.length > 1) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
    return ({ n: "\n", t: "\t", r: "\r" } as Record<string, string>)[said] ?? said;
  });
