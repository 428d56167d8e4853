/** Tests in Python: pytest and unittest, as their own collectors would find them. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/python";
import type { TestCase, TestFile } from "../report.ts";
import { childOf, childrenOf, lineFinder, shortened } from "./syntax.ts";

const collected = /(^|\/)(test_[^/]*|[^/]*_test|tests)\.py$/;

interface Marks {
  skipped: boolean;
  many: boolean;
}

interface Within extends Marks {
  suites: string[];
  /** What a class is: one of unittest, one that pytest looks into, or none. */
  is: "module" | "unittest" | "pytest";
}

export function pythonTests(path: string, text: string): TestFile | null {
  const mine = collected.test(path);
  if (!mine && !/\bTestCase\b/.test(text)) return null;
  const top = parser.parse(text).topNode;
  const found = new Finding(text, mine);
  const marked = found.moduleMarks(top);
  found.walk(top, { suites: [], is: "module", ...marked });
  if (found.cases.length + found.suites === 0) return null;
  const framework = found.by_pytest > 0 || /^\s*(import|from)\s+pytest\b/m.test(text) ? "pytest" : "unittest";
  return { file: path, framework, suites: found.suites, cases: found.cases };
}

class Finding {
  readonly cases: TestCase[] = [];
  suites = 0;
  by_pytest = 0;
  readonly #text: string;
  /** Whether pytest looks for functions in this file. */
  readonly #mine: boolean;
  readonly #lineOf: (at: number) => number;
  readonly #test_classes = new Set<string>();

  constructor(text: string, mine: boolean) {
    this.#text = text;
    this.#mine = mine;
    this.#lineOf = lineFinder(text);
  }

  #of(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }

  /** `pytestmark = pytest.mark.skip`, or a list with it. */
  moduleMarks(top: SyntaxNode): Marks {
    for (const node of childrenOf(top)) {
      if (node.name !== "AssignStatement" || !/^pytestmark\b/.test(this.#of(node))) continue;
      return { skipped: /\.mark\.skip\b/.test(this.#of(node)), many: /\.mark\.parametrize\b/.test(this.#of(node)) };
    }
    return { skipped: false, many: false };
  }

  walk(node: SyntaxNode, within: Within): void {
    for (const child of childrenOf(node)) {
      if (child.name === "DecoratedStatement") this.#decorated(child, within);
      else if (child.name === "FunctionDefinition") this.#function(child, within, within, child.from);
      else if (child.name === "ClassDefinition") this.#class(child, within, within);
      // What stands in an `if` or `try` is collected too; what stands in a function is not.
      else if (/^(If|Try|With)Statement$|^Body$/.test(child.name)) this.walk(child, within);
    }
  }

  #decorated(node: SyntaxNode, within: Within): void {
    const marks: Marks = { skipped: within.skipped, many: within.many };
    for (const decorator of childrenOf(node).filter(({ name }) => name === "Decorator")) {
      const text = this.#of(decorator).replaceAll(/\s+/g, "");
      if (/^@(pytest\.)?fixture\b|^@(staticmethod|property|classmethod)\b/.test(text)) return;
      if (/(\.|@)(skip|skipif|skipIf|skipUnless)\b/.test(text)) marks.skipped = true;
      if (/(\.|@)(parametrize|expand|data|parameterized)\b/.test(text)) marks.many = true;
    }
    const inner = childOf(node, "FunctionDefinition", "ClassDefinition");
    if (inner?.name === "FunctionDefinition") this.#function(inner, within, marks, inner.from);
    else if (inner) this.#class(inner, within, marks);
  }

  #function(node: SyntaxNode, within: Within, { skipped, many }: Marks, at: number): void {
    const name = this.#nameOf(node);
    const wanted = within.is === "unittest" ? /^test/ : within.is === "pytest" || this.#mine ? /^test/ : null;
    if (!wanted?.test(name)) return;
    if (within.is !== "unittest") this.by_pytest += 1;
    const status = skipped ? "skipped" : "active";
    this.cases.push({
      name: shortened(name),
      line: this.#lineOf(at),
      suites: within.suites,
      status,
      parameterised: many,
    });
  }

  #class(node: SyntaxNode, within: Within, marks: Marks): void {
    const name = this.#nameOf(node);
    const bases = this.#basesOf(node);
    const body = childOf(node, "Body");
    const unit = bases.some((one) => /TestCase$/.test(one) || this.#test_classes.has(one));
    if (unit) this.#test_classes.add(name);
    const off = body !== null && /\b__test__\s*=\s*False\b/.test(this.#of(body));
    const by_pytest = this.#mine && /^Test/.test(name) && !(body && this.#has(body, "__init__"));
    if (!body || off || !(unit || by_pytest)) return;
    const before = this.cases.length;
    this.walk(body, {
      suites: [...within.suites, name],
      is: unit ? "unittest" : "pytest",
      skipped: marks.skipped,
      many: marks.many,
    });
    if (this.cases.length > before) this.suites += 1;
  }

  #basesOf(node: SyntaxNode): string[] {
    const list = childOf(node, "ArgList");
    const given = list
      ? childrenOf(list).filter(({ name }) => name === "VariableName" || name === "MemberExpression")
      : [];
    return given.map((one) => this.#of(one).split(".").at(-1)!);
  }

  #has(body: SyntaxNode, name: string): boolean {
    return childrenOf(body).some((one) => one.name === "FunctionDefinition" && this.#nameOf(one) === name);
  }

  #nameOf(node: SyntaxNode): string {
    const name = childOf(node, "VariableName");
    return name ? this.#of(name) : "";
  }
}
