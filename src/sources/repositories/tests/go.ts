/** Tests in Go: functions that `go test` runs, the subtests within them, and the suites of testify. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/go";
import type { TestCase, TestFile } from "../report.ts";
import { childOf, childrenOf, lineFinder, shortened } from "./syntax.ts";

/** "Test" and then nothing, or something that does not begin in lower case, as `go vet` has it. */
const test_name = /^(Test|Fuzz)($|[^\p{Ll}])/u;
const example_name = /^Example($|[^\p{Ll}])/u;

interface Within {
  suites: string[];
  skipped: boolean;
  many: boolean;
  /** What the test is called by its own function: `t`. */
  tester: string;
}

export function goTests(path: string, text: string): TestFile | null {
  if (!path.endsWith("_test.go")) return null;
  const top = parser.parse(text).topNode;
  const found = new Finding(text);
  for (const node of childrenOf(top)) {
    if (node.name === "FunctionDecl") found.function(node);
    if (node.name === "MethodDecl") found.method(node);
  }
  if (found.cases.length === 0) return null;
  const framework = /"github\.com\/stretchr\/testify\/suite"/.test(text) ? "testify" : "testing";
  return { file: path, framework, suites: found.suites.size, cases: found.cases };
}

class Finding {
  readonly cases: TestCase[] = [];
  readonly suites = new Set<string>();
  readonly #text: string;
  readonly #lineOf: (at: number) => number;

  constructor(text: string) {
    this.#text = text;
    this.#lineOf = lineFinder(text);
  }

  #of(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }

  function(node: SyntaxNode): void {
    const name_node = childOf(node, "DefName");
    const body = childOf(node, "Block");
    const parameters = childOf(node, "Parameters");
    if (!name_node || !body || !parameters) return;
    const name = this.#of(name_node);
    const given = this.#of(parameters).replaceAll(/\s+/g, " ");
    const tester = /^\(\s*(\w+) \*testing\.[TF]\s*\)$/.exec(given)?.[1];
    // An example without its output is compiled and not run.
    const example =
      example_name.test(name) && /^\(\s*\)$/.test(given) && /\/\/\s*(unordered\s+)?output:/i.test(this.#of(body));
    if (!example && !(test_name.test(name) && tester !== undefined)) return;
    this.#add(name, node.from, body, { suites: [], skipped: false, many: false, tester: tester ?? "" });
  }

  /** A method of a suite of testify; which types those are is told by their receiver alone. */
  method(node: SyntaxNode): void {
    const [receiver, parameters] = childrenOf(node).filter(({ name }) => name === "Parameters");
    const name_node = childOf(node, "FieldName");
    const body = childOf(node, "Block");
    if (!receiver || !parameters || !name_node || !body || !/testify\/suite"/.test(this.#text)) return;
    const type = /\*?(\w+)\s*\)$/.exec(this.#of(receiver))?.[1];
    const name = this.#of(name_node);
    if (!type || !test_name.test(name) || !/^\(\s*\)$/.test(this.#of(parameters))) return;
    this.suites.add(type);
    const tester = /^\(\s*(\w+)/.exec(this.#of(receiver))?.[1] ?? "";
    this.#add(name, node.from, body, { suites: [type], skipped: false, many: false, tester });
  }

  #add(name: string, at: number, body: SyntaxNode, within: Within): void {
    const skipped = within.skipped || this.#skipsAtOnce(body, within.tester);
    const status = skipped ? "skipped" : "active";
    const { suites, many } = within;
    this.cases.push({ name: shortened(name), line: this.#lineOf(at), suites, status, parameterised: many });
    this.#walk(body, { ...within, suites: [...suites, name], skipped, many });
  }

  /** A statement of the test itself, not one behind a condition. */
  #skipsAtOnce(body: SyntaxNode, tester: string): boolean {
    if (tester === "") return false;
    const skip = new RegExp(`^${tester}\\.(T\\(\\)\\.)?(Skip|Skipf|SkipNow)\\(`);
    return childrenOf(body).some((one) => one.name === "ExprStatement" && skip.test(this.#of(one)));
  }

  #walk(node: SyntaxNode, within: Within): void {
    for (const child of childrenOf(node)) {
      const run = child.name === "CallExpr" ? this.#runOf(child, within.tester) : null;
      if (run) {
        for (const name of [...within.suites.slice(-1)]) this.suites.add(name);
        this.#add(run.name, child.from, run.body, { ...within, tester: run.tester });
      } else {
        this.#walk(child, child.name === "ForStatement" ? { ...within, many: true } : within);
      }
    }
  }

  /** `t.Run("name", func(t *testing.T) { … })`. */
  #runOf(call: SyntaxNode, tester: string): { name: string; body: SyntaxNode; tester: string } | null {
    const callee = call.firstChild;
    if (tester === "" || callee?.name !== "SelectorExpr" || this.#of(callee).replaceAll(/\s+/g, "") !== `${tester}.Run`)
      return null;
    const list = childOf(call, "Arguments");
    const given = list ? childrenOf(list).filter(({ name }) => !/^[(),]$/.test(name) && !name.endsWith("Comment")) : [];
    const [name, made] = given;
    const body = made?.name === "FunctionLiteral" ? childOf(made, "Block") : null;
    const parameters = made ? childOf(made, "Parameters") : null;
    if (!name || !body) return null;
    const inner = parameters ? (/^\(\s*(\w+)/.exec(this.#of(parameters))?.[1] ?? tester) : tester;
    const said = name.name === "String" ? this.#of(name).slice(1, -1) : this.#of(name);
    return { name: said, body, tester: inner };
  }
}
