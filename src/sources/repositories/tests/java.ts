/** Tests in Java: JUnit 3, 4 and 5, and TestNG. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/java";
import type { TestCase, TestFile } from "../report.ts";
import { type Annotation, frameworkOf, marksOf } from "./junit.ts";
import { childOf, childrenOf, lineFinder, shortened } from "./syntax.ts";

interface Within {
  suites: string[];
  skipped: boolean;
  many: boolean;
}

export function javaTests(path: string, text: string): TestFile | null {
  if (!/@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory)\b|\bTestCase\b/.test(text)) return null;
  const found = new Finding(text, frameworkOf(text));
  found.walk(parser.parse(text).topNode, { suites: [], skipped: false, many: false });
  if (found.cases.length === 0) return null;
  return { file: path, framework: found.framework, suites: found.suites, cases: found.cases };
}

class Finding {
  readonly cases: TestCase[] = [];
  suites = 0;
  readonly framework: string;
  readonly #text: string;
  readonly #lineOf: (at: number) => number;

  constructor(text: string, framework: string) {
    this.#text = text;
    this.framework = framework;
    this.#lineOf = lineFinder(text);
  }

  #of(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }

  walk(node: SyntaxNode, within: Within): void {
    for (const child of childrenOf(node))
      if (/^(Class|Interface|Record|Enum)Declaration$/.test(child.name)) this.#class(child, within);
  }

  #class(node: SyntaxNode, within: Within): void {
    const annotations = this.#annotationsOf(node);
    const marks = marksOf(annotations);
    const name = this.#of(childOf(node, "Definition") ?? node);
    const body = childOf(node, "ClassBody", "InterfaceBody", "EnumBody");
    if (!body) return;
    const inner: Within = {
      suites: [...within.suites, marks.display ?? name],
      skipped: within.skipped || marks.skipped,
      many: within.many || annotations.some((a) => a.name === "RunWith" && /Parameterized/.test(a.given)),
    };
    const before = this.cases.length;
    const extended = childOf(node, "Superclass");
    const junit3 = extended !== null && /\bTestCase$/.test(this.#of(extended));
    for (const child of childrenOf(body)) {
      if (child.name === "MethodDeclaration") this.#method(child, inner, { testng: marks.test, junit3 });
    }
    this.walk(body, inner);
    if (this.cases.length > before) this.suites += 1;
  }

  #method(node: SyntaxNode, within: Within, as: { testng: boolean; junit3: boolean }): void {
    const annotations = this.#annotationsOf(node);
    const marks = marksOf(annotations);
    const name_node = childOf(node, "Definition");
    if (!name_node) return;
    const name = this.#of(name_node);
    const modifiers = childOf(node, "Modifiers");
    const words = modifiers ? childrenOf(modifiers).map((one) => one.name) : [];
    const is_void = childOf(node, "void") !== null;
    // TestNG: `@Test` of a class is meant for every public method that does not configure something.
    const by_class =
      as.testng &&
      words.includes("public") &&
      is_void &&
      !annotations.some((a) => /^(Before|After|DataProvider|Factory)/.test(a.name));
    const by_name = as.junit3 && words.includes("public") && is_void && /^test/.test(name);
    if (!marks.test && !by_class && !by_name) return;
    const skipped = within.skipped || marks.skipped;
    this.cases.push({
      name: shortened(marks.display ?? name),
      line: this.#lineOf(name_node.from),
      suites: within.suites,
      status: skipped ? "skipped" : "active",
      parameterised: within.many || marks.many,
    });
  }

  #annotationsOf(node: SyntaxNode): Annotation[] {
    const modifiers = childOf(node, "Modifiers");
    const found = modifiers ? childrenOf(modifiers).filter(({ name }) => /Annotation$/.test(name)) : [];
    return found.map((one) => {
      const text = this.#of(one);
      const name = /^@\s*([\w.]+)/.exec(text)?.[1] ?? "";
      return { name: name.split(".").at(-1)!, given: text.slice(text.indexOf("(") + 1) };
    });
  }
}
